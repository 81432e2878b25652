package convert

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"fossick/export/place"
	"fossick/internal/reading"
)

// giver is an agent that does not collect.
type giver struct {
	*company
	to int // who collects
	m  *manifest
}

// give makes the agent's part, and gives it away. What was made waits beside the store.
func (g *giver) give(ctx context.Context) (_ *Result, err error) {
	store, err := filepath.Abs(g.opt.Stores[0])
	if err != nil {
		return nil, err
	}
	kept, err := place.Keep(store+".part", "convert")
	if err != nil {
		return nil, fmt.Errorf("this agent's part waits beside its store: %w", err)
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	if !g.agents[g.to].Whole {
		if err := g.make(ctx, kept.Dir()); err != nil {
			return nil, err
		}
		if err := g.send(ctx, g.to, g.offer()); err != nil {
			return nil, err
		}
	}
	r, err := g.serve(ctx)
	if err != nil {
		return nil, err
	}
	return r, kept.Discard()
}

// make does the agent's part, as far as it is not done. What is of another state of the
// store, or damaged, is nobody's: it is made again.
func (g *giver) make(ctx context.Context, dir string) (err error) {
	fresh := func() *manifest { return g.opt.fresh(g.Name) }
	g.m, err = goOn(ctx, dir, fresh(), g.opt)
	if err == nil {
		err = g.m.admit(0, g.me.Print)
	}
	if errors.Is(err, ErrChanged) || errors.Is(err, ErrDamaged) {
		g.m = fresh()
		g.m.dir = dir
		err = errors.Join(g.m.sweep(), os.RemoveAll(filepath.Join(dir, manifestFile)), g.m.admit(0, g.me.Print))
	}
	if err != nil {
		return err
	}
	if err := g.m.clear(); err != nil {
		return err
	}
	return (&agent{m: g.m, opt: g.opt, pages: g.pages}).do(ctx)
}

func (g *giver) offer() message {
	return message{Kind: offer, Store: &g.m.Stores[0], Files: g.m.Files}
}

// serve answers who collects, until all is done.
func (g *giver) serve(ctx context.Context) (*Result, error) {
	g.opt.Step("sending this agent's part to agent "+g.agents[g.to].Name, 0)
	for {
		from, m, err := g.receive(ctx)
		if err != nil {
			return nil, err
		}
		switch {
		case m.Kind == hello && from == g.to && m.Again && g.m != nil:
			err = g.send(ctx, from, g.offer())
		case m.Kind == want && from == g.to && g.m != nil:
			err = g.answer(ctx, m)
		case m.Kind == done && from == g.to:
			return m.Result, nil
		case m.Kind != hello:
			err = fmt.Errorf("%w: %d by agent %s", ErrMessage, m.Kind, g.agents[from].Name)
		}
		if err != nil {
			return nil, err
		}
	}
}

// answer sends a piece of a file.
func (g *giver) answer(ctx context.Context, m message) error {
	if m.File >= len(g.m.Files) || m.From >= g.m.Files[m.File].Bytes {
		return fmt.Errorf("%w: byte %d of file %d", ErrMessage, m.From, m.File)
	}
	file := g.m.Files[m.File]
	f, err := reading.Open(filepath.Join(g.m.dir, filepath.FromSlash(file.Name)))
	if err != nil {
		return err
	}
	m.Kind, m.Bytes = piece, make([]byte, min(int64(g.opt.limits.piece), file.Bytes-m.From))
	_, err = io.ReadFull(io.NewSectionReader(f, m.From, file.Bytes), m.Bytes)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	g.opt.Did(1)
	return g.send(ctx, g.to, m)
}
