package printable

import (
	"fmt"
	"io"
)

// Fprintf is fmt.Fprintf with arguments filtered by Line: only format starts lines and columns.
func Fprintf(w io.Writer, format string, args ...any) (n int, err error) {
	inLine(args) // in place, so that vet still checks args against format
	return fmt.Fprintf(w, counts(format, args), args...)
}

// Fprintln prints words separated by blanks, and ends the line.
func Fprintln(w io.Writer, args ...any) (n int, err error) {
	inLine(args)
	return fmt.Fprintln(w, args...)
}

func inLine(args []any) {
	for i, arg := range args {
		switch arg.(type) {
		case nil, bool, int, int64, uint64, float64: // cannot hold harmful characters
		default:
			args[i] = word{arg}
		}
	}
}

// word is a value that prints as by Line.
type word struct{ value any }

func (w word) Format(f fmt.State, verb rune) {
	io.WriteString(f, Line(fmt.Sprintf(fmt.FormatString(f, verb), w.value))) // fmt ignores errors too
}
