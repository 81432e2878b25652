package main

import (
	"fmt"
	"io"
	"unicode/utf8"

	"fossick/internal/terminal"
)

// A printable lets nothing through that could drive a terminal: titles, URLs, labels
// and file names come from strangers. Control characters but tab and end of line,
// and signs that turn the direction of writing, become blanks, or what escape says;
// bytes that are no UTF-8 become U+FFFD. Of use for one goroutine.
type printable struct {
	w      io.Writer
	escape func(r rune) string
	tail   []byte // a character's first bytes, whose rest is to come
	colour bool   // w shows colours
}

// plainly is a printable for text.
func plainly(w io.Writer) *printable {
	return &printable{w: w, escape: func(rune) string { return " " }}
}

// inJSON is a printable for JSON, where such characters stand in strings only.
func inJSON(w io.Writer) *printable {
	return &printable{w: w, escape: func(r rune) string { return fmt.Sprintf(`\u%04x`, r) }}
}

// paint writes text, in a style where w is a printable that shows colours.
func paint(w io.Writer, text string, style terminal.Style) {
	o, ok := w.(*printable)
	if !ok || !o.colour || style == terminal.Plain {
		io.WriteString(w, text) // its error shows at the next write, as of all of emit's text
		return
	}
	io.WriteString(o.w, terminal.Begin(style))
	io.WriteString(o, text)
	io.WriteString(o.w, terminal.Reset)
}

// Write implements io.Writer; it reports p as written when all of its text is.
func (o *printable) Write(p []byte) (int, error) {
	in := append(o.tail, p...)
	out := make([]byte, 0, len(in))
	for len(in) > 0 && utf8.FullRune(in) {
		r, n := utf8.DecodeRune(in)
		if drives(r) {
			out = append(out, o.escape(r)...)
		} else {
			out = utf8.AppendRune(out, r)
		}
		in = in[n:]
	}
	o.tail = append([]byte(nil), in...)
	if _, err := o.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// drives says whether a terminal may take r for more than a sign to show.
func drives(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < ' ', r >= 0x7f && r < 0xa0: // C0, DEL, C1
		return true
	}
	return r == 0x061c || r == 0x200e || r == 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 // direction
}
