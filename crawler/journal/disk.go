package journal

import (
	"errors"
	"iter"

	"fossick/internal/page"
	"fossick/store"
)

// Disk is a Journal in a store.
type Disk struct {
	store  *store.Store
	places places

	replicate, bodies bool
}

// Replicate has each commit put its changes into the outbox, for a replica with bodies or
// without.
func (d *Disk) Replicate(bodies bool) { d.replicate, d.bodies = true, bodies }

// NewDisk returns the journal in s, which must be open to be written.
func NewDisk(s *store.Store) *Disk {
	s.FilterSeen()
	return &Disk{store: s, places: make(places, placesInMemory)}
}

// Counts is as Journal says.
func (d *Disk) Counts() (store.Counts, error) { return d.store.Counts() }

// Host is as Journal says.
func (d *Disk) Host(name string) (*store.Host, error) { return d.store.Host(name) }

// Hosts is as Journal says.
func (d *Disk) Hosts() iter.Seq2[*store.Host, error] { return d.store.Hosts() }

// Birth is as Journal says.
func (d *Disk) Birth(id store.ID) (store.Birth, error) { return d.store.URLs().Birth(id) }

// Waiting is as Journal says.
func (d *Disk) Waiting(id store.ID) (store.Birth, store.Queued, error) {
	return d.store.URLs().Waiting(id)
}

// Waiters is as Journal says.
func (d *Disk) Waiters() iter.Seq2[store.Waiter, error] { return d.store.URLs().Waiters() }

// Lookup is as Journal says.
func (d *Disk) Lookup(hashes []store.Hash) ([]store.Seen, error) { return d.store.Lookup(hashes) }

// Candidates is as Journal says.
func (d *Disk) Candidates(signature []byte) ([]store.Candidate, error) {
	return d.store.Candidates(signature)
}

// Read is as Journal says: it parses the stored body.
func (d *Disk) Read(candidate *store.Candidate, stop func() error) (*page.Page, error) {
	body, err := d.store.Body(candidate.Number)
	if errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrUnknown) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p, err := page.Parse(body, page.ParseOptions{
		URL: candidate.URL, ContentType: candidate.ContentType, RobotsTag: candidate.RobotsTag, Stop: stop,
	})
	if over := stop(); over != nil {
		return nil, over
	}
	if err != nil {
		return nil, nil // stored by a build that could read it
	}
	return p, nil
}

// Batch is as Journal says.
func (d *Disk) Batch() Batch {
	b := &diskBatch{Batch: d.store.Batch(), places: d.places}
	if d.replicate {
		b.replicates = true
		b.Replicate(d.bodies)
	}
	return b
}

// Stored returns the batch of the store under b, nil where there is none: for what only
// a crawl with a past has to write, pages that are stored anew.
func Stored(b Batch) *store.Batch {
	if d, ok := b.(*diskBatch); ok {
		return d.Batch
	}
	return nil
}

// diskBatch is a Batch of a store, which has some of the methods already.
type diskBatch struct {
	*store.Batch
	places places
	ahead  bool // places may be ahead of the disk

	replicates bool
}

// Queued is as Batch says.
func (b *diskBatch) Queued(id store.ID) (store.Queued, error) {
	if q, ok := b.places.get(id); ok {
		return q, nil
	}
	q, err := b.Batch.Queued(id)
	if err == nil {
		b.places.put(id, q)
	}
	return q, err
}

// Ended is as Batch says.
func (b *diskBatch) Ended(id store.ID) (string, error) {
	f, err := b.Fate(id)
	return f.State, err
}

// Discover is as Batch says.
func (b *diskBatch) Discover(h store.Hash, id store.ID, birth store.Birth, skipped bool) error {
	if err := b.PutBirth(id, birth); err != nil {
		return err
	}
	return b.PutSeen(h, id, skipped)
}

// Rediscover is as Batch says.
func (b *diskBatch) Rediscover(id store.ID, birth store.Birth) error { return b.PutBirth(id, birth) }

// Queue is as Batch says.
func (b *diskBatch) Queue(id store.ID, q store.Queued) error {
	b.ahead = true
	b.places.put(id, q)
	return b.PutQueued(id, q)
}

// End is as Batch says.
func (b *diskBatch) End(id store.ID, f store.Fate) error {
	b.ahead = true
	b.places.drop(id)
	return b.PutFate(id, f)
}

// Requeue is as Batch says.
func (b *diskBatch) Requeue(h store.Hash, id store.ID, q store.Queued) error {
	if err := b.Unskip(h, id); err != nil {
		return err
	}
	return b.Queue(id, q)
}

// PutPage is as Batch says.
func (b *diskBatch) PutPage(record *store.Page, content Content) error {
	return b.Batch.PutPage(record, content.Body)
}

// Full is as Batch says.
func (b *diskBatch) Full() bool { return b.Size() > store.MaxBatchBytes }

// Commit is as Batch says.
func (b *diskBatch) Commit(counts *store.Counts) error {
	if counts != nil {
		if err := b.putCounts(counts); err != nil {
			return err
		}
	}
	err := b.Batch.Commit()
	if err == nil {
		b.ahead = false
	}
	return err
}

// putCounts puts the totals down, and with them what the batch has changed for a replica.
func (b *diskBatch) putCounts(counts *store.Counts) error {
	if !b.replicates {
		return b.PutCounts(counts)
	}
	counts.Parcels++
	if err := b.PutCounts(counts); err != nil {
		return err
	}
	return store.OutboxIn(b.Batch).PutChanges(counts.Parcels)
}

// Cancel is as Batch says.
func (b *diskBatch) Cancel() {
	b.Batch.Cancel()
	if b.ahead {
		clear(b.places)
		b.ahead = false
	}
}
