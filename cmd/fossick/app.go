package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"fossick/internal/printable"
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
	screen         *terminal.Screen // stderr
	colour         bool             // stdout is a terminal that shows colours
	seed           int64
	log            *slog.Logger

	emitted bool      // a result is on stdout already
	keep    func(any) // set: results are kept, not printed
	stop    func()
	orderly *atomic.Bool            // see endsInOrder
	closers *[]func() error         // shared by runVerb's copies, and so are
	copies  map[string]*store.Store // of stores that a crawl is writing; see openToRead
}

func newApp(ctx context.Context, g *grammar, stdout, stderr io.Writer) *app {
	ctx, cancel := context.WithCancel(ctx)
	screen := newScreen(stderr, g.Quiet)
	stderr = screen // with it, all that is told keeps clear of the live line
	a := &app{
		ctx: ctx, stdout: stdout, stderr: stderr, screen: screen, colour: coloured(stdout),
		json: g.JSON, quiet: g.Quiet, seed: g.Rand,
		log: newLog(g, screen), closers: new([]func() error), orderly: new(atomic.Bool), copies: map[string]*store.Store{},
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, stopSignals()...)
	undo := keepWriting()
	done := make(chan struct{})
	go a.watch(signals, done, cancel, os.Exit)
	a.stop = func() {
		signal.Stop(signals)
		undo()
		close(done)
		cancel()
	}
	return a
}

// runVerb runs a verb inside another and returns the result that it would print.
func runVerb[T any](a *app, verb interface{ Run(*app) error }) (result T, err error) {
	inner := *a
	inner.keep = func(v any) { result, _ = v.(T) }
	return result, verb.Run(&inner)
}

// deafAfter is how long a verb may take to end after a signal.
const deafAfter = 5 * time.Second

// endsInOrder says that the verb ends by itself when its context does, however long that
// takes. Others are ended when they do not hear, as one that waits for a pipe's writer or
// parses what somebody made for that purpose.
func (a *app) endsInOrder() { a.orderly.Store(true) }

// watch ends the context at the first signal, and the process at the second, or when the
// verb does not hear the first.
func (a *app) watch(signals <-chan os.Signal, done <-chan struct{}, cancel func(), exit func(code int)) {
	select {
	case <-signals:
		a.say("stopping: finishing what is in flight; once more to stop at once")
		cancel()
	case <-done:
		return
	}
	deaf := time.NewTimer(deafAfter)
	defer deaf.Stop()
	for {
		select {
		case <-deaf.C:
			if !a.orderly.Load() {
				a.screen.Clear()
				exit(exitInterrupted)
			}
		case s := <-signals:
			if s != syscall.SIGHUP { // shell and kernel both send one when a terminal is closed
				a.screen.Clear()
				exit(exitInterrupted)
			}
		case <-done:
			return
		}
	}
}

// onClose has f called when the verb ends.
func (a *app) onClose(f func() error) { *a.closers = append(*a.closers, f) }

func (a *app) close() {
	for _, f := range *a.closers {
		if err := f(); err != nil {
			a.log.Error("closing", "err", err)
		}
	}
	a.stop()
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
	log.SetFlags(0)
	log.SetOutput(libraryLog{slog.New(handler), badgerCode})
	return slog.New(handler)
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
