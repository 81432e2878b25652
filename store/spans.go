package store

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/dgraph-io/badger/v4"
)

// outboxSpans says between which numbers the parcels of each part are. A parcel that was
// dropped stays in Badger as a mark until a compaction, and an iterator reads each mark. An
// outbox that is emptied from its beginning would read all marks again each time; so a search
// begins behind the parcels that are known to be gone. Safe for concurrent use.
type outboxSpans struct {
	mu    sync.Mutex        // guards all below
	known bool              // parts has all that the store had when it was opened
	parts map[uint16]parcel // by part
}

// parcel is what is known of a part's parcels: all up to gone were dropped, and none is
// above last.
type parcel struct{ gone, last uint64 }

// parcelChange is what a batch does to the parcels of a part: it puts the one of this number,
// or has dropped all up to it.
type parcelChange struct {
	part    uint16
	number  uint64
	dropped bool
}

// committed notes what a batch has changed, in its order.
func (o *outboxSpans) committed(changes []parcelChange) {
	if len(changes) == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range changes {
		o.note(c)
	}
}

func (o *outboxSpans) note(c parcelChange) {
	if o.parts == nil {
		o.parts = map[uint16]parcel{}
	}
	p := o.parts[c.part]
	p.last = max(p.last, c.number)
	if c.dropped {
		p.gone = max(p.gone, c.number)
	}
	o.parts[c.part] = p
}

// gone is up to which number all parcels of a part were dropped, 0 where that is not known.
func (o *outboxSpans) gone(part uint16) uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.parts[part].gone
}

// spans returns between which numbers the parcels are, the lowest part first: First is no
// more than the first, Last is the last. The first call reads what the store had.
func (o *outboxSpans) spans(txn *badger.Txn) (spans []Span, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.known {
		if err := o.read(txn); err != nil {
			return nil, err
		}
		o.known = true
	}
	for part, p := range o.parts {
		if p.gone < p.last {
			spans = append(spans, Span{part, p.gone + 1, p.last})
		}
	}
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Compare(a.Part, b.Part) })
	return spans, nil
}

// read notes the parcels on disk.
func (o *outboxSpans) read(txn *badger.Txn) error {
	for item := range items(txn, key(keyParcel)) {
		k := item.Key()
		if len(k) != parcelKeyLen {
			return fmt.Errorf("store key %q: %w: want a part and a number", k, ErrDamaged)
		}
		o.note(parcelChange{partOf(k), numberOf(k), false})
	}
	return nil
}

// firstParcel returns the number of a part's first parcel from a number on, 0 where there is
// none.
func firstParcel(txn *badger.Txn, part uint16, from uint64) uint64 {
	it := walk(txn, partKey(keyParcel, part))
	defer it.Close()
	if it.Seek(parcelKey(part, from)); !it.Valid() {
		return 0
	}
	return numberOf(it.Item().Key())
}

// partOf is the part of a parcel's key.
func partOf(k []byte) uint16 { return binary.BigEndian.Uint16(k[1:]) }

// numberOf is the number in a parcel's key.
func numberOf(k []byte) uint64 { return binary.BigEndian.Uint64(k[3:]) }
