package terminal

import (
	"io"

	"fossick/internal/printable"
)

// Style is how text looks.
type Style string

// The styles: the parameter of the terminal's SGR sequence.
const (
	Plain  Style = ""
	Bold   Style = "1"
	Faint  Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
)

// paint returns text, which is one line, in a style where colour says that it is to be
// shown. What in the text itself could drive the terminal becomes blanks.
func paint(text string, style Style, colour bool) string {
	text = printable.Line(text)
	if !colour || style == Plain || text == "" {
		return text
	}
	return Begin(style) + text + Reset
}

// Begin is what a terminal is told before text in a style; Reset ends it.
func Begin(style Style) string { return "\x1b[" + string(style) + "m" }

// Reset ends a style.
const Reset = "\x1b[0m"

// coloured is a terminal that shows colours.
type coloured struct {
	*printable.Writer
	to io.Writer // past the filter, for the colours
}

// Coloured makes a writer of text that Fprint gives colours. text is the filter on what is
// written to the terminal to.
func Coloured(text *printable.Writer, to io.Writer) io.Writer { return &coloured{text, to} }

// Fprint writes words, in a style where w is of Coloured.
func Fprint(w io.Writer, words string, style Style) {
	words = printable.Line(words)
	o, ok := w.(*coloured)
	if !ok || style == Plain {
		io.WriteString(w, words) // its error shows at the next write
		return
	}
	io.WriteString(o.to, Begin(style))
	io.WriteString(o, words)
	io.WriteString(o.to, Reset)
}
