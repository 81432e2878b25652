package convert

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strings"

	"fossick/export/place"
)

// collector is the agent that makes the folder.
type collector struct {
	*company
	m    *manifest
	from []giving // by number
}

// giving is what another agent gives.
type giving struct {
	files []part // of its offer, under their names here
	at    int    // in files: the one that comes
	asked int64  // bytes of it
	got   int64
	to    *output // nil: none comes
	sum   hash.Hash
	all   bool
}

// ahead is how many pieces of an agent may be on their way.
const ahead = 8

// collect makes the folder; there is what of it is there, nil if nothing.
func (c *collector) collect(ctx context.Context, there *manifest) (r *Result, err error) {
	if r, err = c.result(ctx, there); err != nil {
		return nil, err
	}
	r.At = c.Name
	for to := range c.Agents {
		if to != c.Me {
			if err := c.send(ctx, to, message{Kind: done, Result: r}); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

// fresh describes the conversion of all agents' stores, of which nothing is done.
func (c *collector) fresh() *manifest {
	names := make([]string, 0, c.Agents)
	for _, a := range c.agents {
		names = append(names, a.Name)
	}
	return c.opt.fresh(names...)
}

func (c *collector) result(ctx context.Context, there *manifest) (*Result, error) {
	if there == nil {
		return c.make(ctx)
	}
	if !there.Done {
		return nil, fmt.Errorf("%s %w", c.opt.Dir, place.ErrThere)
	}
	if err := there.like(c.fresh()); err != nil {
		return nil, err
	}
	c.m = there
	c.opt.Step("checking finished files", 0)
	if err := c.admit(); err != nil {
		return nil, err
	}
	if err := c.whileAnswering(ctx, there.verify); err != nil {
		return nil, err
	}
	return there.result(len(there.Files)), nil
}

// admit compares all stores with what they were when the conversion was begun.
func (c *collector) admit() error {
	for i, a := range c.agents {
		if err := c.m.admit(i, a.Print); err != nil {
			return err
		}
	}
	return nil
}

func (c *collector) make(ctx context.Context) (_ *Result, err error) {
	kept, err := place.Keep(c.opt.Dir, "convert")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	if c.m, err = goOn(ctx, kept.Dir(), c.fresh(), c.opt); err != nil {
		return nil, err
	}
	found := len(c.m.Files)
	if err := errors.Join(c.admit(), c.m.clear()); err != nil {
		return nil, err
	}
	if err := (&agent{m: c.m, store: c.Me, opt: c.opt, pages: c.pages}).do(ctx); err != nil {
		return nil, err
	}
	if err := c.gather(ctx); err != nil {
		return nil, errors.Join(err, c.abandon())
	}
	if err := c.whileAnswering(ctx, func(ctx context.Context) error { return c.m.coordinate(ctx, c.opt) }); err != nil {
		return nil, err
	}
	if err := c.m.sweep(); err != nil {
		return nil, err
	}
	if err := kept.Commit(); err != nil {
		return nil, err
	}
	return c.m.result(found), nil
}

// whileAnswering does something while others that come back are greeted.
func (c *collector) whileAnswering(ctx context.Context, do func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		ended <- do(ctx)
		stop()
	}()
	for {
		_, _, err := c.receive(ctx)
		if err == nil {
			continue
		}
		stop()
		if did := <-ended; errors.Is(err, context.Canceled) {
			return did
		}
		return err
	}
}

// gather takes in what the others give.
func (c *collector) gather(ctx context.Context) error {
	c.opt.Step("receiving the parts of the other agents", 0)
	c.from[c.Me].all = true
	for slices.ContainsFunc(c.from, func(g giving) bool { return !g.all }) {
		from, m, err := c.receive(ctx)
		if err != nil {
			return err
		}
		switch g := &c.from[from]; {
		case m.Kind == hello && m.Again:
			err = g.abandon()
		case m.Kind == offer:
			err = c.begin(ctx, from, m)
		case m.Kind == piece && g.to != nil && m.File == g.at && m.From == g.got:
			err = c.add(ctx, from, m.Bytes)
		case m.Kind != hello:
			err = fmt.Errorf("%w: kind %d", ErrMessage, m.Kind)
		}
		if err != nil {
			return fmt.Errorf("agent %s: %w", c.agents[from].Name, err)
		}
	}
	return nil
}

// begin takes an offer.
func (c *collector) begin(ctx context.Context, from int, m message) error {
	g := &c.from[from]
	if err := g.abandon(); err != nil || g.all {
		return err
	}
	if m.Store.Fingerprint != c.m.Stores[from].Fingerprint {
		return c.m.changed("an earlier state of the store " + m.Store.Name + ", which has changed since")
	}
	files, err := under(storeFolder(from), m.Files)
	if err != nil {
		return err
	}
	*g = giving{files: files}
	s := &c.m.Stores[from]
	s.Withdrawn, s.Refused, s.Damaged = m.Store.Withdrawn, m.Store.Refused, m.Store.Damaged
	return c.next(ctx, from)
}

// under gives the files of an agent the names that they have here. They are some chunks, its
// links and its aliases.
func under(folder string, files []part) (named []part, err error) {
	if len(files) < 2 {
		return nil, fmt.Errorf("%w: %d files", ErrMessage, len(files))
	}
	last := uint64(0)
	for i, f := range files {
		want, chunk := chunkName(i), i < len(files)-2
		switch {
		case i == len(files)-2:
			want = "links"
		case i == len(files)-1:
			want = "aliases"
		}
		if f.Name != storeFolder(0)+want || chunk != (f.Last > last) || !chunk && f.Last != 0 {
			return nil, fmt.Errorf("%w: file %q, to page %d", ErrMessage, f.Name, f.Last)
		}
		if chunk {
			last = f.Last
		}
		f.Name = folder + want
		named = append(named, f)
	}
	return named, nil
}

// next begins the next file that is not there yet.
func (c *collector) next(ctx context.Context, from int) (err error) {
	g := &c.from[from]
	for ; g.at < len(g.files); g.at++ {
		f := g.files[g.at]
		if at := slices.IndexFunc(c.m.Files, func(p part) bool { return p.Name == f.Name }); at >= 0 {
			if c.m.Files[at] != f {
				return fmt.Errorf("%s %w; remove %s to start over", strings.TrimPrefix(f.Name, partsFolder), ErrDamaged, c.m.dir)
			}
			continue
		}
		if g.to, err = c.m.create(f.Name); err != nil {
			return err
		}
		g.sum, g.got, g.asked = sha256.New(), 0, 0
		if f.Bytes > 0 {
			return c.ask(ctx, from)
		}
		if err := c.end(from); err != nil {
			return err
		}
	}
	g.all = true
	c.m.Stores[from].Read, c.m.Stores[from].Linked = true, true
	return c.m.save()
}

// ask asks for pieces of the file that comes.
func (c *collector) ask(ctx context.Context, from int) error {
	g, size := &c.from[from], int64(c.opt.limits.piece)
	for g.asked < g.files[g.at].Bytes && g.asked < g.got+ahead*size {
		if err := c.send(ctx, from, message{Kind: want, File: g.at, From: g.asked}); err != nil {
			return err
		}
		g.asked += size
	}
	return nil
}

// add writes a piece.
func (c *collector) add(ctx context.Context, from int, b []byte) error {
	g := &c.from[from]
	if _, err := g.to.Write(b); err != nil {
		return err
	}
	_, _ = g.sum.Write(b) // it never fails
	c.opt.Did(1)
	if g.got += int64(len(b)); g.got < g.files[g.at].Bytes {
		return c.ask(ctx, from)
	}
	if err := c.end(from); err != nil {
		return err
	}
	g.at++
	return c.next(ctx, from)
}

// end enters the file that has come.
func (c *collector) end(from int) error {
	g := &c.from[from]
	f, to := g.files[g.at], g.to
	g.to = nil
	if err := to.Close(); err != nil {
		return err
	}
	if g.got != f.Bytes || hex.EncodeToString(g.sum.Sum(nil)) != f.SHA256 {
		return fmt.Errorf("%s %w; start the command again on all agents", f.Name, ErrDamaged)
	}
	c.m.Files = append(c.m.Files, f)
	return c.m.save()
}

// abandon gives up a file that has no end.
func (g *giving) abandon() error {
	to := g.to
	if g.to = nil; to == nil {
		return nil
	}
	return to.File.Close()
}

func (c *collector) abandon() (err error) {
	for i := range c.from {
		err = errors.Join(err, c.from[i].abandon())
	}
	return err
}
