// Package cli is what a program on a terminal needs besides its grammar: harmless output, errors
// that advise, progress, and values as people write them.
//
// Titles, URLs, labels, names in certificates and error texts come from strangers. In a terminal,
// log or report they could control the terminal, hide, or forge one of our lines. The only filter
// in the tree is here: words within a line go through Fprintf, Line or Cut; Text and JSON are the
// last barrier around a whole output, and must let line ends pass.
//
// A Screen shows tasks in one live line at the bottom of the terminal, with all other text above
// it; without a terminal it prints a plain line now and then. All output must go through it. It
// reads neither environment nor flags: its caller describes the terminal.
//
// Files: print.go harmless text and counts; usage.go mistakes and suggestions; screen.go the live
// line; task.go tasks and the time left; log.go log records as sentences; values.go numbers and
// times.
package cli
