package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"

	"github.com/dgraph-io/badger/v4"

	"fossick/store/badgerfiles"
)

// Seen is a URL's entry in the seen-set; ID 0 means none.
type Seen struct {
	ID      ID
	Skipped bool // known but never queued
}

// Lookup returns the seen-set's entries for URLs. It is safe for concurrent use.
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

func (s *Store) Counts() (Counts, error) {
	var c Counts
	err := s.records.get(key(keyCount), &c)
	if errors.Is(err, ErrUnknown) {
		err = nil
	}
	if c.States == nil {
		c.States = map[string]uint64{}
	}
	if c.Codes == nil {
		c.Codes = map[int]uint64{}
	}
	return c, err
}

func (s *Store) Host(name string) (*Host, error) {
	h := &Host{}
	err := s.records.get(bytesKey(keyHost, []byte(name)), h)
	if errors.Is(err, ErrUnknown) {
		err, h.New = nil, true
	}
	h.Name = name
	return h, err
}

// Page returns page n, from 1. A dropped page has a SameAs.
func (s *Store) Page(n uint64) (*Page, error) {
	p := &Page{}
	err := s.records.get(numKey(keyPage, n), p)
	p.Number = n
	return p, err
}

func (s *Store) Body(n uint64) ([]byte, error) {
	var body []byte
	err := s.records.view(func(txn *badger.Txn) (err error) {
		body, err = s.codec.body(txn, n)
		return err
	})
	return body, err
}

func (s *Store) Label(n uint64) (*Label, error) {
	var l *Label
	err := s.records.view(func(txn *badger.Txn) error { return optional(txn, numKey(keyLabel, n), &l) })
	return l, err
}

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

type NumberedLabel struct {
	Page uint64
	Label
}

func (s *Store) Hosts() iter.Seq2[*Host, error] {
	return each(s.records, key(keyHost), func(k, v []byte) (*Host, error) {
		h := &Host{Name: string(k[1:])}
		return h, decode(k, v, h)
	})
}

// seq yields what do passes to yield within one view, then do's error. do returns nil once yield
// returned false.
func seq[T any](r *records, do func(txn *badger.Txn, yield func(T) bool) error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		err := r.view(func(txn *badger.Txn) error {
			return do(txn, func(record T) bool { return yield(record, nil) })
		})
		if err != nil {
			var zero T
			yield(zero, err)
		}
	}
}

// each yields the records with a prefix, until one is damaged.
func each[T any](r *records, prefix []byte, read func(k, v []byte) (T, error)) iter.Seq2[T, error] {
	return seq(r, func(txn *badger.Txn, yield func(T) bool) error {
		opt := badger.DefaultIteratorOptions
		opt.Prefix = prefix
		opt.PrefetchSize = 64
		it := txn.NewIterator(opt)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			var record T
			err := valueOf(it.Item(), it.Item().KeyCopy(nil), func(k, v []byte) (err error) {
				record, err = read(k, v)
				return err
			})
			if err != nil || !yield(record) {
				return err
			}
		}
		return nil
	})
}

// records reads an open database. It is safe for concurrent use.
type records struct {
	db    *badgerfiles.Database
	uses  atomic.Uint64
	still atomic.Bool // the next use wakes upkeep
	woken chan struct{}
}

func newRecords(db *badgerfiles.Database) *records {
	return &records{db: db, woken: make(chan struct{}, 1)}
}

func (r *records) use() {
	r.uses.Add(1)
	if r.still.Load() && r.still.CompareAndSwap(true, false) {
		select {
		case r.woken <- struct{}{}:
		default:
		}
	}
}

// wakes makes the next use wake upkeep. It returns false if there was a use since the given count.
func (r *records) wakes(uses uint64) bool {
	r.still.Store(true)
	return r.uses.Load() == uses
}

func (r *records) view(f func(txn *badger.Txn) error) error {
	r.use()
	return r.db.View(f)
}

func (r *records) get(k []byte, record any) error {
	return r.view(func(txn *badger.Txn) error { return get(txn, k, record) })
}

func (r *records) write() *badger.Txn {
	r.use()
	return r.db.NewTransaction(true)
}

func walk(txn *badger.Txn, prefix []byte) *badger.Iterator {
	opt := badger.DefaultIteratorOptions
	opt.Prefix = prefix
	opt.PrefetchValues = false // values are small and lie beside the keys: prefetching costs a goroutine each
	return txn.NewIterator(opt)
}

func items(txn *badger.Txn, prefix []byte) iter.Seq[*badger.Item] {
	return func(yield func(*badger.Item) bool) {
		it := walk(txn, prefix)
		defer it.Close()
		for it.Rewind(); it.Valid() && yield(it.Item()); it.Next() {
		}
	}
}

func get(txn *badger.Txn, k []byte, record any) error {
	return value(txn, k, func(k, v []byte) error { return decode(k, v, record) })
}

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

// valueOf calls f with an item's value. A value missing from the value log, as after a power cut,
// is a damaged record; Badger only logs it and returns no error.
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

type Life struct {
	ID ID
	Discovery
	FoundBy string  // URL of Discovery.From, or of the sitemap
	Queued  *Queued // nil once it left the queue
	Visits  []Visit // by time
	Outcome *Outcome
	Parent  string // URL of the best parent so far
	Page    *Page
	Label   *Label // nil if refine has not seen it
	Mark    *Mark  // nil if nobody marked it, or if several topics share the crawl
	Marks   []Mark `json:",omitempty"` // if topics share the crawl: at most one per topic, in their order
}

// Life returns the history of a normalised URL, or ErrUnknown.
func (u URLs) Life(url string) (*Life, error) {
	l := &Life{}
	err := u.records.view(func(txn *badger.Txn) error {
		seen, err := lookup(txn, HashURL(url))
		if err != nil {
			return err
		}
		if l.ID = seen.ID; l.ID == 0 {
			return fmt.Errorf("%s: %w: no page of the crawl links to it", url, ErrUnknown)
		}
		if err := l.read(txn); err != nil {
			return err
		}
		return l.nameParents(txn)
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

func (l *Life) read(txn *badger.Txn) error {
	id := uint64(l.ID)
	var err error
	l.Visits, err = visitsOf(txn, l.ID)
	err = errors.Join(err, get(txn, numKey(keyDiscovery, id), &l.Discovery), optional(txn, numKey(keyQueued, id), &l.Queued),
		optional(txn, numKey(keyOutcome, id), &l.Outcome), optional(txn, numKey(keyMark, id), &l.Mark), l.readMarks(txn))
	if err != nil {
		return err
	}
	if l.Mark != nil && l.Mark.Gone {
		l.Mark = nil
	}
	if l.Outcome == nil || l.Outcome.Page == 0 {
		return nil
	}
	if err := optional(txn, numKey(keyPage, l.Outcome.Page), &l.Page); err != nil {
		return err
	}
	if l.Page != nil {
		l.Page.Number = l.Outcome.Page
	}
	return optional(txn, numKey(keyLabel, l.Outcome.Page), &l.Label)
}

func (l *Life) readMarks(txn *badger.Txn) error {
	for item := range items(txn, numKey(keyMarkFor, uint64(l.ID))) {
		var m MarkedURL
		err := valueOf(item, item.KeyCopy(nil), func(k, v []byte) (err error) {
			m, err = readMark(k, v)
			return err
		})
		if err != nil {
			return err
		}
		if !m.Gone {
			l.Marks = append(l.Marks, m.Mark)
		}
	}
	return nil
}

func (l *Life) nameParents(txn *badger.Txn) error {
	parent := ID(0)
	switch {
	case l.Queued != nil:
		parent = l.Queued.Parent
	case l.Outcome != nil:
		parent = l.Outcome.Parent
	}
	for _, n := range []struct {
		id  ID
		url *string
	}{{l.From, &l.FoundBy}, {parent, &l.Parent}} {
		if n.id == 0 {
			continue
		}
		var b Discovery
		if err := finding(get(txn, numKey(keyDiscovery, uint64(n.id)), &b)); err != nil {
			return err
		}
		*n.url = b.URL
	}
	if l.Exchange == 0 {
		return nil
	}
	var x Exchange
	err := get(txn, exchangeKey(l.AtHost, l.Exchange), &x)
	if errors.Is(err, ErrUnknown) {
		return nil
	}
	l.FoundBy = x.URL
	return err
}

func optional[T any](txn *badger.Txn, k []byte, record **T) error {
	v := new(T)
	err := get(txn, k, v)
	if errors.Is(err, ErrUnknown) {
		return nil
	}
	if err == nil {
		*record = v
	}
	return err
}

// Known is a URL with its whole journal but without its page. It is valid until the next.
type Known struct {
	ID ID
	Discovery
	Outcome *Outcome
	Visits  []Visit     // by time
	Wires   []Exchanged // exchanges with stored headers; Start and Location come from the visits
}

func (u URLs) Known() iter.Seq2[*Known, error] {
	return u.known(func(*Outcome) bool { return true }, true)
}

// Watched yields the URLs that have a stored page, without headers.
func (u URLs) Watched() iter.Seq2[*Known, error] {
	return u.known(func(f *Outcome) bool { return f != nil && f.HasPage() }, false)
}

// AskedAgain yields, without headers, the URLs that a new crawl would request again: those with a
// stored page and those that may have one now, even if gone. It leaves out duplicates.
func (u URLs) AskedAgain() iter.Seq2[*Known, error] {
	return u.known(func(f *Outcome) bool {
		return f != nil && (f.HasPage() || f.Next != 0 && f.State != "duplicate" || f.State == "code")
	}, false)
}

func (u URLs) known(wanted func(*Outcome) bool, headers bool) iter.Seq2[*Known, error] {
	return seq(u.records, func(txn *badger.Txn, yield func(*Known) bool) error {
		outcomes, visits, wires := alongside(txn, keyOutcome), alongside(txn, keyVisit), alongside(txn, keyWire)
		histories := alongside(txn, keyHistory)
		defer outcomes.it.Close()
		defer visits.it.Close()
		defer histories.it.Close()
		defer wires.it.Close()
		var k Known
		var outcome Outcome
		for item := range items(txn, key(keyDiscovery)) {
			k = Known{Visits: k.Visits[:0], Wires: k.Wires[:0]}
			err := k.readDiscovery(item)
			if err == nil {
				err = outcomes.each(uint64(k.ID), func(key, v []byte) error {
					outcome, k.Outcome = Outcome{}, &outcome
					return decode(key, v, &outcome)
				})
			}
			if err == nil && !wanted(k.Outcome) {
				continue
			}
			if err == nil {
				err = visits.each(uint64(k.ID), k.addVisit)
			}
			if err == nil {
				err = histories.each(uint64(k.ID), k.addHistory)
			}
			if err == nil && headers {
				err = wires.each(uint64(k.ID), k.addWire)
			}
			if err != nil || !yield(&k) {
				return err
			}
		}
		return nil
	})
}

func (k *Known) readDiscovery(item *badger.Item) (err error) {
	at := item.KeyCopy(nil)
	if k.ID, err = idOf(at); err != nil {
		return err
	}
	return valueOf(item, at, func(key, v []byte) error { return decode(key, v, &k.Discovery) })
}

func (k *Known) addVisit(key, v []byte) error {
	var visit Visit
	err := decode(key, v, &visit)
	k.Visits = append(k.Visits, visit)
	return err
}

func (k *Known) addHistory(key, v []byte) (err error) {
	k.Visits, err = appendHistory(k.Visits, key, v)
	inOrder(k.Visits)
	return err
}

func (k *Known) addWire(key, v []byte) (err error) {
	x := Exchanged{URL: k.URL}
	if x.ID, x.Visit, err = wireKeyOf(key); err == nil {
		err = x.read(key, v)
	}
	k.Wires = append(k.Wires, x)
	return err
}

// along walks the records of one kind in step with those of another, by the numbers in their keys.
type along struct {
	it   *badger.Iterator
	kind byte
}

func alongside(txn *badger.Txn, kind byte) along {
	b := along{it: walk(txn, key(kind)), kind: kind}
	b.it.Rewind()
	return b
}

// at moves to the records with number n; numbers must rise from call to call.
func (b along) at(n uint64) (found bool) {
	var room [9]byte
	room[0] = b.kind
	binary.BigEndian.PutUint64(room[1:], n)
	for b.it.Valid() {
		k := b.it.Item().Key()
		if len(k) < len(room) || bytes.Compare(k[:len(room)], room[:]) < 0 {
			b.it.Next()
			continue
		}
		return bytes.Equal(k[:len(room)], room[:])
	}
	return false
}

func (b along) each(n uint64, do func(k, v []byte) error) error {
	for ; b.at(n); b.it.Next() {
		item := b.it.Item()
		if err := valueOf(item, item.KeyCopy(nil), do); err != nil {
			return err
		}
	}
	return nil
}

// Listed is a stored page with its label and size on disk. It is valid until the next.
type Listed struct {
	Page
	Refined *Label
	Packed  int64 // bytes of the body on disk; may be off by one or two for a long body
}

// Listed yields the stored pages in crawl order, without bodies.
func (s *Store) Listed() iter.Seq2[*Listed, error] {
	return seq(s.records, func(txn *badger.Txn, yield func(*Listed) bool) error {
		labels, bodies := alongside(txn, keyLabel), alongside(txn, keyBody)
		defer labels.it.Close()
		defer bodies.it.Close()
		var label Label
		for item := range items(txn, key(keyPage)) {
			at := item.KeyCopy(nil)
			n, err := numOf(at)
			if err != nil {
				return err
			}
			l := Listed{Page: Page{Number: n}}
			if err := valueOf(item, at, func(k, v []byte) error { return decode(k, v, &l.Page) }); err != nil {
				return err
			}
			if l.SameAs != "" {
				continue
			}
			if bodies.at(n) {
				l.Packed = bodies.it.Item().ValueSize()
			}
			err = labels.each(n, func(k, v []byte) error {
				label, l.Refined = Label{}, &label
				return decode(k, v, &label)
			})
			if err != nil {
				return fmt.Errorf("label of page %d: %w", n, err)
			}
			if !yield(&l) {
				return nil
			}
		}
		return nil
	})
}
