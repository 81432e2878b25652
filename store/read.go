package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"

	"github.com/dgraph-io/badger/v4"

	"fossick/store/badgerfiles"
)

// Seen is what the seen-set knows of a URL; ID 0 means nothing.
type Seen struct {
	ID      ID
	Skipped bool // known, but not wanted so far
}

// Lookup asks the seen-set for a URL; safe for concurrent use.
func (s *Store) Lookup(h Hash) (Seen, error) {
	seen, err := s.LookupAll([]Hash{h})
	if err != nil {
		return Seen{}, err
	}
	return seen[0], nil
}

// LookupAll asks for many URLs at once; safe for concurrent use.
func (s *Store) LookupAll(hashes []Hash) ([]Seen, error) {
	seen := make([]Seen, len(hashes))
	err := s.records.view(func(txn *badger.Txn) error {
		for i, h := range hashes {
			var known bool
			if seen[i], known = s.filter.knows(h); known {
				continue
			}
			var err error
			if seen[i], err = lookup(txn, h); err != nil {
				return err
			}
			s.filter.found(h, seen[i])
		}
		return nil
	})
	return seen, err
}

func lookup(txn *badger.Txn, h Hash) (Seen, error) {
	var seen Seen
	err := value(txn, bytesKey(keySeen, h[:]), func(k, v []byte) error {
		if len(v) != 9 {
			return fmt.Errorf("store key %q: %w: %d bytes, want 9", k, ErrDamaged, len(v))
		}
		seen = Seen{ID: ID(binary.BigEndian.Uint64(v)), Skipped: v[8] == 1}
		return nil
	})
	if errors.Is(err, ErrUnknown) {
		return Seen{}, nil
	}
	return seen, err
}

// Counts returns the running totals.
func (s *Store) Counts() (Counts, error) {
	var c Counts
	err := s.records.view(func(txn *badger.Txn) error { return get(txn, key(keyCount), &c) })
	if errors.Is(err, ErrUnknown) {
		err = nil // nothing happened yet
	}
	if c.States == nil {
		c.States = map[string]uint64{}
	}
	if c.Codes == nil {
		c.Codes = map[int]uint64{}
	}
	return c, err
}

// Waiting returns the birth and the place in the queue of a URL that waits.
func (s *Store) Waiting(id ID) (b Birth, q Queued, err error) {
	err = s.records.view(func(txn *badger.Txn) error {
		if err := get(txn, numKey(keyBirth, uint64(id)), &b); err != nil {
			return err
		}
		return get(txn, numKey(keyQueued, uint64(id)), &q)
	})
	return b, q, err
}

// Birth returns how a URL came to be known.
func (s *Store) Birth(id ID) (Birth, error) {
	var b Birth
	err := s.records.view(func(txn *badger.Txn) error { return get(txn, numKey(keyBirth, uint64(id)), &b) })
	return b, err
}

// Host returns what is known of a host, a new record when nothing is.
func (s *Store) Host(name string) (*Host, error) {
	h := &Host{}
	err := s.records.view(func(txn *badger.Txn) error { return get(txn, bytesKey(keyHost, []byte(name)), h) })
	if errors.Is(err, ErrUnknown) {
		err, h.New = nil, true
	}
	h.Name = name
	return h, err
}

// Page returns page n, from 1.
func (s *Store) Page(n uint64) (*Page, error) {
	p := &Page{}
	err := s.records.view(func(txn *badger.Txn) error { return get(txn, numKey(keyPage, n), p) })
	p.Number = n
	return p, err
}

// Body returns the body of page n, decompressed.
func (s *Store) Body(n uint64) ([]byte, error) {
	var body []byte
	err := s.records.view(func(txn *badger.Txn) error {
		return value(txn, numKey(keyBody, n), func(k, v []byte) error {
			var err error
			if body, err = s.codec.unpack(v); err != nil {
				return fmt.Errorf("store key %q: %w: %w", k, ErrDamaged, err)
			}
			return nil
		})
	})
	return body, err
}

// Label returns what refine said of page n, nil when it has not been asked.
func (s *Store) Label(n uint64) (*Label, error) {
	l := &Label{}
	err := s.records.view(func(txn *badger.Txn) error { return get(txn, numKey(keyLabel, n), l) })
	if errors.Is(err, ErrUnknown) {
		return nil, nil
	}
	return l, err
}

// Pages yields the stored pages in the order of the crawl.
func (s *Store) Pages() iter.Seq2[*Page, error] {
	return each(s.records, key(keyPage), func(k, v []byte) (*Page, error) {
		n, err := numOf(k)
		if err != nil {
			return nil, err
		}
		p := &Page{Number: n}
		return p, decode(k, v, p)
	})
}

// Labels yields what refine said, by page number.
func (s *Store) Labels() iter.Seq2[NumberedLabel, error] {
	return each(s.records, key(keyLabel), func(k, v []byte) (NumberedLabel, error) {
		n, err := numOf(k)
		if err != nil {
			return NumberedLabel{}, err
		}
		l := NumberedLabel{Page: n}
		return l, decode(k, v, &l.Label)
	})
}

// NumberedLabel is a label and the number of its page.
type NumberedLabel struct {
	Page uint64
	Label
}

// Hosts yields the hosts, by name.
func (s *Store) Hosts() iter.Seq2[*Host, error] {
	return each(s.records, key(keyHost), func(k, v []byte) (*Host, error) {
		h := &Host{Name: string(k[1:])}
		return h, decode(k, v, h)
	})
}

// Ended is a URL that waits no more.
type Ended struct {
	ID ID
	Birth
	Fate
}

// EndedIn yields the URLs that ended in a state, in the order of discovery.
func (s *Store) EndedIn(state string) iter.Seq2[Ended, error] {
	all := each(s.records, key(keyFate), func(k, v []byte) (e Ended, err error) {
		n, err := numOf(k)
		if err != nil {
			return e, err
		}
		e.ID = ID(n)
		if err := decode(k, v, &e.Fate); err != nil || e.State != state {
			return e, err
		}
		e.Birth, err = s.Birth(e.ID)
		return e, err
	})
	return func(yield func(Ended, error) bool) {
		for e, err := range all {
			if (err != nil || e.State == state) && !yield(e, err) {
				return
			}
		}
	}
}

// each yields the records whose keys begin with prefix, until one is damaged.
func each[T any](r *records, prefix []byte, read func(k, v []byte) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		err := r.view(func(txn *badger.Txn) error {
			opt := badger.DefaultIteratorOptions
			opt.Prefix = prefix
			opt.PrefetchSize = 64
			it := txn.NewIterator(opt)
			defer it.Close()
			for it.Rewind(); it.Valid(); it.Next() {
				item := it.Item()
				var record T
				err := valueOf(item, item.KeyCopy(nil), func(k, v []byte) (err error) {
					record, err = read(k, v)
					return err
				})
				if !yield(record, err) || err != nil {
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

// records are all that stands in an open database; safe for concurrent use.
type records struct {
	db   *badgerfiles.Database
	used atomic.Bool // since keepTrimmed looked last
}

func (r *records) view(f func(txn *badger.Txn) error) error {
	r.used.Store(true)
	return r.db.View(f)
}

// write begins a transaction of the one writer.
func (r *records) write() *badger.Txn {
	r.used.Store(true)
	return r.db.NewTransaction(true)
}

// get reads a record; ErrUnknown when it is not there.
func get(txn *badger.Txn, k []byte, record any) error {
	return value(txn, k, func(k, v []byte) error { return decode(k, v, record) })
}

// value calls f with the bytes of a key, which are valid only inside it.
func value(txn *badger.Txn, k []byte, f func(k, v []byte) error) error {
	item, err := txn.Get(k)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return fmt.Errorf("store key %q: %w", k, ErrUnknown)
	}
	if err != nil {
		return fmt.Errorf("store key %q: %w", k, err)
	}
	return valueOf(item, k, f)
}

// valueOf calls f with an item's value. One that the value log does not have,
// as after a power cut, is a damaged record; Badger logs it and hands out
// nothing, without an error.
func valueOf(item *badger.Item, k []byte, f func(k, v []byte) error) error {
	called := false
	err := item.Value(func(v []byte) error {
		if len(v) == 0 && item.ValueSize() > 0 {
			return fmt.Errorf("store key %q: %w: its value is missing from the value log", k, ErrDamaged)
		}
		called = true
		return f(k, v)
	})
	if err != nil && !called && !errors.Is(err, ErrDamaged) {
		return fmt.Errorf("store key %q: %w: %w", k, ErrDamaged, err)
	}
	return err
}
