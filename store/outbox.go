package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"github.com/dgraph-io/badger/v4"
)

// Outbox is what a crawl of several agents has to tell others, and how far it has heard
// them. A parcel stays until who it is for has it on disk. It is a view of a store.
type Outbox struct{ s *Store }

// OutboxOf returns a store's.
func OutboxOf(s *Store) Outbox { return Outbox{s} }

// OutboxBatch is changes of an outbox, as a part of a batch.
type OutboxBatch struct{ b *Batch }

// OutboxIn returns those of a batch.
func OutboxIn(b *Batch) OutboxBatch { return OutboxBatch{b} }

// Parcel is a message to who has a part of the web, as its sender packed it.
type Parcel struct {
	Part   uint16
	Number uint64 // rising in a store
	Data   []byte
}

// Parcels yields those for a part that have a number above after, in their order.
func (o Outbox) Parcels(part uint16, after uint64) iter.Seq2[Parcel, error] {
	return func(yield func(Parcel, error) bool) {
		gone := o.s.outbox.gone(part)
		err := o.s.records.view(func(txn *badger.Txn) error {
			it := walk(txn, partKey(keyParcel, part))
			defer it.Close()
			for it.Seek(parcelKey(part, max(after, gone)+1)); it.Valid(); it.Next() {
				p, err := parcelOf(it.Item())
				if err != nil {
					return err
				}
				if !yield(p, nil) {
					return nil
				}
			}
			return nil
		})
		if err != nil {
			yield(Parcel{}, err)
		}
	}
}

// Parts yields the parts that parcels wait for, the lowest first.
func (o Outbox) Parts() iter.Seq2[uint16, error] {
	return func(yield func(uint16, error) bool) {
		for s, err := range o.Spans() {
			if !yield(s.Part, err) {
				return
			}
		}
	}
}

// Cursor returns the number of the last parcel of a sender for a part that the store has
// taken in; 0 when there is none.
func (o Outbox) Cursor(part uint16, sender string) (n uint64, err error) {
	err = o.s.records.view(func(txn *badger.Txn) error {
		n, err = cursor(txn, part, sender)
		return err
	})
	return n, err
}

func cursor(txn *badger.Txn, part uint16, sender string) (n uint64, err error) {
	err = value(txn, cursorKey(part, sender), func(k, v []byte) error {
		if len(v) != 8 {
			return fmt.Errorf("store key %q: %w: %d bytes, want 8", k, ErrDamaged, len(v))
		}
		n = binary.BigEndian.Uint64(v)
		return nil
	})
	if errors.Is(err, ErrUnknown) {
		return 0, nil
	}
	return n, err
}

// Put puts a parcel into the outbox under the next number, which counts then have.
func (o OutboxBatch) Put(part uint16, counts *Counts, data []byte) error {
	counts.Parcels++
	return o.b.set(parcelKey(part, counts.Parcels), data)
}

// Drop takes out those for a part up to a number, as many as a batch has room for;
// done is false where there are more.
func (o OutboxBatch) Drop(part uint16, upTo uint64) (done bool, err error) {
	var old [][]byte
	it := walk(o.b.txn, partKey(keyParcel, part))
	defer it.Close()
	last := o.b.s.outbox.gone(part)
	for it.Seek(parcelKey(part, last+1)); it.Valid() && len(old) < maxDropped; it.Next() {
		k := it.Item().KeyCopy(nil)
		n := numberOf(k)
		if n > upTo {
			break
		}
		old, last = append(old, k), n
	}
	if len(old) > 0 {
		o.b.parcels = append(o.b.parcels, parcelChange{part, last, true})
	}
	return len(old) < maxDropped, o.deleteAll(old)
}

// maxDropped is how many keys one batch deletes: well below what Badger takes.
const maxDropped = 4096

func (o OutboxBatch) deleteAll(keys [][]byte) error {
	for _, k := range keys {
		if err := o.b.delete(k); err != nil {
			return err
		}
	}
	return nil
}

// Cursor is Outbox.Cursor that sees the batch's own writes.
func (o OutboxBatch) Cursor(part uint16, sender string) (uint64, error) {
	return cursor(o.b.txn, part, sender)
}

// PutCursor says that the parcels of a sender for a part are taken in up to a number.
func (o OutboxBatch) PutCursor(part uint16, sender string, n uint64) error {
	k := cursorKey(part, sender)
	if !isCursor(k) {
		return fmt.Errorf("store %s: a sender of the name %.40q: %w", o.b.s.dir, sender, ErrKey)
	}
	return o.b.set(k, binary.BigEndian.AppendUint64(nil, n))
}

// trimmedSender is under which name it stands up to where changes were dropped.
const trimmedSender = "trimmed"

// Trimmed returns up to which number the changes for a replica were dropped.
func (o Outbox) Trimmed() (uint64, error) { return o.Cursor(KeeperPart, trimmedSender) }

// DropChanges is Drop of the changes for a replica; it says so for Trimmed.
func (o OutboxBatch) DropChanges(upTo uint64) (done bool, err error) {
	if err := o.PutCursor(KeeperPart, trimmedSender, upTo); err != nil {
		return false, err
	}
	return o.Drop(KeeperPart, upTo)
}

const parcelKeyLen = 1 + 2 + 8

func partKey(kind byte, part uint16) []byte {
	return binary.BigEndian.AppendUint16([]byte{kind}, part)
}

func parcelKey(part uint16, n uint64) []byte {
	return binary.BigEndian.AppendUint64(partKey(keyParcel, part), n)
}

// mostSender bounds a sender's name, in bytes.
const mostSender = 32

// isCursor says whether a key is one of a cursor.
func isCursor(k []byte) bool {
	return len(k) > 3 && len(k) <= 3+mostSender && k[0] == keyCursor
}

func cursorKey(part uint16, sender string) []byte {
	return append(partKey(keyCursor, part), sender...)
}

func parcelOf(item *badger.Item) (p Parcel, err error) {
	err = valueOf(item, item.KeyCopy(nil), func(k, v []byte) error {
		if len(k) != parcelKeyLen {
			return fmt.Errorf("store key %q: %w: want a part and a number", k, ErrDamaged)
		}
		p = Parcel{Part: partOf(k), Number: numberOf(k), Data: append([]byte(nil), v...)}
		return nil
	})
	return p, err
}

// Spans yields, for each part that parcels wait for, the numbers of the first and the last.
func (o Outbox) Spans() iter.Seq2[Span, error] {
	return func(yield func(Span, error) bool) {
		err := o.s.records.view(func(txn *badger.Txn) error {
			spans, err := o.s.outbox.spans(txn)
			for _, s := range spans {
				if s.First = firstParcel(txn, s.Part, s.First); s.First > 0 && !yield(s, nil) {
					break
				}
			}
			return err
		})
		if err != nil {
			yield(Span{}, err)
		}
	}
}

// Span is the numbers of the parcels for a part, both ends among them.
type Span struct {
	Part        uint16
	First, Last uint64
}

// Heard is up to which number a sender's parcels for a part were taken in.
type Heard struct {
	Part   uint16
	Sender string
	Number uint64
}

// Cursors yields how far each sender was heard.
func (o Outbox) Cursors() iter.Seq2[Heard, error] {
	return each(o.s.records, key(keyCursor), func(k, v []byte) (h Heard, err error) {
		return heardOf(k, v)
	})
}

func heardOf(k, v []byte) (h Heard, err error) {
	if !isCursor(k) || len(v) != 8 {
		return h, fmt.Errorf("store key %.40q: %w: want a part, a sender and a number", k, ErrDamaged)
	}
	return Heard{binary.BigEndian.Uint16(k[1:]), string(k[3:]), binary.BigEndian.Uint64(v)}, nil
}

// Holdings are the parts of the web that an agent has, as it writes them down for when it
// starts again.
type Holdings struct {
	Known uint64            `cbor:"1,keyasint,omitempty"` // the highest epoch that it has heard of
	Held  map[uint16]uint64 `cbor:"2,keyasint,omitempty"` // that it got, with their epochs
	Past  map[uint16]uint64 `cbor:"3,keyasint,omitempty"` // that it has no more, with the last epoch

	// Awaits has of those held the agent whose knowledge is still on its way.
	Awaits map[uint16]string `cbor:"4,keyasint,omitempty"`
}

// Holdings returns what was written down last.
func (o Outbox) Holdings() (h Holdings, err error) {
	err = o.s.records.get(key(keyHoldings), &h)
	if errors.Is(err, ErrUnknown) {
		err = nil // a new agent
	}
	return h, err
}

// Arrived notes that what an agent knew of a part is here, if it was awaited from there.
func (o OutboxBatch) Arrived(part uint16, agent string) error {
	k, h := key(keyHoldings), Holdings{}
	err := value(o.b.txn, k, func(k, v []byte) error { return decode(k, v, &h) })
	if errors.Is(err, ErrUnknown) || err == nil && h.Awaits[part] != agent {
		return nil
	}
	if err != nil {
		return err
	}
	delete(h.Awaits, part)
	return o.PutHoldings(h)
}

// PutHoldings writes them down.
func (o OutboxBatch) PutHoldings(h Holdings) error { return o.b.put(key(keyHoldings), h) }
