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

// Lookup asks the seen-set for URLs; safe for concurrent use.
func (s *Store) Lookup(hashes []Hash) ([]Seen, error) {
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
	err := s.records.get(key(keyCount), &c)
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

// Host returns what is known of a host, a new record when nothing is.
func (s *Store) Host(name string) (*Host, error) {
	h := &Host{}
	err := s.records.get(bytesKey(keyHost, []byte(name)), h)
	if errors.Is(err, ErrUnknown) {
		err, h.New = nil, true
	}
	h.Name = name
	return h, err
}

// Page returns page n, from 1; also one that was dropped, which has a SameAs.
func (s *Store) Page(n uint64) (*Page, error) {
	p := &Page{}
	err := s.records.get(numKey(keyPage, n), p)
	p.Number = n
	return p, err
}

// Body returns the body of page n, decompressed.
func (s *Store) Body(n uint64) ([]byte, error) {
	var body []byte
	err := s.records.view(func(txn *badger.Txn) (err error) {
		body, err = s.codec.body(txn, n)
		return err
	})
	return body, err
}

// Label returns what refine said of page n, nil when it has not been asked.
func (s *Store) Label(n uint64) (*Label, error) {
	var l *Label
	err := s.records.view(func(txn *badger.Txn) error { return optional(txn, numKey(keyLabel, n), &l) })
	return l, err
}

// Pages yields the stored pages in the order of the crawl.
func (s *Store) Pages() iter.Seq2[*Page, error] {
	all := each(s.records, key(keyPage), func(k, v []byte) (*Page, error) {
		n, err := numOf(k)
		if err != nil {
			return nil, err
		}
		p := &Page{Number: n}
		return p, decode(k, v, p)
	})
	return func(yield func(*Page, error) bool) {
		for p, err := range all {
			if err == nil && p.SameAs != "" {
				continue
			}
			if !yield(p, err) {
				return
			}
		}
	}
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
	db    *badgerfiles.Database
	uses  atomic.Uint64 // so far
	still atomic.Bool   // the next use is to wake upkeep
	woken chan struct{} // buffered
}

func newRecords(db *badgerfiles.Database) *records {
	return &records{db: db, woken: make(chan struct{}, 1)}
}

// use counts a use, and wakes upkeep where that asked for it.
func (r *records) use() {
	r.uses.Add(1)
	if r.still.Load() && r.still.CompareAndSwap(true, false) {
		select {
		case r.woken <- struct{}{}:
		default:
		}
	}
}

// wakes has the next use wake upkeep; false where one came after so many.
func (r *records) wakes(uses uint64) bool {
	r.still.Store(true)
	return r.uses.Load() == uses
}

func (r *records) view(f func(txn *badger.Txn) error) error {
	r.use()
	return r.db.View(f)
}

// get reads one record; ErrUnknown when it is not there.
func (r *records) get(k []byte, record any) error {
	return r.view(func(txn *badger.Txn) error { return get(txn, k, record) })
}

// write begins a transaction of the one writer.
func (r *records) write() *badger.Txn {
	r.use()
	return r.db.NewTransaction(true)
}

// walk returns an iterator over the records whose keys begin with prefix.
func walk(txn *badger.Txn, prefix []byte) *badger.Iterator {
	opt := badger.DefaultIteratorOptions
	opt.Prefix = prefix
	opt.PrefetchValues = false // these are small and lie beside the keys: fetching ahead costs a goroutine each
	return txn.NewIterator(opt)
}

// items yields them; each is valid until the next.
func items(txn *badger.Txn, prefix []byte) iter.Seq[*badger.Item] {
	return func(yield func(*badger.Item) bool) {
		it := walk(txn, prefix)
		defer it.Close()
		for it.Rewind(); it.Valid() && yield(it.Item()); it.Next() {
		}
	}
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
