package terminal

import "fossick/internal/printable"

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

// Paint returns text, which is one line, in a style where colour says that it is to be
// shown. What in the text itself could drive the terminal becomes blanks.
func Paint(text string, style Style, colour bool) string {
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
