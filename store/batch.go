package store

import (
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// Batch is a group of changes that become visible, and durable against a kill,
// together. Reads through its methods see its own writes. Not safe for
// concurrent use; end it with Commit or Cancel.
type Batch struct {
	s    *Store
	txn  *badger.Txn
	size int

	stays bool // it has a record that is never removed

	changes *changes // nil where no replica follows
	parcels []parcelChange
}

// Batch begins a group of changes.
func (s *Store) Batch() *Batch {
	return &Batch{s: s, txn: s.records.write()}
}

// MaxBatchBytes is how large Size may grow before a batch should be committed;
// what follows from one exchange always fits on top of it. Badger bounds a
// batch by bytes (4.09 MB at our memtable) and by entries (46,000). This many
// bytes of the smallest records are 6,000 entries. A page of 10,000 new links
// is 30,000 more, of at most 3.7 MB since longer URLs go to the value log.
const MaxBatchBytes = 192 << 10

// leastEntryBytes is what an entry counts at least, so that a batch of keys that are
// deleted has no more of them. OpenToRead allows 6,500.
const leastEntryBytes = 32

// Size returns the bytes put so far, by estimate.
func (b *Batch) Size() int { return b.size }

// Commit writes the batch. After an error the store is as it was before, but for
// ErrDisk: then the batch may be there as a whole.
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

// Cancel drops the batch.
func (b *Batch) Cancel() { b.txn.Discard() }

// Lookup is Store.Lookup that sees the batch's own writes.
func (b *Batch) Lookup(h Hash) (Seen, error) {
	if seen, known := b.s.filter.knows(h); known {
		return seen, nil
	}
	return lookup(b.txn, h) // which may be dropped with the batch: not to be remembered
}

// Queued returns a URL's place in the queue; ErrUnknown when it waits no more.
func (b *Batch) Queued(id ID) (q Queued, err error) {
	return q, get(b.txn, numKey(keyQueued, uint64(id)), &q)
}

// PutSeen enters a URL in the seen-set.
func (b *Batch) PutSeen(h Hash, id ID, skipped bool) error {
	if b.s.filter != nil {
		b.s.filter.add(h) // even if the batch is dropped: it may have more than there is
	}
	return b.set(bytesKey(keySeen, h[:]), seenValue(id, skipped))
}

// PutBirth writes how a URL came to be known.
func (b *Batch) PutBirth(id ID, birth Birth) error { return b.put(numKey(keyBirth, uint64(id)), birth) }

// PutQueued writes a URL's place in the queue.
func (b *Batch) PutQueued(id ID, q Queued) error { return b.put(numKey(keyQueued, uint64(id)), q) }

// PutVisit writes the n-th exchange for a URL, from 1.
func (b *Batch) PutVisit(id ID, n int, v Visit) error { return b.put(visitKey(id, n), v) }

// PutFate ends a URL's wait.
func (b *Batch) PutFate(id ID, f Fate) error {
	if err := b.delete(numKey(keyQueued, uint64(id))); err != nil {
		return err
	}
	return b.put(numKey(keyFate, uint64(id)), f)
}

// Fate returns what became of a URL; ErrUnknown while it waits.
func (b *Batch) Fate(id ID) (f Fate, err error) {
	return f, get(b.txn, numKey(keyFate, uint64(id)), &f)
}

// Unskip takes back the fate of a URL that was skipped and is now wanted.
func (b *Batch) Unskip(h Hash, id ID) error {
	if err := b.delete(numKey(keyFate, uint64(id))); err != nil {
		return err
	}
	return b.PutSeen(h, id, false)
}

// PutPage writes a page under its number, with its compressed body; see
// Store.Compress.
func (b *Batch) PutPage(p *Page, body []byte) error {
	if err := b.set(numKey(keyBody, p.Number), body); err != nil {
		return err
	}
	for _, sum := range p.Sums() {
		b.s.pageFilter.add(contentHash(sum)) // even if the batch is dropped, as in PutSeen
		if err := b.set(bytesKey(keyContent, sum), numKey(keyPage, p.Number)[1:]); err != nil {
			return err
		}
	}
	if err := b.addNear(p.Number, p.Signature); err != nil {
		return err
	}
	return b.put(numKey(keyPage, p.Number), p)
}

// PutHost writes what is known of a host.
func (b *Batch) PutHost(h *Host) error { return b.put(bytesKey(keyHost, []byte(h.Name)), h) }

// PutCounts writes the running totals.
func (b *Batch) PutCounts(c *Counts) error {
	b.stays = true
	return b.put(key(keyCount), c)
}

// PutLabel writes what refine says of page n.
func (b *Batch) PutLabel(n uint64, l Label) error { return b.put(numKey(keyLabel, n), l) }

// PageWith returns the number of the page with this content, 0 when there is none.
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

// forget takes out the checksums by which a page is found, but for those that it keeps.
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

// ErrKey reports a name that no record can have.
var ErrKey = errors.New("not a valid name of a record")

// maxKeyBytes bounds a key. The longest is of a host's name; Badger takes 65,000 bytes, and
// prints all of a longer one.
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

func (b *Batch) delete(k []byte) error {
	b.size += max(len(k), leastEntryBytes)
	if err := b.txn.Delete(k); err != nil {
		return fmt.Errorf("store %s: %w", b.s.dir, err)
	}
	b.changes.delete(k)
	return nil
}

// batches are changes of any number, committed whenever a batch of them is full. The zero
// value but for its store is ready; not safe for concurrent use.
type batches struct {
	s *Store
	b *Batch // nil when there is nothing to commit
}

// add makes changes in the batch that is open.
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

// flush commits what was not committed yet.
func (bs *batches) flush() error {
	b := bs.b
	if bs.b = nil; b == nil {
		return nil
	}
	return b.Commit()
}

// cancel drops what was not committed yet.
func (bs *batches) cancel() {
	if bs.b != nil {
		bs.b.Cancel()
		bs.b = nil
	}
}
