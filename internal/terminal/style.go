package terminal

import (
	"io"

	"fossick/internal/cli"
)

type Style string

// Styles: parameters of the terminal's SGR sequence.
const (
	Plain  Style = ""
	Bold   Style = "1"
	Faint  Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
)

// paint returns a line of filtered text, in a style if colour.
func paint(text string, style Style, colour bool) string {
	text = cli.Line(text)
	if !colour || style == Plain || text == "" {
		return text
	}
	return Begin(style) + text + Reset
}

// Begin returns the sequence that starts a style; Reset ends it.
func Begin(style Style) string { return "\x1b[" + string(style) + "m" }

const Reset = "\x1b[0m"

type coloured struct {
	*cli.Writer
	to io.Writer // bypasses the filter, for the colour sequences
}

// Coloured returns a writer for Fprint's colours; text filters what is written to the terminal.
func Coloured(text *cli.Writer, to io.Writer) io.Writer { return &coloured{text, to} }

// Fprint writes words, in a style if w is from Coloured.
func Fprint(w io.Writer, words string, style Style) {
	words = cli.Line(words)
	o, ok := w.(*coloured)
	if !ok || style == Plain {
		io.WriteString(w, words) // the next write returns its error
		return
	}
	io.WriteString(o.to, Begin(style))
	io.WriteString(o, words)
	io.WriteString(o.to, Reset)
}
