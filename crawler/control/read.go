package control

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"fossick/store"
)

// How long a store is waited for that is in use without a crawl that answers: five
// seconds.
const (
	readTries = 100
	readPause = 50 * time.Millisecond
)

// Stores are opened to be read. One that a crawl is writing is copied first, as it is at
// this moment, and once: all that is read is of that moment. For one goroutine.
type Stores struct {
	Say func(format string, args ...any) // that a copy is read

	copies map[string]*store.Store
}

// Open opens a store. Who opened it calls done, not Close.
func (r *Stores) Open(ctx context.Context, dir string) (s *store.Store, done func() error, err error) {
	keep := func() error { return nil } // a copy, until Close
	if s := r.copies[dir]; s != nil {
		return s, keep, nil
	}
	for range readTries {
		if s, err = store.OpenToRead(dir); err == nil {
			return s, func() error { return errors.Join(s.Damaged(), s.Close()) }, nil
		}
		if !errors.Is(err, store.ErrBusy) {
			return nil, nil, err
		}
		if s, err = r.copyOf(ctx, dir, err); !errors.Is(err, store.ErrCutOff) && !errors.Is(err, ErrNoCrawl) {
			break
		}
		select { // a crawl that begins or ends has its store for a moment without answering
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(readPause):
		}
	}
	if err != nil {
		return nil, nil, err
	}
	if r.copies == nil {
		r.copies = map[string]*store.Store{}
	}
	r.copies[dir] = s
	return s, keep, nil
}

// copyOf copies the store that a crawl has, which busy says.
func (r *Stores) copyOf(ctx context.Context, dir string, busy error) (*store.Store, error) {
	resp, err := call(ctx, dir, "/snapshot", nil, busy)
	switch {
	case err == nil:
	case errors.Is(err, ErrNoCrawl) || ctx.Err() != nil:
		return nil, err
	default: // it ended when it had taken the question
		return nil, fmt.Errorf("%w: %w", store.ErrCutOff, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, readAnswer(resp, nil)
	}
	r.Say("a crawl is writing %s: reading a snapshot of it", dir)
	s, err := store.Receive(dir, resp.Body)
	if ctx.Err() != nil {
		if s != nil {
			return nil, errors.Join(ctx.Err(), s.Close())
		}
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: snapshot of the running crawl: %w", dir, err)
	}
	return s, nil
}

// Close gives the copies up.
func (r *Stores) Close() error {
	var err error
	for _, s := range r.copies {
		err = errors.Join(err, s.Close())
	}
	return err
}
