// Package terminal shows a person how far a piece of work is.
//
// In: what is being done, as tasks with counts or as the parts of a line. Out:
// one line of the terminal that is written over, as wide as the terminal
// allows, with all other text above it. Where there is no terminal it is a
// plain line, rarely.
//
// A Screen owns that line, so everything that a program tells while it works goes
// through it: it is an io.Writer. The words of its line pass package printable; what
// is written above it has passed that before. Nothing here reads the environment or a flag: who
// makes the Screen says what the terminal can do.
//
// Start with New, then Screen.Begin and Task.End.
//
// Files: screen.go the line and what goes above it; task.go a task that takes a
// while. fit.go parts of a line, the least important dropped first; left.go the
// time that is left, steadily; style.go colours. log.go records of a log as
// sentences.
package terminal
