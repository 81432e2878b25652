package cli

import (
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
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

// Harmless reports whether a character from a stranger may be printed. Excluded are control
// characters (C0, DEL, C1), line and paragraph separators (U+2028, U+2029), and format characters,
// which hide or reverse text.
//
// Some format characters belong to running text and are allowed: the soft hyphen, the joiners of
// Persian, Indic scripts and emoji, the signs before Arabic numbers.
func Harmless(r rune) bool {
	switch {
	case r >= ' ' && r < 0x7f:
		return true
	case r < 0xa0: // C0, DEL, C1
		return false
	case r == 0xad || r == 0x200c || r == 0x200d:
		return true
	}
	return !unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) || unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// Line returns s with a blank for each character that is not harmless, line ends and tabs included.
// Bytes that are not UTF-8 become U+FFFD.
func Line(s string) string {
	return strings.Map(func(r rune) rune {
		if Harmless(r) {
			return r
		}
		return ' '
	}, s)
}

// Cut is Line truncated to n characters, with … at the end if truncated.
func Cut(s string, n int) string {
	if n < 1 {
		return ""
	}
	seen := 0
	for at := range s {
		if seen++; seen > n {
			kept := []rune(Line(s[:at]))
			return string(kept[:n-1]) + "…"
		}
	}
	return Line(s)
}

// A Writer passes only harmless characters, tabs and line ends. Bytes that are not UTF-8 become
// U+FFFD. Only one goroutine may use it.
type Writer struct {
	w      io.Writer
	escape func(out []byte, r rune) []byte
	tail   []byte // first bytes of an incomplete character
}

// Text returns a Writer for text and HTML, which replaces harmful characters by blanks.
func Text(w io.Writer) *Writer {
	return &Writer{w: w, escape: func(out []byte, _ rune) []byte { return append(out, ' ') }}
}

// JSON returns a Writer for JSON, which escapes harmful characters; values stay equal.
func JSON(w io.Writer) *Writer { return &Writer{w: w, escape: escaped} }

func escaped(out []byte, r rune) []byte {
	if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
		return fmt.Appendf(out, `\u%04x\u%04x`, high, low)
	}
	return fmt.Appendf(out, `\u%04x`, r)
}

// Write implements io.Writer; it reports all of p as written if its output is.
func (o *Writer) Write(p []byte) (int, error) {
	in := append(o.tail, p...)
	out := make([]byte, 0, len(in))
	for len(in) > 0 && utf8.FullRune(in) {
		r, n := utf8.DecodeRune(in)
		if Harmless(r) || r == '\n' || r == '\t' {
			out = utf8.AppendRune(out, r)
		} else {
			out = o.escape(out, r)
		}
		in = in[n:]
	}
	o.tail = append([]byte(nil), in...)
	if _, err := o.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

var (
	verb = regexp.MustCompile(`%(?:%|[-+# 0]*(?:\d+)?(?:\.\d+)?[a-zA-Z])`)
	// counted is what follows the verb of a count, with or without an adjective.
	counted = regexp.MustCompile(`^ (?:[a-z]+ )??(agent|block|byte|candidate|class|communitie|crawl|domain|edge|error|file|host|iteration|label|link|look|node|page|partie|record|request|round|row|seed|set|site|sitemap|store|topic|URL|visit|word)(?:e?s)\b`)
)

// Sprintf is fmt.Sprintf with words as in Fprintf, and with readable counts: for "%d pages", 1
// gives "1 page" and 11618097 gives "11,618,097 pages".
func Sprintf(format string, args ...any) string {
	inLine(args)
	return fmt.Sprintf(counts(format, args), args...)
}

// counts adapts verb and noun of each count in format, and turns those numbers into text.
func counts(format string, args []any) string {
	var b strings.Builder
	arg := 0
	for format != "" {
		at := verb.FindStringIndex(format)
		if at == nil {
			break
		}
		v, rest := format[at[0]:at[1]], format[at[1]:]
		b.WriteString(format[:at[0]])
		format = rest
		if v == "%%" || arg >= len(args) {
			b.WriteString(v)
			continue
		}
		noun := counted.FindStringSubmatchIndex(rest)
		n, isCount := number(args[arg])
		if v != "%d" || noun == nil || !isCount {
			b.WriteString(v)
			arg++
			continue
		}
		b.WriteString("%s")
		args[arg] = humanize.Comma(n)
		arg++
		if n == 1 {
			one := strings.Replace(rest[noun[2]:noun[3]]+".", "ie.", "y.", 1)
			b.WriteString(rest[:noun[2]] + strings.TrimSuffix(one, "."))
			format = rest[noun[1]:]
		}
	}
	return b.String() + format
}

func number(arg any) (n int64, ok bool) {
	switch v := reflect.ValueOf(arg); {
	case v.CanInt():
		return v.Int(), true
	case v.CanUint():
		return int64(v.Uint()), true
	}
	return 0, false
}
