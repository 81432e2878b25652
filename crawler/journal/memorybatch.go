package journal

import (
	"fmt"
	"maps"
	"slices"

	"fossick/internal/page"
	"fossick/store"
)

// memoryBatch changes URLs at once, and keeps what they were for Cancel. What no method
// of a batch reads waits for Commit.
type memoryBatch struct {
	m      *Memory
	urls   store.ID // that there were before
	pages  int
	hashes []store.Hash // of the URLs that are new
	before []change
	hosts  []*store.Host
	size   int
	over   bool
}

// change is a URL as it was.
type change struct {
	id   store.ID
	url  url
	rare store.Birth // where the URL is unusual
}

// Lookup is as Batch says.
func (b *memoryBatch) Lookup(h store.Hash) (store.Seen, error) {
	b.m.mu.RLock()
	defer b.m.mu.RUnlock()
	return b.m.seen(h), nil
}

// Queued is as Batch says.
func (b *memoryBatch) Queued(id store.ID) (store.Queued, error) {
	_, q, err := b.m.Waiting(id)
	return q, err
}

// Ended is as Batch says.
func (b *memoryBatch) Ended(id store.ID) (string, error) {
	b.m.mu.RLock()
	defer b.m.mu.RUnlock()
	u, err := b.m.urls.get(id)
	if err == nil && u.state < ended {
		err = unknown(id)
	}
	if err != nil {
		return "", err
	}
	return b.m.states[u.state-ended], nil
}

// PageWith is as Batch says.
func (b *memoryBatch) PageWith(checksum []byte) (uint64, error) {
	b.m.mu.RLock()
	defer b.m.mu.RUnlock()
	return b.m.contents[page.Checksum(checksum)], nil
}

// Discover is as Batch says.
func (b *memoryBatch) Discover(h store.Hash, id store.ID, birth store.Birth, skipped bool) error {
	m := b.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if id != m.urls.n+1 {
		return fmt.Errorf("URL %d is discovered after %d", id, m.urls.n)
	}
	m.urls.add(birth, skipped)
	m.ids[h] = id
	b.hashes = append(b.hashes, h)
	b.size += len(birth.URL)
	return nil
}

// Rediscover is as Batch says.
func (b *memoryBatch) Rediscover(id store.ID, birth store.Birth) error {
	b.m.mu.Lock()
	defer b.m.mu.Unlock()
	u, err := b.change(id)
	if err == nil {
		b.m.urls.rebear(id, u, birth)
	}
	return err
}

// change returns a URL to be changed; mu is held.
func (b *memoryBatch) change(id store.ID) (*url, error) {
	u, err := b.m.urls.get(id)
	if err == nil && id <= b.urls {
		b.before = append(b.before, change{id, *u, b.m.urls.rare[id]})
		b.size += chunkURLs / 16
	}
	return u, err
}

// Queue is as Batch says.
func (b *memoryBatch) Queue(id store.ID, q store.Queued) error {
	b.m.mu.Lock()
	defer b.m.mu.Unlock()
	u, err := b.change(id)
	if err == nil {
		u.queue(q)
	}
	return err
}

// End is as Batch says.
func (b *memoryBatch) End(id store.ID, f store.Fate) error {
	m := b.m
	m.mu.Lock()
	defer m.mu.Unlock()
	u, err := b.change(id)
	if err != nil {
		return err
	}
	i := slices.Index(m.states, f.State)
	if i < 0 {
		i = len(m.states)
		m.states = append(m.states, f.State)
	}
	u.state = ended + state(i)
	return nil
}

// Requeue is as Batch says.
func (b *memoryBatch) Requeue(_ store.Hash, id store.ID, q store.Queued) error {
	b.m.mu.Lock()
	defer b.m.mu.Unlock()
	u, err := b.change(id)
	if err == nil {
		u.skipped = false
		u.queue(q)
	}
	return err
}

// PutHost is as Batch says.
func (b *memoryBatch) PutHost(h *store.Host) error {
	m, c := b.m, &store.Host{}
	m.mu.Lock()
	if n := len(m.spare); n > 0 {
		c, m.spare = m.spare[n-1], m.spare[:n-1]
	}
	m.mu.Unlock()
	copyHost(c, h)
	b.hosts = append(b.hosts, c)
	return nil
}

// PutPage is as Batch says.
func (b *memoryBatch) PutPage(record *store.Page, content Content) error {
	m := b.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if record.Number != uint64(len(m.pages))+1 {
		return fmt.Errorf("page %d is stored after %d", record.Number, len(m.pages))
	}
	for _, sum := range record.Sums() {
		m.contents[page.Checksum(sum)] = record.Number
	}
	m.pages = append(m.pages, MemoryPage{content.Page, record})
	return nil
}

// PutVisit keeps nothing.
func (b *memoryBatch) PutVisit(store.ID, int, store.Visit) error { return nil }

// PutWire keeps nothing.
func (b *memoryBatch) PutWire(store.ID, int, store.WireRecord) error { return nil }

// PutExchange keeps nothing.
func (b *memoryBatch) PutExchange(string, uint64, store.Exchange) error { return nil }

// Full is as Batch says.
func (b *memoryBatch) Full() bool { return b.size > store.MaxBatchBytes }

// Commit is as Batch says; it never fails.
func (b *memoryBatch) Commit(counts *store.Counts) error {
	m := b.m
	m.mu.Lock()
	defer m.mu.Unlock()
	b.over = true
	m.hashes, m.before = b.hashes, b.before
	for _, h := range b.hosts {
		if was := m.hosts[h.Name]; was != nil {
			m.spare = append(m.spare, was)
		}
		m.hosts[h.Name] = h
	}
	for _, p := range m.pages[b.pages:] {
		m.nears.Add(p.Record.Number, p.Record.Signature)
	}
	if counts != nil {
		states, codes := m.counts.States, m.counts.Codes
		clear(states)
		clear(codes)
		maps.Copy(states, counts.States)
		maps.Copy(codes, counts.Codes)
		m.counts = *counts
		m.counts.States, m.counts.Codes = states, codes
	}
	return nil
}

// Cancel is as Batch says.
func (b *memoryBatch) Cancel() {
	if b.over {
		return
	}
	b.over = true
	m := b.m
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.pages[b.pages:] {
		for _, sum := range p.Record.Sums() {
			delete(m.contents, page.Checksum(sum))
		}
	}
	m.pages = m.pages[:b.pages]
	for _, h := range b.hashes {
		delete(m.ids, h)
	}
	m.urls.cut(b.urls)
	for _, was := range slices.Backward(b.before) {
		*m.urls.at(was.id) = was.url
		if was.url.unusual {
			m.urls.rare[was.id] = was.rare
		}
	}
}
