package store

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/dgraph-io/badger/v4"
)

// Outbox holds the messages to other agents of a crawl, and how far this agent received theirs. A
// parcel stays until its receiver has stored it on disk. Outbox is a view of a store.
type Outbox struct{ s *Store }

func OutboxOf(s *Store) Outbox { return Outbox{s} }

type OutboxBatch struct{ b *Batch }

func OutboxIn(b *Batch) OutboxBatch { return OutboxBatch{b} }

// Parcel is a batch of messages to the agent that holds a part of the web, encoded by its sender.
type Parcel struct {
	Part   uint16
	Number uint64 // rising in a store
	Data   []byte
}

// Parcels yields the parcels for a part whose numbers exceed after, in order.
func (o Outbox) Parcels(part uint16, after uint64) iter.Seq2[Parcel, error] {
	return seq(o.s.records, func(txn *badger.Txn, yield func(Parcel) bool) error {
		it := walk(txn, partKey(keyParcel, part))
		defer it.Close()
		for it.Seek(parcelKey(part, max(after, o.s.outbox.gone(part))+1)); it.Valid(); it.Next() {
			p, err := parcelOf(it.Item())
			if err != nil || !yield(p) {
				return err
			}
		}
		return nil
	})
}

func (o Outbox) Parts() iter.Seq2[uint16, error] {
	return func(yield func(uint16, error) bool) {
		for s, err := range o.Spans() {
			if !yield(s.Part, err) {
				return
			}
		}
	}
}

// Cursor returns the number of the last parcel for a part received from a sender, or 0.
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

// Put adds a parcel to the outbox under the next number, and counts it.
func (o OutboxBatch) Put(part uint16, counts *Counts, data []byte) error {
	counts.Parcels++
	return o.b.set(parcelKey(part, counts.Parcels), data)
}

// Drop removes the parcels for a part up to a number; done is false if they exceed a batch.
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
	return len(old) < maxDropped, o.b.delete(old...)
}

// maxDropped bounds the keys deleted in one batch, well below Badger's limit.
const maxDropped = 4096

func (o OutboxBatch) Cursor(part uint16, sender string) (uint64, error) {
	return cursor(o.b.txn, part, sender)
}

func (o OutboxBatch) PutCursor(part uint16, sender string, n uint64) error {
	k := cursorKey(part, sender)
	if !isCursor(k) {
		return fmt.Errorf("store %s: a sender of the name %.40q: %w", o.b.s.dir, sender, ErrKey)
	}
	return o.b.set(k, binary.BigEndian.AppendUint64(nil, n))
}

const trimmedSender = "trimmed"

// Trimmed returns the number up to which the changes for a replica were dropped.
func (o Outbox) Trimmed() (uint64, error) { return o.Cursor(KeeperPart, trimmedSender) }

// DropChanges drops the changes for a replica up to a number, and records that for Trimmed.
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

const mostSender = 32

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

// Spans yields the first and last parcel number of each part with waiting parcels.
func (o Outbox) Spans() iter.Seq2[Span, error] {
	return seq(o.s.records, func(txn *badger.Txn, yield func(Span) bool) error {
		spans, err := o.s.outbox.spans(txn)
		for _, s := range spans {
			if s.First = firstParcel(txn, s.Part, s.First); s.First > 0 && !yield(s) {
				break
			}
		}
		return err
	})
}

type Span struct {
	Part        uint16
	First, Last uint64
}

// Received records the last parcel for a part that was received from a sender.
type Received struct {
	Part   uint16
	Sender string
	Number uint64
}

func (o Outbox) Cursors() iter.Seq2[Received, error] {
	return each(o.s.records, key(keyCursor), func(k, v []byte) (h Received, err error) {
		return receivedOf(k, v)
	})
}

func receivedOf(k, v []byte) (h Received, err error) {
	if !isCursor(k) || len(v) != 8 {
		return h, fmt.Errorf("store key %.40q: %w: want a part, a sender and a number", k, ErrDamaged)
	}
	return Received{binary.BigEndian.Uint16(k[1:]), string(k[3:]), binary.BigEndian.Uint64(v)}, nil
}

// Holdings are the parts of the web that an agent holds, stored for its restart.
type Holdings struct {
	Known uint64            `cbor:"1,keyasint,omitempty"` // highest epoch received
	Held  map[uint16]uint64 `cbor:"2,keyasint,omitempty"` // parts held, with their epochs
	Past  map[uint16]uint64 `cbor:"3,keyasint,omitempty"` // parts given up, with their last epochs

	// Awaits names, for held parts, the agent whose records of the part have not arrived yet.
	Awaits map[uint16]string `cbor:"4,keyasint,omitempty"`
}

func (o Outbox) Holdings() (h Holdings, err error) {
	err = o.s.records.get(key(keyHoldings), &h)
	if errors.Is(err, ErrUnknown) {
		err = nil
	}
	return h, err
}

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

func (o OutboxBatch) PutHoldings(h Holdings) error { return o.b.put(key(keyHoldings), h) }

// outboxSpans caches the range of parcel numbers of each part. Badger keeps a tombstone for a
// dropped parcel until a compaction, and iterators read each one; so a search starts behind the
// dropped parcels. It is safe for concurrent use.
type outboxSpans struct {
	mu    sync.Mutex // guards the fields below
	known bool       // parts includes all that the store had when it was opened
	parts map[uint16]parcel
}

// parcel is a part's range: all numbers up to gone were dropped, and none exceeds last.
type parcel struct{ gone, last uint64 }

type parcelChange struct {
	part    uint16
	number  uint64
	dropped bool
}

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

func (o *outboxSpans) gone(part uint16) uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.parts[part].gone
}

// spans returns the ranges by part. First is a lower bound, Last exact. The first call reads all.
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

func firstParcel(txn *badger.Txn, part uint16, from uint64) uint64 {
	it := walk(txn, partKey(keyParcel, part))
	defer it.Close()
	if it.Seek(parcelKey(part, from)); !it.Valid() {
		return 0
	}
	return numberOf(it.Item().Key())
}

func partOf(k []byte) uint16 { return binary.BigEndian.Uint16(k[1:]) }

func numberOf(k []byte) uint64 { return binary.BigEndian.Uint64(k[3:]) }

// Addresses records which parts of the web have sites with hosts at an address, as the agents of a
// crawl find out together. It is a view of a store.
type Addresses struct{ s *Store }

func AddressesOf(s *Store) Addresses { return Addresses{s} }

type AddressesBatch struct{ b *Batch }

func AddressesIn(b *Batch) AddressesBatch { return AddressesBatch{b} }

type Neighbours struct {
	Part  uint16 // part that the address itself belongs to
	Addr  string
	Sites []uint16
	First string // site that owns the address in a crawl with one site per address; else ""
}

// noPart is above all parts; it separates the parts from the site in a record.
const noPart = 0xffff

// Neighbours yields the records of the addresses that belong to a part.
func (a Addresses) Neighbours(part uint16) iter.Seq2[Neighbours, error] {
	return each(a.s.records, partKey(keyAddress, part), neighboursOf)
}

func neighboursOf(k, v []byte) (n Neighbours, err error) {
	if len(k) < 4 {
		return n, fmt.Errorf("store key %q: %w: want a part and an address", k, ErrDamaged)
	}
	n.Part, n.Addr = binary.BigEndian.Uint16(k[1:]), string(k[3:])
	for ; len(v) > 1; v = v[2:] {
		if part := binary.BigEndian.Uint16(v); part != noPart {
			n.Sites = append(n.Sites, part)
			continue
		}
		n.First, v = string(v[2:]), nil
		break
	}
	if len(v) != 0 || len(n.Sites) == 0 {
		return n, fmt.Errorf("store key %q: %w: want parts, and perhaps a site", k, ErrDamaged)
	}
	return n, nil
}

func addressKey(part uint16, addr string) []byte { return append(partKey(keyAddress, part), addr...) }

func (a AddressesBatch) At(part uint16, addr string) (n Neighbours, err error) {
	err = value(a.b.txn, addressKey(part, addr), func(k, v []byte) error {
		n, err = neighboursOf(k, v)
		return err
	})
	if errors.Is(err, ErrUnknown) {
		return Neighbours{Part: part, Addr: addr}, nil
	}
	return n, err
}

func (a AddressesBatch) Put(n Neighbours) error {
	v := make([]byte, 0, 2*len(n.Sites))
	for _, part := range n.Sites {
		v = binary.BigEndian.AppendUint16(v, part)
	}
	if n.First != "" {
		v = append(binary.BigEndian.AppendUint16(v, noPart), n.First...)
	}
	return a.b.set(addressKey(n.Part, n.Addr), v)
}

// Duplicates records which URL is kept for each content shared by several pages, for the contents
// in this agent's parts. It is a view of a store.
type Duplicates struct{ s *Store }

func DuplicatesOf(s *Store) Duplicates { return Duplicates{s} }

type DuplicatesBatch struct{ b *Batch }

func DuplicatesIn(b *Batch) DuplicatesBatch { return DuplicatesBatch{b} }

type Holder struct {
	Part      uint16
	Checksum  []byte
	URL       string
	Signature []byte // of its page; only for a band
}

// Bands returns a name for each band of a signature, as long as a checksum but different from any.
// Pages that share a band must be compared.
func Bands(signature []byte) (names [][]byte) {
	for _, k := range nearKeys(signature) {
		sum := sha256.Sum256(k)
		names = append(names, sum[:len(Hash{})])
	}
	return names
}

func (d Duplicates) Holders(part uint16) iter.Seq2[Holder, error] {
	return each(d.s.records, partKey(keyHolder, part), holderOf)
}

func holderOf(k, v []byte) (Holder, error) {
	if len(k) != holderKeyLen || len(v) == 0 {
		return Holder{}, fmt.Errorf("store key %q: %w: want a part, a checksum and a URL", k, ErrDamaged)
	}
	url, signature, _ := bytes.Cut(v, []byte{0}) // no URL contains a zero byte
	return Holder{binary.BigEndian.Uint16(k[1:]), k[3:], string(url), bytes.Clone(signature)}, nil
}

const holderKeyLen = 1 + 2 + len(Hash{})

// Holder returns the URL kept for a content or a band; its URL is "" if there is none.
func (d DuplicatesBatch) Holder(part uint16, checksum []byte) (h Holder, err error) {
	err = value(d.b.txn, holderKey(part, checksum), func(k, v []byte) error {
		h, err = holderOf(k, v)
		return err
	})
	if errors.Is(err, ErrUnknown) {
		return Holder{}, nil
	}
	return h, err
}

func (d DuplicatesBatch) PutHolder(h Holder) error {
	v := []byte(h.URL)
	if len(h.Signature) > 0 {
		v = append(append(v, 0), h.Signature...)
	}
	return d.b.set(holderKey(h.Part, h.Checksum), v)
}

func holderKey(part uint16, checksum []byte) []byte {
	return append(partKey(keyHolder, part), checksum...)
}

func (d DuplicatesBatch) Page(id ID) (*Page, Outcome, error) {
	f, err := d.b.Outcome(id)
	if err == nil && !f.HasPage() {
		err = ErrUnknown
	}
	if err != nil {
		return nil, f, err
	}
	p := &Page{}
	err = get(d.b.txn, numKey(keyPage, f.Page), p)
	p.Number = f.Page
	return p, f, err
}

// Numbered returns a stored page by its number, and its URL's outcome.
func (d DuplicatesBatch) Numbered(n uint64) (*Page, Outcome, error) {
	p := &Page{}
	if err := get(d.b.txn, numKey(keyPage, n), p); err != nil {
		return nil, Outcome{}, err
	}
	if p.SameAs != "" {
		return nil, Outcome{}, ErrUnknown
	}
	p.Number = n
	f, err := d.b.Outcome(p.ID)
	return p, f, err
}

func (d DuplicatesBatch) Marked(id ID) (bool, error) {
	marked, err := hasKey(d.b.txn, markKey(id, 0))
	if marked || err != nil {
		return marked, err
	}
	for range items(d.b.txn, numKey(keyMarkFor, uint64(id))) {
		return true, nil
	}
	return false, nil
}

// Drop removes a stored page for good because another agent keeps its content under the URL
// sameAs. The record stays, so that its number is not reused. Another page with this content
// counts as new here, since this store cannot know whether the other one survives. The caller
// writes the URL's outcome and the counts.
func (d DuplicatesBatch) Drop(p *Page, sameAs string) error {
	b := d.b
	if err := b.forget(p, func([]byte) bool { return false }); err != nil {
		return err
	}
	if err := b.dropNear(p.Number, p.Signature); err != nil {
		return err
	}
	if err := errors.Join(b.delete(numKey(keyBody, p.Number), numKey(keyLabel, p.Number)), b.dropRank(p.Number), b.dropVersions(p), b.dropWires(p.ID), b.dropResources(p.Number)); err != nil {
		return err
	}
	return b.PutPageRecord(&Page{
		Number: p.Number, ID: p.ID, URL: p.URL, Checksum: p.Checksum, Raw: p.Raw, Depth: p.Depth, At: p.At, Relevant: p.Relevant, SameAs: sameAs,
	})
}
