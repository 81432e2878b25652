package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"math/rand/v2"
	"os"

	"golang.org/x/term"

	"fossick/crawler/control"
	"fossick/datasets"
	"fossick/internal/cli"
	"fossick/internal/page"
	"fossick/store"
)

// app holds what every verb needs: its output, its settings and the context that a signal ends.
type app struct {
	ctx            context.Context
	stdout, stderr io.Writer
	json           bool
	quiet          bool
	verbose        bool
	screen         *cli.Screen // stderr
	colour         bool        // stdout is a terminal that shows colours
	seed           int64
	log            *slog.Logger

	emitted bool      // a result has been printed
	keep    func(any) // if set, it takes results, and nothing is printed
	signals *signals
	closers *[]func() error // run when the verb ends; shared with the copies of runVerb
	stores  *control.Stores // open for reading; shared likewise
}

func newApp(ctx context.Context, g *grammar, stdout, stderr io.Writer) *app {
	screen := newScreen(stderr, g.Quiet)
	stderr = screen // other output then keeps clear of the live line
	a := &app{
		stdout: stdout, stderr: stderr, screen: screen, colour: coloured(stdout),
		json: g.JSON, quiet: g.Quiet, verbose: g.Verbose, seed: g.Rand, log: newLog(g, screen), closers: new([]func() error),
	}
	a.stores = &control.Stores{Say: a.say}
	a.ctx, a.signals = heedSignals(ctx, func() {
		a.say("stopping: finishing the requests in flight; interrupt again to stop at once")
	}, func() {
		screen.Clear()
		os.Exit(exitInterrupted)
	})
	a.onClose(a.stores.Close)
	return a
}

// runVerb runs a verb inside another and returns its result instead of printing it.
func runVerb[T any](a *app, verb interface{ Run(*app) error }) (result T, err error) {
	inner := *a
	inner.keep = func(v any) { result, _ = v.(T) }
	return result, verb.Run(&inner)
}

// onClose registers f to run when the verb ends.
func (a *app) onClose(f func() error) { *a.closers = append(*a.closers, f) }

func (a *app) close() {
	defer a.signals.Stop()
	for _, f := range *a.closers {
		if err := f(); err != nil {
			a.log.Error("closing", "err", err)
		}
	}
}

func newLog(g *grammar, stderr *cli.Screen) *slog.Logger {
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
		handler = slog.NewJSONHandler(cli.JSON(stderr), opt)
	case stderr.Terminal():
		handler = cli.Log(stderr, level)
	default:
		handler = slog.NewTextHandler(cli.Text(stderr), opt)
	}
	to := slog.New(handler)
	logLibraries(to)
	return to
}

// openToRead opens a store for reading; see control.Stores.
func (a *app) openToRead(dir string) (s *store.Store, done func() error, err error) {
	return a.stores.Open(a.ctx, dir)
}

// agentsOf replaces each folder of a crawl by several agents with the agents' stores.
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

// random returns a source seeded by --rand and purpose, so that purposes do not disturb each other.
func (a *app) random(purpose uint64) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(a.seed), purpose))
}

// say prints a line of progress, unless --quiet.
func (a *app) say(format string, args ...any) {
	if !a.quiet {
		cli.Fprintf(cli.Text(a.stderr), format+"\n", args...)
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
		out := cli.Text(a.stdout)
		if a.colour {
			text(cli.Coloured(out, a.stdout))
		} else {
			text(out)
		}
		return nil
	}
	return writeJSON(a.stdout, v)
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(cli.JSON(w))
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("result as JSON: %w", err)
	}
	return nil
}

// newScreen wraps stderr, with a live line on a terminal, else with plain lines.
func newScreen(stderr io.Writer, quiet bool) *cli.Screen {
	opt := cli.ScreenOptions{Quiet: quiet, Terminal: isLive(stderr), Colour: coloured(stderr)}
	if f, ok := stderr.(*os.File); ok {
		opt.Columns = func() int {
			columns, _, err := term.GetSize(int(f.Fd()))
			if err != nil {
				return 0
			}
			return columns
		}
	}
	return cli.NewScreen(stderr, opt)
}

// isLive says whether w is a terminal whose last line can be overwritten.
func isLive(w io.Writer) bool {
	if o, ok := w.(*outlet); ok {
		w = o.W
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}

// coloured says whether w shows colours and its user wants them (no-color.org).
func coloured(w io.Writer) bool { return isLive(w) && os.Getenv("NO_COLOR") == "" }

// task shows a running task until its End.
func (a *app) task(what, unit string) *cli.Task {
	return a.screen.Begin(cli.Cut(what, 60), unit)
}

// step shows a task without a count, until end.
func (a *app) step(what string) (end func()) { return a.task(what, "").End }

// stepsOf returns a function that shows a step of t.
func stepsOf(t *cli.Task) func(what string) {
	return func(what string) { t.Step(what, 0) }
}

// stream opens sets and chains their rows; see datasets.Opener.
func (a *app) stream(paths, where []string, level int) (datasets.Stream, error) {
	return datasets.Opener(a.openSet).Stream(paths, where, level, nil)
}

// openSet opens a labelled set, a corpus or a crawl's store until the verb ends.
func (a *app) openSet(path string, opt datasets.Options) (*datasets.Set, error) {
	if !store.Exists(path) {
		return datasets.Open(path, opt)
	}
	s, done, err := a.openToRead(path)
	if err != nil {
		return nil, err
	}
	a.onClose(done)
	return datasets.FromSeq(path, storedPages(s, path), opt), nil
}

// storedPages yields a store's pages in crawl order, except withdrawn ones, with refine's label or
// else the crawl model's.
func storedPages(s *store.Store, name string) iter.Seq2[*datasets.Example, error] {
	return func(yield func(*datasets.Example, error) bool) {
		for p, err := range s.Pages() {
			if err != nil {
				yield(nil, err)
				return
			}
			if p.Withdrawn {
				continue
			}
			if e, err := storedExample(s, p, name); !yield(e, err) || err != nil {
				return
			}
		}
	}
}

func storedExample(s *store.Store, p *store.Page, name string) (*datasets.Example, error) {
	body, err := s.Body(p.Number)
	if err != nil {
		return nil, err
	}
	text, _, err := page.Decode(body, p.ContentType)
	if err != nil {
		text = nil // it has no words
	}
	e := &datasets.Example{URL: p.URL, Label: p.Label, Title: p.Title, HTML: string(text), File: name, Line: int(p.Number)}
	refined, err := s.Label(p.Number)
	if err != nil {
		return nil, err
	}
	if refined != nil {
		e.Label = refined.Label
	}
	if e.Label != "" {
		e.Labels = []string{e.Label}
	}
	return e, nil
}
