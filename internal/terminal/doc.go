// Package terminal shows the progress of work to a person.
//
// In: tasks with counts, or the parts of a line. Out: one live line at the bottom of the terminal,
// fitted to its width, with all other text above it. Without a terminal it prints a plain line now
// and then.
//
// A Screen owns the live line, so all other output must go through it; it is an io.Writer. Words on
// the line are filtered by package printable; text written above it must be filtered before.
// Nothing here reads the environment or flags: the caller describes the terminal.
//
// Start with New, then Screen.Begin and Task.End.
//
// Files: screen.go the live line and text above it; task.go tasks; fit.go fitting parts into a
// line; left.go the remaining time; style.go colours; log.go log records as sentences.
package terminal
