package store

import (
	"encoding/binary"
	"fmt"
	"iter"
	"net/netip"

	"github.com/dgraph-io/badger/v4"
)

// WireKind says what an answer brought whose header is kept.
type WireKind byte

// The answers whose headers are kept.
const (
	WirePage      WireKind = 1 // the body that is stored
	WireSame      WireKind = 2 // 304: the stored page is as it was
	WireRepeat    WireKind = 3 // a body that is not stored, since a stored page has its content
	WireRedirect  WireKind = 4 // another URL
	lastWireKind           = WireRedirect
	wireDigestLen          = 20
)

// Wire is the header of an exchange both ways, as lines with their ends.
type Wire struct {
	Protocol string     // "http/1.0", "http/1.1", "h2"
	Addr     netip.Addr // of the server; the zero one where it is not known
	Request  []byte
	Response []byte
	Rebuilt  bool // the lines are made of what was known: order and case are not the server's
	Cut      bool // lines at the end are missing
}

// WireRecord is a Wire as a batch takes it; see PackWire.
type WireRecord struct {
	Kind   WireKind
	Digest [wireDigestLen]byte // SHA-1 of the body; kept of a WireRepeat
	Packed []byte
}

// Exchanged is an exchange for a URL of which the headers are kept.
type Exchanged struct {
	ID       ID
	URL      string
	Visit    int // its number, from 1
	Kind     WireKind
	Start    int64 // Unix milliseconds
	Location ID    // where a WireRedirect led; 0 where the crawl did not want to go
	Digest   [wireDigestLen]byte
	Wire
}

// PutWire writes the headers of the n-th exchange for a URL.
func (b *Batch) PutWire(id ID, n int, w WireRecord) error {
	k := visitKey(id, n)
	k[0] = keyWire
	return b.set(k, wireValue(w))
}

// dropWires removes what is kept of a URL's exchanges: the content that they brought is
// gone, and headers may tell of it.
func (b *Batch) dropWires(id ID) error {
	var keys [][]byte
	for item := range items(b.txn, numKey(keyWire, uint64(id))) {
		keys = append(keys, item.KeyCopy(nil))
	}
	for _, k := range keys {
		if err := b.delete(k); err != nil {
			return err
		}
	}
	return nil
}

// Exchanged returns the exchanges for a URL of which the headers are kept, in the order of
// time.
func (u URLs) Exchanged(id ID) (all []Exchanged, err error) {
	err = u.records.view(func(txn *badger.Txn) error {
		var birth Birth
		for item := range items(txn, numKey(keyWire, uint64(id))) {
			if all == nil {
				if err := get(txn, numKey(keyBirth, uint64(id)), &birth); err != nil {
					return err
				}
			}
			x, err := exchanged(txn, item, birth.URL)
			if err != nil {
				return err
			}
			all = append(all, x)
		}
		return nil
	})
	return all, err
}

func exchanged(txn *badger.Txn, item *badger.Item, url string) (x Exchanged, err error) {
	k := item.KeyCopy(nil)
	if x.ID, x.Visit, err = wireKeyOf(k); err != nil {
		return x, err
	}
	x.URL = url
	if err := valueOf(item, k, func(k, v []byte) error { return x.read(k, v) }); err != nil {
		return x, err
	}
	v, err := visitAt(txn, x.ID, x.Visit)
	x.Start, x.Location = v.Start, v.Location
	return x, err
}

// Elsewhere is a URL whose exchanges led to another one's page.
type Elsewhere struct {
	ID    ID
	To    ID   // of a redirect where it led last, else whose page the URL repeats; 0 where neither is known
	Paged bool // it has a page of its own
}

// Elsewhere yields the URLs of which redirects, or repeated pages, are kept, each once, in the
// order of discovery.
func (u URLs) Elsewhere() iter.Seq2[Elsewhere, error] {
	return func(yield func(Elsewhere, error) bool) {
		err := u.records.view(func(txn *badger.Txn) error {
			var e Elsewhere
			for item := range items(txn, key(keyWire)) {
				id, visit, err := wireKeyOf(item.Key())
				kind := WireKind(0)
				if err == nil {
					kind, err = kindOf(item)
				}
				if err == nil && (kind == WireRepeat || kind == WireRedirect) {
					if e.ID != id && e.ID != 0 && !yield(e, nil) {
						return nil
					}
					e, err = elsewhere(txn, id, visit, kind)
				}
				if err != nil {
					return err
				}
			}
			if e.ID != 0 {
				yield(e, nil)
			}
			return nil
		})
		if err != nil {
			yield(Elsewhere{}, err)
		}
	}
}

func kindOf(item *badger.Item) (kind WireKind, err error) {
	k := item.KeyCopy(nil)
	err = valueOf(item, k, func(k, v []byte) error {
		if len(v) < 2 {
			return fmt.Errorf("store key %q: %w: %d bytes", k, ErrDamaged, len(v))
		}
		kind = WireKind(v[1])
		return nil
	})
	return kind, err
}

// elsewhere says where an exchange of a URL led.
func elsewhere(txn *badger.Txn, id ID, visit int, kind WireKind) (e Elsewhere, err error) {
	var f Fate
	e.ID = id
	if err := get(txn, numKey(keyFate, uint64(id)), &f); err != nil {
		return e, finding(err)
	}
	e.Paged = f.HasPage()
	if kind == WireRedirect {
		var v Visit
		v, err = visitAt(txn, id, visit)
		e.To = v.Location
	} else if !e.Paged && f.Page != 0 {
		var p Page
		err = get(txn, numKey(keyPage, f.Page), &p)
		e.To = p.ID
	}
	return e, finding(err)
}

// wireKeyOf takes a key apart.
func wireKeyOf(k []byte) (ID, int, error) {
	if len(k) != 11 {
		return 0, 0, fmt.Errorf("store key %q: %w: %d bytes, want 11", k, ErrDamaged, len(k))
	}
	return ID(binary.BigEndian.Uint64(k[1:9])), int(binary.BigEndian.Uint16(k[9:])), nil
}
