package journal

import (
	"errors"
	"iter"

	"fossick/internal/page"
	"fossick/store"
)

// disk is a Journal in a store.
type disk struct {
	*store.Store
	places places

	replicate, bodies bool
}

// Replicate lets each commit put its changes into the outbox for a replica, with or without
// bodies.
func (d *disk) Replicate(bodies bool) { d.replicate, d.bodies = true, bodies }

// NewDisk returns the journal in s, which must be open for writing.
func NewDisk(s *store.Store) *disk {
	s.FilterSeen()
	return &disk{Store: s, places: make(places, placesInMemory)}
}

func (d *disk) Discovery(id store.ID) (store.Discovery, error) { return d.Store.URLs().Discovery(id) }

func (d *disk) Waiting(id store.ID) (store.Discovery, store.Queued, error) {
	return d.Store.URLs().Waiting(id)
}

func (d *disk) Waiters() iter.Seq2[store.Waiter, error] { return d.Store.URLs().Waiters() }

func (d *disk) Read(candidate *store.Candidate, stop func() error) (*page.Page, error) {
	body, err := d.Store.Body(candidate.Number)
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

func (d *disk) Batch() Batch {
	b := &diskBatch{Batch: d.Store.Batch(), places: d.places}
	if d.replicate {
		b.replicates = true
		b.Replicate(d.bodies)
	}
	return b
}

// Stored returns the store's batch under b; nil where there is none. Only a refreshed crawl,
// which stores pages anew, needs it.
func Stored(b Batch) *store.Batch {
	if d, ok := b.(*diskBatch); ok {
		return d.Batch
	}
	return nil
}

type diskBatch struct {
	*store.Batch
	places places
	ahead  bool // places may be ahead of the disk

	replicates bool
}

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

func (b *diskBatch) Ended(id store.ID) (string, error) {
	f, err := b.Outcome(id)
	return f.State, err
}

func (b *diskBatch) Discover(h store.Hash, id store.ID, discovery store.Discovery, skipped bool) error {
	if err := b.PutDiscovery(id, discovery); err != nil {
		return err
	}
	return b.PutSeen(h, id, skipped)
}

func (b *diskBatch) Rediscover(id store.ID, discovery store.Discovery) error {
	return b.PutDiscovery(id, discovery)
}

func (b *diskBatch) Queue(id store.ID, q store.Queued) error {
	b.ahead = true
	b.places.put(id, q)
	return b.PutQueued(id, q)
}

func (b *diskBatch) End(id store.ID, f store.Outcome) error {
	b.ahead = true
	b.places.drop(id)
	return b.PutOutcome(id, f)
}

func (b *diskBatch) Requeue(h store.Hash, id store.ID, q store.Queued) error {
	if err := b.Unskip(h, id); err != nil {
		return err
	}
	return b.Queue(id, q)
}

func (b *diskBatch) PutPage(record *store.Page, content Content) error {
	if err := b.Batch.PutPage(record, content.Body); err != nil {
		return err
	}
	return b.PutResources(record.Number, content.Made)
}

func (b *diskBatch) Full() bool { return b.Size() > store.MaxBatchBytes }

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

// putCounts writes the totals and, for a replica, the batch's changes.
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

func (b *diskBatch) Cancel() {
	b.Batch.Cancel()
	if b.ahead {
		clear(b.places)
		b.ahead = false
	}
}

// places caches the URLs queued last, so that a small crawl never reads them from disk: one
// slot for each remainder of the URL's number.
type places []placed

type placed struct {
	id store.ID
	store.Queued
}

const placesInMemory = 1 << 16

func (p places) slot(id store.ID) *placed { return &p[uint64(id)%uint64(len(p))] }

func (p places) put(id store.ID, q store.Queued) { *p.slot(id) = placed{id, q} }

func (p places) get(id store.ID) (store.Queued, bool) {
	slot := p.slot(id)
	return slot.Queued, id != 0 && slot.id == id
}

func (p places) drop(id store.ID) {
	if slot := p.slot(id); slot.id == id {
		*slot = placed{}
	}
}
