package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math/bits"
	"slices"

	"github.com/dgraph-io/badger/v4"
	"github.com/klauspost/compress/zstd"
)

// Batch is a group of changes that become visible, and survive a kill, together. Its reads see its
// own writes. It is not safe for concurrent use; end it with Commit or Cancel.
type Batch struct {
	s    *Store
	txn  *badger.Txn
	size int

	stays bool // it holds a record that is never removed

	changes *changes // nil without a replica
	parcels []parcelChange
}

func (s *Store) Batch() *Batch {
	return &Batch{s: s, txn: s.records.write()}
}

// MaxBatchBytes is the Size at which to commit; one more exchange always fits. Badger limits a
// batch to 46,000 entries and, at our memtable size, 4.09 MB. The smallest records fill
// MaxBatchBytes with 6,000 entries; a page of 10,000 new links adds 30,000 of at most 3.7 MB.
const MaxBatchBytes = 192 << 10

// leastEntryBytes is the least size counted per entry. It bounds batches of deletions: a store
// from OpenToRead allows 6,500 entries.
const leastEntryBytes = 32

func (b *Batch) Size() int { return b.size }

// Commit writes the batch. An error leaves the store unchanged; with ErrDisk, all may be written.
func (b *Batch) Commit() error {
	if err := b.s.disk.refusal(b.s.db.Failure()); err != nil {
		b.txn.Discard()
		return err
	}
	if err := b.s.upkeep.commit(b.txn, b.size, b.stays); err != nil {
		return err
	}
	b.s.outbox.committed(b.parcels)
	return nil
}

func (b *Batch) Cancel() { b.txn.Discard() }

func (b *Batch) Lookup(h Hash) (Seen, error) {
	if seen, known := b.s.filter.knows(h); known {
		return seen, nil
	}
	return lookup(b.txn, h) // the entry may vanish with the batch, so the filter must not remember it
}

func (b *Batch) Queued(id ID) (q Queued, err error) {
	return q, get(b.txn, numKey(keyQueued, uint64(id)), &q)
}

func (b *Batch) PutSeen(h Hash, id ID, skipped bool) error {
	if b.s.filter != nil {
		b.s.filter.add(h) // safe even if the batch is cancelled: the filter may hold too much
	}
	return b.set(bytesKey(keySeen, h[:]), seenValue(id, skipped))
}

func (b *Batch) PutDiscovery(id ID, discovery Discovery) error {
	return b.put(numKey(keyDiscovery, uint64(id)), discovery)
}

func (b *Batch) PutQueued(id ID, q Queued) error { return b.put(numKey(keyQueued, uint64(id)), q) }

func (b *Batch) PutVisit(id ID, n int, v Visit) error { return b.put(visitKey(id, n), v) }

// PutOutcome writes a URL's outcome and removes it from the queue.
func (b *Batch) PutOutcome(id ID, f Outcome) error {
	if err := b.delete(numKey(keyQueued, uint64(id))); err != nil {
		return err
	}
	return b.put(numKey(keyOutcome, uint64(id)), f)
}

func (b *Batch) Outcome(id ID) (f Outcome, err error) {
	return f, get(b.txn, numKey(keyOutcome, uint64(id)), &f)
}

func (b *Batch) Unskip(h Hash, id ID) error {
	if err := b.delete(numKey(keyOutcome, uint64(id))); err != nil {
		return err
	}
	return b.PutSeen(h, id, false)
}

// PutPage writes a page under its number, with its body compressed by Store.Compress.
func (b *Batch) PutPage(p *Page, body []byte) error {
	if err := b.set(numKey(keyBody, p.Number), body); err != nil {
		return err
	}
	for _, sum := range p.Sums() {
		b.s.pageFilter.add(contentHash(sum))
		if err := b.set(bytesKey(keyContent, sum), numKey(keyPage, p.Number)[1:]); err != nil {
			return err
		}
	}
	if err := b.addNear(p.Number, p.Signature); err != nil {
		return err
	}
	return b.put(numKey(keyPage, p.Number), p)
}

func (b *Batch) PutHost(h *Host) error { return b.put(bytesKey(keyHost, []byte(h.Name)), h) }

func (b *Batch) PutCounts(c *Counts) error {
	b.stays = true
	return b.put(key(keyCount), c)
}

func (b *Batch) PutLabel(n uint64, l Label) error { return b.put(numKey(keyLabel, n), l) }

func (b *Batch) PageWith(checksum []byte) (uint64, error) {
	if b.s.pageFilter.lacks(contentHash(checksum)) {
		return 0, nil
	}
	n, err := pageOf(b.txn, bytesKey(keyContent, checksum))
	if errors.Is(err, ErrUnknown) {
		return 0, nil
	}
	return n, err
}

// forget removes a page's checksums from the index of contents, except those that keeps accepts.
func (b *Batch) forget(p *Page, keeps func(sum []byte) bool) error {
	for _, sum := range p.Sums() {
		n, err := b.PageWith(sum)
		if err != nil && !errors.Is(err, ErrDamaged) {
			return err
		}
		if n == p.Number && !keeps(sum) {
			if err := b.delete(bytesKey(keyContent, sum)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *Batch) put(k []byte, record any) error {
	v, err := encode(record)
	if err != nil {
		return err
	}
	return b.set(k, v)
}

var ErrKey = errors.New("not a valid name of a record")

// maxKeyBytes bounds a key, such as a host's name. Badger takes 65,000 bytes and prints longer
// ones.
const maxKeyBytes = 4096

func (b *Batch) set(k, v []byte) error {
	if len(k) > maxKeyBytes {
		return fmt.Errorf("store %s: key %.40q… of %d bytes: %w", b.s.dir, k, len(k), ErrKey)
	}
	b.size += max(len(k)+len(v), leastEntryBytes)
	if err := b.txn.Set(k, v); err != nil {
		return fmt.Errorf("store %s: %w", b.s.dir, err)
	}
	b.changes.set(k, v)
	if k[0] == keyParcel && len(k) == parcelKeyLen {
		b.parcels = append(b.parcels, parcelChange{partOf(k), numberOf(k), false})
	}
	return nil
}

func (b *Batch) delete(keys ...[]byte) error {
	for _, k := range keys {
		b.size += max(len(k), leastEntryBytes)
		if err := b.txn.Delete(k); err != nil {
			return fmt.Errorf("store %s: %w", b.s.dir, err)
		}
		b.changes.delete(k)
	}
	return nil
}

// batches commits any number of changes in full batches. It is not safe for concurrent use.
type batches struct {
	s *Store
	b *Batch
}

func (bs *batches) add(change func(b *Batch) error) error {
	if bs.b == nil {
		bs.b = bs.s.Batch()
	}
	if err := change(bs.b); err != nil {
		return err
	}
	if bs.b.Size() > MaxBatchBytes {
		return bs.flush()
	}
	return nil
}

func (bs *batches) flush() error {
	b := bs.b
	if bs.b = nil; b == nil {
		return nil
	}
	return b.Commit()
}

func (bs *batches) cancel() {
	if bs.b != nil {
		bs.b.Cancel()
		bs.b = nil
	}
}

// Seen returns when the stored page was last found unchanged, in Unix milliseconds.
func (p *Page) Seen() int64 { return max(p.At, p.Checked) }

type StalePage struct {
	ID   ID
	URL  string
	Next int64 // when a visit may bring news, Unix milliseconds
}

// Stale yields the stored pages not found unchanged since before (Unix milliseconds), by number.
// URLs that no longer give their page are included only if their next visit is due.
func (s *Store) Stale(before, now int64) iter.Seq2[StalePage, error] {
	return func(yield func(StalePage, error) bool) {
		for p, err := range s.Pages() {
			if err == nil && p.Seen() >= before {
				continue
			}
			var f Outcome
			if err == nil {
				err = s.records.get(numKey(keyOutcome, uint64(p.ID)), &f)
			}
			if err != nil {
				yield(StalePage{}, err)
				return
			}
			if f.Stored && (f.Next == 0 || f.Next > now) {
				continue
			}
			if !yield(StalePage{p.ID, p.URL, f.Next}, nil) {
				return
			}
		}
	}
}

func (b *Batch) PutPageRecord(p *Page) error { return b.put(numKey(keyPage, p.Number), p) }

// WithdrawPage deletes a page's content for good: body, title, words and label. The URL, its
// fetches, scores and links remain. The page keeps its number, with an empty body.
func (b *Batch) WithdrawPage(old *Page) error {
	sum := sha256.Sum256([]byte("withdrawn " + old.URL)) // a unique checksum, so that the page equals no other
	p := *old
	p.Withdrawn, p.Checksum, p.Raw, p.Bytes = true, sum[:len(old.Checksum)], nil, 0
	p.Title, p.Terms, p.Account, p.Rule, p.Sketch, p.Signature = "", nil, nil, "", 0, nil
	p.Topics = slices.Clone(old.Topics)
	for i := range p.Topics {
		p.Topics[i].Rule = ""
	}
	p.ETag, p.Modified = "", "" // later requests are unconditional
	p.Versions = 0
	if err := b.dropVersions(old); err != nil {
		return err
	}
	return b.ReplacePage(old, &p, b.s.Compress(nil))
}

// ReplacePage replaces a page's record and content under the same number. It drops the page's
// label, its resources and the headers of the URL's exchanges so far.
func (b *Batch) ReplacePage(old, p *Page, body []byte) error {
	if err := b.forget(old, p.Has); err != nil {
		return err
	}
	if err := b.dropNear(old.Number, old.Signature); err != nil {
		return err
	}
	if err := b.delete(numKey(keyLabel, old.Number)); err != nil {
		return err
	}
	if err := errors.Join(b.dropWires(old.ID), b.dropResources(old.Number)); err != nil {
		return err
	}
	return b.PutPage(p, body)
}

// Version is a former body of a page, with some fields of the page's record of that time.
type Version struct {
	Number      int    `cbor:"-"`
	At          int64  `cbor:"1,keyasint"` // Unix milliseconds
	Until       int64  `cbor:"2,keyasint"` // when another body replaced it
	ContentType string `cbor:"3,keyasint"`
	Title       string `cbor:"4,keyasint"`
	Bytes       int64  `cbor:"5,keyasint"` // of the body, decompressed
	Frame       []byte `cbor:"6,keyasint"` // the body as zstd; the dictionary is the body that replaced it
}

// versionDict is the dictionary ID in every frame.
const versionDict = 1

const minDict = 64

const maxVersions = 1<<16 - 1

// versionKey sorts versions by falling number, because each is unpacked with its successor.
func versionKey(id ID, n int) []byte {
	return binary.BigEndian.AppendUint16(numKey(keyVersion, uint64(id)), uint16(maxVersions-n))
}

// CompressFormer packs a former body with its successor as the dictionary, so that the current
// body stays cheap to read. It is safe for concurrent use.
func CompressFormer(former, current []byte) ([]byte, error) {
	window := 1 << max(10, bits.Len(uint(len(former)+len(current))))
	opts := []zstd.EOption{zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(min(window, zstd.MaxWindowSize)), zstd.WithSingleSegment(true)}
	if len(current) >= minDict {
		opts = append(opts, zstd.WithEncoderDictRaw(versionDict, current))
	}
	enc, err := zstd.NewWriter(nil, opts...)
	if err != nil {
		return nil, fmt.Errorf("store: an earlier body: %w", err)
	}
	return enc.EncodeAll(former, nil), nil
}

func (v *Version) former(current []byte) ([]byte, error) {
	opts := []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(256 << 20)}
	if len(current) >= minDict {
		opts = append(opts, zstd.WithDecoderDictRaw(versionDict, current))
	}
	dec, err := zstd.NewReader(nil, opts...)
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	body, err := dec.DecodeAll(v.Frame, nil)
	if err == nil && int64(len(body)) != v.Bytes {
		err = fmt.Errorf("%d bytes, want %d", len(body), v.Bytes)
	}
	if err != nil {
		return nil, fmt.Errorf("version %d: %w: %w", v.Number, ErrDamaged, err)
	}
	return body, nil
}

// KeepVersion stores a page's former body, packed by CompressFormer, and counts it in the new
// record. Call it before ReplacePage in the same batch. A nil frame means that the body was lost;
// it drops all versions, which cannot be unpacked any more.
func (b *Batch) KeepVersion(old, p *Page, frame []byte) error {
	if frame == nil || old.Versions >= maxVersions {
		return b.dropVersions(old)
	}
	p.Versions = old.Versions + 1
	return b.put(versionKey(old.ID, p.Versions), &Version{
		At: old.At, Until: p.At, ContentType: old.ContentType, Title: old.Title, Bytes: old.Bytes, Frame: frame,
	})
}

func (b *Batch) dropVersions(p *Page) error {
	for n := 1; n <= p.Versions; n++ {
		if err := b.delete(versionKey(p.ID, n)); err != nil {
			return err
		}
	}
	return nil
}

// Former returns the version of a page that was current at a time (Unix milliseconds), with its
// body. It is nil if the present version was current then, or if none was kept.
func (s *Store) Former(p *Page, at int64) (v *Version, body []byte, err error) {
	err = s.db.View(func(txn *badger.Txn) error {
		if body, err = s.codec.body(txn, p.Number); err != nil {
			return err
		}
		v, body, err = former(txn, p, body, at)
		return err
	})
	return v, body, err
}

func former(txn *badger.Txn, p *Page, body []byte, at int64) (found *Version, _ []byte, err error) {
	for n := p.Versions; n > 0; n-- {
		v := &Version{}
		if err := get(txn, versionKey(p.ID, n), v); errors.Is(err, ErrUnknown) {
			break
		} else if err != nil {
			return nil, nil, err
		}
		if v.Until <= at {
			break
		}
		v.Number = n
		if body, err = v.former(body); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", p.URL, err)
		}
		if found = v; v.At <= at {
			break
		}
	}
	if found == nil {
		return nil, nil, nil
	}
	return found, body, nil
}

// versions checks former bodies. It removes an unreadable one with all older ones.
func (in *inspection) versions(ctx context.Context) error {
	of := &Page{}
	var body []byte
	bad := false
	return in.scan(ctx, keyVersion, func(txn *badger.Txn, k, v []byte) error {
		if len(k) != 11 {
			return in.remove(k, "the key of an earlier body is not 11 bytes long")
		}
		id, n := ID(binary.BigEndian.Uint64(k[1:])), maxVersions-int(binary.BigEndian.Uint16(k[9:]))
		if of.ID != id {
			of, bad, body = &Page{ID: id}, false, nil
			var f Outcome
			if get(txn, numKey(keyOutcome, uint64(id)), &f) == nil && f.HasPage() && get(txn, numKey(keyPage, f.Page), of) == nil {
				of.Number = f.Page
				body, _ = in.s.codec.body(txn, of.Number) // pages reports unreadable bodies
			}
			of.ID = id
		}
		var err error
		version := Version{Number: n}
		switch {
		case n > of.Versions:
			return in.remove(k, "an earlier body belongs to no page")
		case bad:
			return in.remove(k, "an earlier body is a difference from a lost body")
		}
		if err = decode(k, v, &version); err == nil {
			version.Number = n
			body, err = version.former(body)
		}
		if err != nil {
			bad = true
			return in.remove(k, "an earlier body of "+of.URL+" cannot be read: "+err.Error())
		}
		return nil
	})
}
