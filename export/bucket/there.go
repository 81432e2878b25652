package bucket

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"fossick/export/place"
)

// Why there is nothing to be sent.
type state int

const (
	nothing state = iota // there, so all is sent
	whole                // is there, so all is compared
)

// lookAtObject says what there is of a single object, and ends uploads of it that a kill
// left.
func (p *Place) lookAtObject(ctx context.Context) error {
	there, err := p.client.has(ctx, p.at.Key)
	if err != nil {
		return err
	}
	if there {
		p.there = whole
		return nil
	}
	return p.abortAll(ctx)
}

// lookBelow says what there is below a prefix: an export, the remains of one, which it
// removes, or something else, which is an error.
func (p *Place) lookBelow(ctx context.Context) error {
	listed, err := p.client.has(ctx, p.at.Key+listName)
	if err != nil {
		return err
	}
	if listed {
		p.there = whole
		return nil
	}
	marked, err := p.client.has(ctx, p.at.Key+markName)
	if err != nil {
		return err
	}
	if marked {
		return p.removeRemains(ctx)
	}
	for _, err := range p.client.below(ctx, p.at.Key) {
		if err == nil {
			err = fmt.Errorf("%s %w", p.at, place.ErrThere)
		}
		return err
	}
	return p.mark(ctx)
}

// abortAll ends the uploads to the place that were begun and not ended.
func (p *Place) abortAll(ctx context.Context) error {
	for upload, err := range p.client.uploads(ctx, p.at.Key) {
		if err == nil && (!p.single || upload.Key == p.at.Key) {
			err = p.client.abort(ctx, upload.Key, upload.ETag)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mark says that an export is being made.
func (p *Place) mark(ctx context.Context) error {
	_, err := p.client.put(ctx, p.at.Key+markName, []byte(markText))
	return err
}

// removeRemains removes all below the prefix, but what marks it.
func (p *Place) removeRemains(ctx context.Context) error {
	if err := p.abortAll(ctx); err != nil {
		return err
	}
	var listing error
	err := p.client.removeAll(ctx, func(yield func(string) bool) {
		for o, err := range p.client.below(ctx, p.at.Key) {
			if listing = err; err != nil || o.Key != p.at.Key+markName && !yield(o.Key) {
				return
			}
		}
	})
	return errors.Join(err, listing)
}

// compared compares what is written with an object that is there.
type compared struct {
	place *Place
	body  io.ReadCloser
	key   string
	buf   []byte
}

func (p *Place) compare(key string) (*compared, error) {
	body, err := p.client.open(p.transfers.ctx, key)
	return &compared{place: p, body: body, key: key}, err
}

// Write implements io.Writer.
func (c *compared) Write(b []byte) (int, error) {
	if len(c.buf) < len(b) {
		c.buf = make([]byte, len(b))
	}
	n, err := io.ReadFull(c.body, c.buf[:len(b)])
	switch {
	case err == nil && bytes.Equal(c.buf[:n], b):
		return n, nil
	case err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return 0, fmt.Errorf("%s %w", Address{c.place.at.Bucket, c.key}, place.ErrThere)
	}
	return 0, c.place.client.wrap(c.key, err)
}

// Close implements io.Closer.
func (c *compared) Close() error {
	defer c.body.Close() // nothing of it is wanted any more
	n, err := c.body.Read(make([]byte, 1))
	for n == 0 && err == nil {
		n, err = c.body.Read(make([]byte, 1))
	}
	if n > 0 {
		return fmt.Errorf("%s %w", Address{c.place.at.Bucket, c.key}, place.ErrThere)
	}
	if !errors.Is(err, io.EOF) {
		return c.place.client.wrap(c.key, err)
	}
	return nil
}

// listed takes the sum of what would be an object below a prefix, for its list.
type listed struct{ maker }

// Write implements io.Writer.
func (l *listed) Write(b []byte) (int, error) {
	l.count(b)
	return len(b), nil
}

// Close implements io.Closer.
func (l *listed) Close() error {
	return l.place.list.add(entry{name: l.name, bytes: l.n, sum: hex.EncodeToString(l.sum.Sum(nil))})
}

// compareList compares the list of all with the one that is there.
func (p *Place) compareList() error {
	p.transfers = newTransfers(p.ctx) // those before have ended
	if err := p.list.check(p.ctx, p.client, p.at.Key); err != nil {
		return err
	}
	there, err := p.compare(p.at.Key + listName)
	if err != nil {
		return err
	}
	return errors.Join(p.list.write(p.ctx, there), there.Close())
}

func newMaker(p *Place, name string) maker {
	return maker{place: p, name: name, key: p.at.Key + name, sum: sha256.New()}
}
