// Package printable makes foreign text harmless for display.
//
// Titles, URLs, labels, names in certificates and error texts come from strangers. In a terminal,
// log or report they could control the terminal, hide, or forge one of our lines.
//
// In: foreign words, or a whole output with such words. Out: the same with a blank, in JSON an
// escape, for each harmful character.
//
// This is the only such filter in the tree. Words within a line go through Line, Cut or Fprintf.
// Text and JSON are the last barrier around a whole output; they must let line ends pass.
//
// Start with Fprintf. Files: word.go the rule; print.go Fprintf; writer.go whole outputs; count.go
// numbers with nouns; nearest.go suggestions for unknown words.
package printable
