package main

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"fossick/control"
	"fossick/store"
)

// How long a store is waited for that is in use without a crawl that answers: five
// seconds.
const (
	readTries = 100
	readPause = 50 * time.Millisecond
)

// openToRead opens a store for a verb that only reads it. One that a crawl is writing
// is copied first, as it is at this moment, and once a verb: all that it reads is of
// that moment. Who opened it calls done, not Close.
func (a *app) openToRead(dir string) (s *store.Store, done func() error, err error) {
	if s := a.copies[dir]; s != nil {
		return s, keepOpen, nil
	}
	for range readTries {
		if s, err = store.OpenToRead(dir); err == nil {
			return s, func() error { return closeRead(s) }, nil
		}
		if !errors.Is(err, store.ErrBusy) {
			return nil, nil, err
		}
		if s, err = a.copyOf(dir, err); !errors.Is(err, store.ErrCutOff) && !errors.Is(err, control.ErrNoCrawl) {
			break
		}
		select { // a crawl that begins or ends has its store for a moment without answering
		case <-a.ctx.Done():
			return nil, nil, a.ctx.Err()
		case <-time.After(readPause):
		}
	}
	if err != nil {
		return nil, nil, err
	}
	a.copies[dir] = s
	a.onClose(s.Close)
	return s, keepOpen, nil
}

// closeRead closes a store that was read. What was said of a damaged one is no good end.
func closeRead(s *store.Store) error { return errors.Join(s.Damaged(), s.Close()) }

// keepOpen leaves a copy to the end of the verb.
func keepOpen() error { return nil }

// copyOf copies the store that a crawl has, which busy says.
func (a *app) copyOf(dir string, busy error) (*store.Store, error) {
	resp, err := control.Call(a.ctx, dir, "/snapshot", nil, busy)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, control.Read(resp, nil)
	}
	a.say("a crawl is writing %s: reading a copy of this moment", dir)
	s, err := store.Receive(dir, resp.Body)
	if a.ctx.Err() != nil {
		return nil, errors.Join(a.ctx.Err(), closeCopy(s))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: a copy of what the crawl has: %w", dir, err)
	}
	return s, nil
}

func closeCopy(s *store.Store) error {
	if s == nil {
		return nil
	}
	return s.Close()
}
