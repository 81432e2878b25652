// Package printable makes words from outside harmless where people read them.
//
// Titles, URLs, labels, names in certificates and error texts come from strangers. In a
// terminal, a log or a report they could drive the terminal, hide, or begin a line that
// looks like one of ours.
//
// In: such words, or a whole output with its words in it. Out: the same with a blank for
// each character that does such a thing; in JSON, with its escape.
//
// This is the only filter of the tree. What stands within a line goes through Line, Cut
// or Fprintf. Text and JSON are the last barrier, around a whole output: they know no
// words, so ends of lines pass them.
//
// Start with Fprintf. Files: word.go what is harmless; print.go Fprintf; writer.go
// whole outputs.
package printable
