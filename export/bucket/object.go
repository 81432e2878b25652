package bucket

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"slices"
	"sync"
)

// partBytes is the size of a part, twice that after each thousand of them: a server takes
// 10,000, and none but the last of less than 5 MiB.
func partBytes(number int) int { return firstPart << ((number - 1) / 1000) }

const firstPart = 8 << 20

// maker says which object a writer makes. Its sum and its size are told to the place when
// it is there.
type maker struct {
	place *Place
	name  string // below the prefix
	key   string
	sum   hash.Hash
	n     int64
}

func (m *maker) count(b []byte) {
	m.sum.Write(b)
	m.n += int64(len(b))
}

// object is one on its way to the server.
type object struct {
	maker
	rest   []byte // that is not sent yet
	parts  int    // sent
	id     string // of the upload, "" before the first part
	onWay  sync.WaitGroup
	closed bool

	mu     sync.Mutex // guards the rest
	done   []part
	failed error // of a part
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Write implements io.Writer.
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
		o.count(b[:n])
		o.rest = append(o.rest, b[:n]...)
		b = b[n:]
	}
	return written, nil
}

// sendPart sends what there is of a part, and begins the next.
func (o *object) sendPart() (err error) {
	t, client := o.place.transfers, o.place.client
	if o.id == "" {
		if o.id, err = client.begin(t.ctx, o.key); err != nil {
			return err
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
		o.onWay.Done() // it was not begun
	}
	return err
}

// Close sends the rest. What is small, below a prefix, is made then; all else at Commit.
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

// make makes the object, when all its parts are there.
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
		slices.SortFunc(o.done, func(a, b part) int { return a.Number - b.Number })
		tag, err = o.place.client.complete(ctx, o.key, o.id, o.done)
	}
	if err != nil || o.name == listName {
		return err
	}
	defer o.place.ended(o)
	return o.place.list.add(entry{name: o.name, bytes: o.n, sum: hex.EncodeToString(o.sum.Sum(nil)), tag: tag})
}
