package printable

import (
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

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
