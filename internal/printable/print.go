package printable

import (
	"fmt"
	"io"
)

// Fprintf is fmt.Fprintf whose arguments are words: each is printed as Line has it. Only
// format begins new lines and columns.
func Fprintf(w io.Writer, format string, args ...any) (n int, err error) {
	inLine(args) // in place: they are this call's own, and vet still checks them with format
	return fmt.Fprintf(w, counts(format, args), args...)
}

// Fprintln prints words with blanks between them, and ends the line.
func Fprintln(w io.Writer, args ...any) (n int, err error) {
	inLine(args)
	return fmt.Fprintln(w, args...)
}

func inLine(args []any) {
	for i, arg := range args {
		switch arg.(type) {
		case nil, bool, int, int64, uint64, float64: // nothing to hide behind
		default:
			args[i] = word{arg}
		}
	}
}

// word is a value that is printed as Line has it, whatever prints it.
type word struct{ value any }

// Format implements fmt.Formatter.
func (w word) Format(f fmt.State, verb rune) {
	io.WriteString(f, Line(fmt.Sprintf(fmt.FormatString(f, verb), w.value))) // fmt reports no errors either
}
