package main

import (
	"io"
	"os"

	"golang.org/x/term"

	"fossick/internal/printable"
	"fossick/internal/process"
	"fossick/internal/terminal"
)

// newScreen makes stderr a screen: live on a terminal, else of plain lines.
func newScreen(stderr io.Writer, quiet bool) *terminal.Screen {
	opt := terminal.Options{Quiet: quiet, Terminal: isLive(stderr), Colour: coloured(stderr)}
	if f, ok := stderr.(*os.File); ok {
		opt.Columns = func() int {
			columns, _, err := term.GetSize(int(f.Fd()))
			if err != nil {
				return 0
			}
			return columns
		}
	}
	return terminal.New(stderr, opt)
}

// isLive says whether a line of w can be written over.
func isLive(w io.Writer) bool {
	if o, ok := w.(*process.Outlet); ok {
		w = o.W
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}

// coloured says whether w shows colours and its user wants them (no-color.org).
func coloured(w io.Writer) bool { return isLive(w) && os.Getenv("NO_COLOR") == "" }

// task shows that something goes on until its End.
func (a *app) task(what, unit string) *terminal.Task {
	return a.screen.Begin(printable.Cut(what, 60), unit)
}

// step is task for what has no count: it returns the end.
func (a *app) step(what string) (end func()) { return a.task(what, "").End }

// stepsOf has a task show what goes on.
func stepsOf(t *terminal.Task) func(what string) {
	return func(what string) { t.Step(what, 0) }
}
