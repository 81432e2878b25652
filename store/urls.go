package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/dgraph-io/badger/v4"
)

// URLs are the URLs that a store knows, each from its discovery to its end.
type URLs struct{ records *records }

// URLs returns the URLs of the store.
func (s *Store) URLs() URLs { return URLs{s.records} }

// Birth returns how a URL came to be known.
func (u URLs) Birth(id ID) (b Birth, err error) {
	err = u.records.get(numKey(keyBirth, uint64(id)), &b)
	return b, err
}

// Names returns the URLs of the given numbers, in their order.
func (u URLs) Names(ids []ID) ([]string, error) {
	names := make([]string, 0, len(ids))
	for _, id := range ids {
		b, err := u.Birth(id)
		if err != nil {
			return nil, err
		}
		names = append(names, b.URL)
	}
	return names, nil
}

// Walk calls do with a function that names URLs. Asked in rising order of numbers it costs
// one pass at most, whatever is asked; ErrUnknown of a URL that is not there.
func (u URLs) Walk(do func(name func(id ID) (string, error)) error) error {
	return u.records.view(func(txn *badger.Txn) error {
		births := &births{ahead: walk(txn, key(keyBirth))}
		defer births.ahead.Close()
		births.ahead.Rewind()
		return do(func(id ID) (string, error) {
			b, err := births.of(id)
			return b.URL, err
		})
	})
}

// Waiting returns the birth and the place in the queue of a URL that waits.
func (u URLs) Waiting(id ID) (b Birth, q Queued, err error) {
	err = u.records.view(func(txn *badger.Txn) error {
		if err := get(txn, numKey(keyBirth, uint64(id)), &b); err != nil {
			return err
		}
		return get(txn, numKey(keyQueued, uint64(id)), &q)
	})
	return b, q, err
}

// Copy is a URL whose page is stored: what a conditional request for it and the
// journal of that need to know.
type Copy struct {
	ID     ID
	Birth  Birth
	Fate   Fate
	Page   *Page
	Visits int // exchanges so far: number of the last
}

// CopyOf returns what is known of a URL whose page is stored; ErrUnknown when it
// has none.
func (u URLs) CopyOf(id ID) (*Copy, error) {
	c := &Copy{ID: id, Page: &Page{}}
	err := u.records.view(func(txn *badger.Txn) error {
		if err := get(txn, numKey(keyBirth, uint64(id)), &c.Birth); err != nil {
			return err
		}
		if err := get(txn, numKey(keyFate, uint64(id)), &c.Fate); err != nil {
			return err
		}
		if !c.Fate.HasPage() {
			return fmt.Errorf("URL %d, %s: %w: it has no page", id, c.Birth.URL, ErrUnknown)
		}
		if err := get(txn, numKey(keyPage, c.Fate.Page), c.Page); err != nil {
			return err
		}
		c.Page.Number = c.Fate.Page
		c.Visits = lastVisit(txn, id)
		return nil
	})
	return c, err
}

// Waiter is a URL that waits.
type Waiter struct {
	ID ID
	Birth
	Queued
}

// Waiters yields every URL that waits, in the order of discovery: what a
// frontier is rebuilt from.
func (u URLs) Waiters() iter.Seq2[Waiter, error] {
	return withBirths(u.records, keyQueued, func(k, v []byte, births *births) (w Waiter, _ bool, err error) {
		if w.ID, err = idOf(k); err == nil {
			err = decode(k, v, &w.Queued)
		}
		if err == nil {
			w.Birth, err = births.of(w.ID)
		}
		return w, true, err
	})
}

// Ended is a URL that waits no more.
type Ended struct {
	ID ID
	Birth
	Fate
}

// Ended yields the URLs that ended in a state, in the order of discovery; those in any
// state where it is "".
func (u URLs) Ended(state string) iter.Seq2[Ended, error] {
	return withBirths(u.records, keyFate, func(k, v []byte, births *births) (e Ended, wanted bool, err error) {
		if e.ID, err = idOf(k); err == nil {
			err = decode(k, v, &e.Fate)
		}
		wanted = state == "" || e.State == state
		if err == nil && wanted {
			e.Birth, err = births.of(e.ID)
		}
		return e, wanted, err
	})
}

// VisitedURL is a visit and the URL that was visited.
type VisitedURL struct {
	ID  ID
	URL string
	Visit
}

// Visits yields every visit with its URL, in the order of discovery of the URLs, each one's
// in the order of time; after them likewise the visits to pages that were stored by then.
func (u URLs) Visits() iter.Seq2[VisitedURL, error] {
	return func(yield func(VisitedURL, error) bool) {
		for _, part := range []iter.Seq2[VisitedURL, error]{u.firstVisits(), u.revisits()} {
			for v, err := range part {
				if !yield(v, err) || err != nil {
					return
				}
			}
		}
	}
}

// firstVisits yields the visits that have a record each.
func (u URLs) firstVisits() iter.Seq2[VisitedURL, error] {
	return withBirths(u.records, keyVisit, func(k, v []byte, births *births) (visit VisitedURL, _ bool, err error) {
		if len(k) != 11 {
			return visit, true, fmt.Errorf("store key %q: %w: %d bytes, want 11", k, ErrDamaged, len(k))
		}
		visit.ID = ID(binary.BigEndian.Uint64(k[1:9]))
		if err := decode(k, v, &visit.Visit); err != nil {
			return visit, true, err
		}
		birth, err := births.of(visit.ID)
		visit.URL = birth.URL
		return visit, true, err
	})
}

// withBirths yields what read makes of each record of a kind and of its URL's birth,
// where it is wanted, until one is damaged. It walks records and births side by side, so
// it costs one pass.
func withBirths[T any](r *records, kind byte, read func(k, v []byte, births *births) (record T, wanted bool, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		err := r.view(func(txn *badger.Txn) error {
			births := &births{ahead: walk(txn, key(keyBirth))}
			defer births.ahead.Close()
			births.ahead.Rewind()
			for item := range items(txn, key(kind)) {
				var record T
				wanted := false
				err := valueOf(item, item.KeyCopy(nil), func(k, v []byte) (err error) {
					record, wanted, err = read(k, v, births)
					return err
				})
				if (wanted || err != nil) && !yield(record, err) || err != nil {
					return nil
				}
			}
			return nil
		})
		if err != nil {
			var zero T
			yield(zero, err)
		}
	}
}

// births tell how URLs came to be known, when these are asked for in the order of
// discovery.
type births struct {
	ahead *badger.Iterator
	id    ID    // asked for last
	birth Birth // its
}

func (b *births) of(id ID) (Birth, error) {
	if id == b.id && id != 0 {
		return b.birth, nil
	}
	want := numKey(keyBirth, uint64(id))
	// The next of many that are wanted is near; of few, far.
	for steps := 0; b.ahead.Valid() && bytes.Compare(b.ahead.Item().Key(), want) < 0; steps++ {
		if steps < maxSteps {
			b.ahead.Next()
		} else {
			b.ahead.Seek(want)
		}
	}
	if !b.ahead.Valid() || !bytes.Equal(b.ahead.Item().Key(), want) {
		return Birth{}, fmt.Errorf("store key %q: %w", want, ErrUnknown)
	}
	var birth Birth
	err := valueOf(b.ahead.Item(), want, func(k, v []byte) error { return decode(k, v, &birth) })
	if err == nil {
		b.id, b.birth = id, birth
	}
	return birth, err
}

// maxSteps is how many records a walk passes over before it seeks, which costs
// about as much.
const maxSteps = 16
