package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"

	"fossick/crawler/control"
	"fossick/internal/printable"
	"fossick/internal/process"
	"fossick/internal/terminal"
	"fossick/store"
)

// app is what every verb is given: where to print, how much, and the context
// that a signal ends.
type app struct {
	ctx            context.Context
	stdout, stderr io.Writer
	json           bool
	quiet          bool
	verbose        bool
	screen         *terminal.Screen // stderr
	colour         bool             // stdout is a terminal that shows colours
	seed           int64
	log            *slog.Logger

	emitted bool      // a result is on stdout already
	keep    func(any) // set: results are kept, not printed
	signals *process.Signals
	closers *[]func() error // shared by runVerb's copies, and so are
	stores  *control.Stores // to be read
}

func newApp(ctx context.Context, g *grammar, stdout, stderr io.Writer) *app {
	screen := newScreen(stderr, g.Quiet)
	stderr = screen // with it, all that is told keeps clear of the live line
	a := &app{
		stdout: stdout, stderr: stderr, screen: screen, colour: coloured(stdout),
		json: g.JSON, quiet: g.Quiet, verbose: g.Verbose, seed: g.Rand, log: newLog(g, screen), closers: new([]func() error),
	}
	a.stores = &control.Stores{Say: a.say}
	a.ctx, a.signals = process.Heed(ctx, func() {
		a.say("stopping: finishing the requests in flight; interrupt again to stop at once")
	}, func() {
		screen.Clear()
		os.Exit(exitInterrupted)
	})
	a.onClose(a.stores.Close)
	return a
}

// runVerb runs a verb inside another and returns the result that it would print.
func runVerb[T any](a *app, verb interface{ Run(*app) error }) (result T, err error) {
	inner := *a
	inner.keep = func(v any) { result, _ = v.(T) }
	return result, verb.Run(&inner)
}

// onClose has f called when the verb ends.
func (a *app) onClose(f func() error) { *a.closers = append(*a.closers, f) }

func (a *app) close() {
	defer a.signals.Stop()
	for _, f := range *a.closers {
		if err := f(); err != nil {
			a.log.Error("closing", "err", err)
		}
	}
}

func newLog(g *grammar, stderr *terminal.Screen) *slog.Logger {
	level := slog.LevelWarn
	switch {
	case g.Quiet:
		level = slog.LevelError
	case g.Verbose:
		level = slog.LevelDebug
	}
	opt := &slog.HandlerOptions{Level: level}
	var handler slog.Handler
	switch {
	case g.LogFormat == "json":
		handler = slog.NewJSONHandler(printable.JSON(stderr), opt)
	case stderr.Terminal():
		handler = terminal.Log(stderr, level)
	default:
		handler = slog.NewTextHandler(printable.Text(stderr), opt)
	}
	to := slog.New(handler)
	process.LogLibraries(to)
	return to
}

// openToRead opens a store for a verb that only reads it; see control.Stores.
func (a *app) openToRead(dir string) (s *store.Store, done func() error, err error) {
	return a.stores.Open(a.ctx, dir)
}

// agentsOf names in place of the folder of a crawl by several agents the stores of these.
func agentsOf(dirs []string) (stores []string) {
	for _, dir := range dirs {
		if agents := store.AgentDirs(dir); len(agents) > 0 {
			stores = append(stores, agents...)
		} else {
			stores = append(stores, dir)
		}
	}
	return stores
}

// random returns a source for one purpose; the same purpose and --rand give the
// same numbers, and purposes do not disturb each other.
func (a *app) random(purpose uint64) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(a.seed), purpose))
}

// say prints a line of progress, unless --quiet.
func (a *app) say(format string, args ...any) {
	if !a.quiet {
		printable.Fprintf(printable.Text(a.stderr), format+"\n", args...)
	}
}

// emit prints a verb's result: v as one JSON object with --json, else text.
func (a *app) emit(v any, text func(w io.Writer)) error {
	if a.keep != nil {
		a.keep(v)
		return nil
	}
	a.emitted = true
	a.screen.Clear() // stdout may be the same terminal
	if !a.json {
		out := printable.Text(a.stdout)
		if a.colour {
			text(terminal.Coloured(out, a.stdout))
		} else {
			text(out)
		}
		return nil
	}
	return writeJSON(a.stdout, v)
}

// writeJSON prints a result as one JSON object.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(printable.JSON(w))
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("result as JSON: %w", err)
	}
	return nil
}
