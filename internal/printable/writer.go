package printable

import (
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// A Writer lets only harmless characters through, tabs and ends of lines. Bytes that
// are no UTF-8 become U+FFFD. Of use for one goroutine.
type Writer struct {
	w      io.Writer
	escape func(out []byte, r rune) []byte
	tail   []byte // a character's first bytes, whose rest is to come
}

// Text is a Writer for text and HTML: others become blanks.
func Text(w io.Writer) *Writer {
	return &Writer{w: w, escape: func(out []byte, _ rune) []byte { return append(out, ' ') }}
}

// JSON is a Writer for JSON, where such characters stand in strings only: it escapes
// them, so the values stay what they are.
func JSON(w io.Writer) *Writer { return &Writer{w: w, escape: escaped} }

func escaped(out []byte, r rune) []byte {
	if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
		return fmt.Appendf(out, `\u%04x\u%04x`, high, low)
	}
	return fmt.Appendf(out, `\u%04x`, r)
}

// Write implements io.Writer; it reports p as written when all of its text is.
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
