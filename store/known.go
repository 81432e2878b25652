package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/dgraph-io/badger/v4"
)

// Known is a URL with its whole journal, its page apart. It is valid until the next.
type Known struct {
	ID ID
	Birth
	Fate   *Fate       // nil while it waits
	Visits []Visit     // in the order of time
	Wires  []Exchanged // those of which the headers are kept; Start and Location are the visits'
}

// Known yields all URLs in the order of discovery. It walks what is on record of them side
// by side, so it costs one pass.
func (u URLs) Known() iter.Seq2[*Known, error] {
	return u.known(func(*Fate) bool { return true }, true)
}

// Watched is Known of the URLs whose pages are stored, without their headers.
func (u URLs) Watched() iter.Seq2[*Known, error] {
	return u.known(func(f *Fate) bool { return f != nil && f.HasPage() }, false)
}

// AskedAgain is Known of the URLs that a crawl from the start would ask for again, without
// their headers: those whose pages are stored, and those that gave none and may do so by now,
// even where they were gone. A URL that repeats another page is not among them.
func (u URLs) AskedAgain() iter.Seq2[*Known, error] {
	return u.known(func(f *Fate) bool {
		return f != nil && (f.HasPage() || f.Next != 0 && f.State != "duplicate" || f.State == "code")
	}, false)
}

// known yields the URLs that are wanted for what became of them.
func (u URLs) known(wanted func(*Fate) bool, headers bool) iter.Seq2[*Known, error] {
	return func(yield func(*Known, error) bool) {
		err := u.records.view(func(txn *badger.Txn) error {
			fates, visits, wires := alongside(txn, keyFate), alongside(txn, keyVisit), alongside(txn, keyWire)
			histories := alongside(txn, keyHistory)
			defer fates.it.Close()
			defer visits.it.Close()
			defer histories.it.Close()
			defer wires.it.Close()
			var k Known
			var fate Fate
			for item := range items(txn, key(keyBirth)) {
				k = Known{Visits: k.Visits[:0], Wires: k.Wires[:0]}
				err := k.readBirth(item)
				if err == nil {
					err = fates.each(uint64(k.ID), func(key, v []byte) error {
						fate, k.Fate = Fate{}, &fate
						return decode(key, v, &fate)
					})
				}
				if err == nil && !wanted(k.Fate) {
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
				if err != nil {
					return err
				}
				if !yield(&k, nil) {
					return nil
				}
			}
			return nil
		})
		if err != nil {
			yield(nil, err)
		}
	}
}

func (k *Known) readBirth(item *badger.Item) (err error) {
	at := item.KeyCopy(nil)
	if k.ID, err = idOf(at); err != nil {
		return err
	}
	return valueOf(item, at, func(key, v []byte) error { return decode(key, v, &k.Birth) })
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

// along walks the records of a kind beside those of another, by the numbers in their keys.
type along struct {
	it   *badger.Iterator
	kind byte
}

func alongside(txn *badger.Txn, kind byte) along {
	b := along{it: walk(txn, key(kind)), kind: kind}
	b.it.Rewind()
	return b
}

// at goes to the records of a number, which is above those asked for before.
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

// each calls do with the records of a number.
func (b along) each(n uint64, do func(k, v []byte) error) error {
	for ; b.at(n); b.it.Next() {
		item := b.it.Item()
		if err := valueOf(item, item.KeyCopy(nil), do); err != nil {
			return err
		}
	}
	return nil
}

// Listed is a stored page with what lies beside it. It is valid until the next.
type Listed struct {
	Page
	Refined *Label // what refine says; nil where it has not been asked
	Packed  int64  // bytes of the body on disk; off by one or two where it is long
}

// Listed yields the stored pages in the order of the crawl. It reads no body.
func (s *Store) Listed() iter.Seq2[*Listed, error] {
	return func(yield func(*Listed, error) bool) {
		err := s.records.view(func(txn *badger.Txn) error {
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
				if !yield(&l, nil) {
					return nil
				}
			}
			return nil
		})
		if err != nil {
			yield(nil, err)
		}
	}
}
