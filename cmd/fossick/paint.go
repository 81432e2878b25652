package main

import (
	"io"

	"fossick/internal/printable"
	"fossick/internal/terminal"
)

// painted is a terminal that shows colours, to which text of a verb goes.
type painted struct {
	*printable.Writer
	to io.Writer // past the filter, for the colours
}

// paint writes words, in a style where w shows colours.
func paint(w io.Writer, words string, style terminal.Style) {
	words = printable.Line(words)
	o, ok := w.(*painted)
	if !ok || style == terminal.Plain {
		io.WriteString(w, words) // its error shows at the next write, as of all of emit's text
		return
	}
	io.WriteString(o.to, terminal.Begin(style))
	io.WriteString(o, words)
	io.WriteString(o.to, terminal.Reset)
}
