package bucket

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"sync"

	"github.com/minio/minio-go/v7"

	"fossick/export"
)

// file is a file of the export, buffered and hashed on its way to the server or the comparison.
type file struct {
	place *Place
	name  string // below the prefix
	key   string
	buf   *bufio.Writer
	to    io.WriteCloser
	sum   hash.Hash
	n     int64
}

func (f *file) Write(b []byte) (int, error) {
	f.sum.Write(b)
	f.n += int64(len(b))
	return f.buf.Write(b)
}

func (f *file) Close() error {
	err := f.buf.Flush()
	f.place.mu.Lock()
	f.place.written += f.n
	f.place.mu.Unlock()
	return errors.Join(err, f.to.Close())
}

func (f *file) entry(tag string) entry {
	return entry{name: f.name, bytes: f.n, sum: hex.EncodeToString(f.sum.Sum(nil)), tag: tag}
}

// partBytes returns a part's size. It doubles every 1,000 parts, since servers accept 10,000 parts, each of at
// least 5 MiB but the last.
func partBytes(number int) int { return firstPart << ((number - 1) / 1000) }

const firstPart = 8 << 20

// object is an object being sent.
type object struct {
	*file
	rest   []byte // not sent yet
	parts  int    // sent
	id     string // upload id; "" before the first part
	onWay  sync.WaitGroup
	closed bool

	mu     sync.Mutex // guards the fields below
	done   []minio.CompletePart
	failed error // error of a part
}

// Write buffers data and sends full parts.
func (o *object) Write(b []byte) (int, error) {
	written := len(b)
	for len(b) > 0 {
		size := partBytes(o.parts + 1)
		if len(o.rest) == size {
			if err := o.sendPart(); err != nil {
				return 0, err
			}
		}
		n := min(len(b), size-len(o.rest))
		if o.parts > 0 || len(o.rest)+n > size/2 {
			o.rest = slices.Grow(o.rest, size-len(o.rest))
		}
		o.rest = append(o.rest, b[:n]...)
		b = b[n:]
	}
	return written, nil
}

// sendPart starts sending the buffer as a part, and the upload before the first part.
func (o *object) sendPart() (err error) {
	t, client := o.place.transfers, o.place.client
	if o.id == "" {
		if o.id, err = client.begin(t.ctx, o.key); err != nil {
			return cmp.Or(t.failed(), err)
		}
		o.place.began(o)
	}
	content, number := o.rest, o.parts+1
	o.rest, o.parts = nil, number
	o.onWay.Add(1)
	err = t.send(cap(content), func(ctx context.Context) error {
		defer o.onWay.Done()
		done, err := client.part(ctx, o.key, o.id, number, content)
		o.mu.Lock()
		defer o.mu.Unlock()
		o.done, o.failed = append(o.done, done), errors.Join(o.failed, err)
		return err
	})
	if err != nil {
		o.onWay.Done() // it was not started
	}
	return err
}

// Close sends the rest. Small objects below a prefix are created now, all others at Commit.
func (o *object) Close() error {
	if o.closed {
		return nil
	}
	o.closed = true
	if o.parts > 0 && len(o.rest) > 0 {
		if err := o.sendPart(); err != nil {
			return err
		}
	}
	return o.place.closed(o)
}

// make creates the object once all its parts have arrived.
func (o *object) make(ctx context.Context) (err error) {
	tag := ""
	if o.parts == 0 {
		tag, err = o.place.client.put(ctx, o.key, o.rest)
		o.rest = nil
	} else {
		o.onWay.Wait()
		if o.failed != nil {
			return o.failed
		}
		slices.SortFunc(o.done, func(a, b minio.CompletePart) int { return a.PartNumber - b.PartNumber })
		tag, err = o.place.client.complete(ctx, o.key, o.id, o.done)
	}
	if err != nil || o.name == listName {
		return err
	}
	defer o.place.ended(o)
	return o.place.list.add(o.entry(tag))
}

// listed discards content below a prefix; the list compares its hash.
type listed struct {
	io.Writer
	file *file
}

func (l listed) Close() error { return l.file.place.list.add(l.file.entry("")) }

// compared compares written data with an existing object.
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

func (c *compared) differs() error {
	return fmt.Errorf("%s %w", address{c.place.at.bucket, c.key}, export.ErrThere)
}

// Write fails with export.ErrThere when the data differs.
func (c *compared) Write(b []byte) (int, error) {
	c.buf = slices.Grow(c.buf[:0], len(b))[:len(b)]
	n, err := io.ReadFull(c.body, c.buf)
	switch {
	case err == nil && bytes.Equal(c.buf, b):
		return n, nil
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return 0, c.differs()
	}
	return 0, c.place.client.wrap(c.key, err)
}

// Close fails with export.ErrThere when the object is longer.
func (c *compared) Close() error {
	defer c.body.Close() // the rest is not needed
	n, err := io.ReadFull(c.body, make([]byte, 1))
	if n > 0 {
		return c.differs()
	}
	if !errors.Is(err, io.EOF) {
		return c.place.client.wrap(c.key, err)
	}
	return nil
}
