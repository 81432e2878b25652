package convert

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"github.com/fxamacker/cbor/v2"

	"fossick/export/collection"
)

// agent does what needs one store: an agent's part.
type agent struct {
	m     *manifest
	store int
	opt   *Options
	pages *collection.Collection
}

// do does what is not done yet.
func (a *agent) do(ctx context.Context) error {
	name, total := a.m.Stores[a.store].Name, a.pages.Len()
	a.opt.Step("reading "+name, total)
	if err := a.read(ctx); err != nil {
		return err
	}
	a.opt.Step("resolving links of "+name, total)
	return a.link(ctx)
}

// source is the store.
func (a *agent) source() *collection.Source { return a.pages.Sources()[0] }

// read writes the pages that no chunk has yet.
func (a *agent) read(ctx context.Context) error {
	s := &a.m.Stores[a.store]
	if s.Read {
		return nil
	}
	chunks, last := a.m.chunks(a.store)
	selection, err := a.pages.Select(ctx, collection.Choice{After: last}, collection.Want{Text: true, Refs: true})
	if err != nil {
		return err
	}
	c := &chunk{a: a, n: len(chunks)}
	bodies := 0 // that could not be read, since last
	for p, err := range selection.Pages(ctx) {
		if err != nil {
			return errors.Join(err, c.abandon())
		}
		if p.Damaged {
			bodies++
			s.Damaged++
		}
		if err := c.add(p); err != nil {
			return errors.Join(err, c.abandon())
		}
	}
	left := selection.Left()
	s.Withdrawn, s.Refused, s.Read = left.Withdrawn, left.Refused, true
	s.Damaged += left.Damaged - bodies // records
	if c.to == nil {
		return a.m.save()
	}
	return c.end()
}

// chunk is a chunk that is being written.
type chunk struct {
	a     *agent
	n     int // chunks so far
	to    *output
	buf   *bufio.Writer
	enc   *cbor.Encoder
	pages int
	last  uint64
}

func (c *chunk) name() string { return storeFolder(c.a.store) + chunkName(c.n) }

func chunkName(n int) string { return fmt.Sprintf("pages-%05d", n) }

func (c *chunk) add(p *collection.Page) (err error) {
	if c.to == nil {
		if c.to, err = c.a.m.create(c.name()); err != nil {
			return err
		}
		c.buf = bufio.NewWriterSize(c.to, 256<<10)
		c.enc = cbor.NewEncoder(c.buf)
	}
	r, err := recordOf(p)
	if err != nil {
		return err
	}
	if err := c.enc.Encode(r); err != nil {
		return err
	}
	c.last = p.Number
	if c.pages++; c.pages == c.a.opt.limits.chunk {
		return c.end()
	}
	return nil
}

// end brings the chunk to the disk and enters it.
func (c *chunk) end() error {
	if err := errors.Join(c.buf.Flush(), c.to.Close()); err != nil {
		return err
	}
	c.to = nil
	if err := c.a.m.finished(c.name()); err != nil {
		return err
	}
	c.a.m.Files[len(c.a.m.Files)-1].Last = c.last
	c.n, c.pages = c.n+1, 0
	return c.a.m.save()
}

// abandon gives up a chunk that has no end.
func (c *chunk) abandon() error {
	if c.to == nil {
		return nil
	}
	return c.to.File.Close()
}
