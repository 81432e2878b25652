package journal

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"fossick/internal/page"
	"fossick/store"
)

// Memory is a Journal that ends with its process, for crawls that are not resumed. It keeps
// only what its methods return, and encodes nothing.
type Memory struct {
	mu       sync.RWMutex // guards the rest
	counts   store.Counts
	urls     []memoryURL // by number, from 1
	ids      map[store.Hash]store.ID
	hosts    map[string]*store.Host
	pages    []memoryPage
	contents map[page.Checksum]uint64 // number of the page
	nears    store.NearIndex
}

// memoryURL is the record of a URL, which is new, waits or has ended.
type memoryURL struct {
	discovery store.Discovery
	queued    store.Queued
	waits     bool
	skipped   bool
	ended     string // its final state; "" for none
}

type memoryPage struct {
	Page   *page.Page
	Record *store.Page
}

// NewMemory returns an empty journal.
func NewMemory() *Memory {
	return &Memory{
		counts:   store.Counts{States: map[string]uint64{}, Codes: map[int]uint64{}},
		urls:     make([]memoryURL, 1),
		ids:      map[store.Hash]store.ID{},
		hosts:    map[string]*store.Host{},
		contents: map[page.Checksum]uint64{},
	}
}

// Pages returns the stored pages by number. It must not be called during a crawl.
func (m *Memory) Pages() []memoryPage { return m.pages }

func (m *Memory) Counts() (store.Counts, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	c := m.counts
	c.States, c.Codes = maps.Clone(c.States), maps.Clone(c.Codes)
	return c, nil
}

func (m *Memory) Host(name string) (*store.Host, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if h := m.hosts[name]; h != nil {
		return copyHost(h), nil
	}
	return &store.Host{Name: name, New: true}, nil
}

func (m *Memory) Hosts() iter.Seq2[*store.Host, error] {
	return func(yield func(*store.Host, error) bool) {
		m.mu.RLock()
		names := slices.Sorted(maps.Keys(m.hosts))
		m.mu.RUnlock()
		for _, name := range names {
			if h, err := m.Host(name); !yield(h, err) {
				return
			}
		}
	}
}

// copyHost shares nothing with h that a crawl changes.
func copyHost(h *store.Host) *store.Host {
	c := *h
	c.New = false
	if c.Cuts = nil; len(h.Cuts) > 0 {
		c.Cuts = maps.Clone(h.Cuts)
	}
	if h.Announced != nil {
		a := *h.Announced
		a.Sources = slices.Clone(a.Sources)
		c.Announced = &a
	}
	if h.Sitemaps != nil {
		s := *h.Sitemaps
		s.Pending, s.Known = slices.Clone(s.Pending), slices.Clone(s.Known)
		c.Sitemaps = &s
	}
	return &c
}

// url returns the record of a URL; mu is held.
func (m *Memory) url(id store.ID) (*memoryURL, error) {
	if id == 0 || uint64(id) >= uint64(len(m.urls)) {
		return nil, unknown(id)
	}
	return &m.urls[id], nil
}

func (m *Memory) Discovery(id store.ID) (store.Discovery, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	u, err := m.url(id)
	if err != nil {
		return store.Discovery{}, err
	}
	return u.discovery, nil
}

func (m *Memory) Waiting(id store.ID) (store.Discovery, store.Queued, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	u, err := m.url(id)
	if err != nil || !u.waits {
		return store.Discovery{}, store.Queued{}, unknown(id)
	}
	return u.discovery, u.queued, nil
}

func (m *Memory) Waiters() iter.Seq2[store.Waiter, error] {
	return func(yield func(store.Waiter, error) bool) {
		m.mu.RLock()
		n := store.ID(len(m.urls))
		m.mu.RUnlock()
		for id := store.ID(1); id < n; id++ {
			discovery, queued, err := m.Waiting(id)
			if err == nil && !yield(store.Waiter{ID: id, Discovery: discovery, Queued: queued}, nil) {
				return
			}
		}
	}
}

func (m *Memory) Lookup(hashes []store.Hash) ([]store.Seen, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	seen := make([]store.Seen, len(hashes))
	for i, h := range hashes {
		seen[i] = m.seen(h)
	}
	return seen, nil
}

func (m *Memory) seen(h store.Hash) store.Seen {
	id := m.ids[h] // 0 has the zero record
	return store.Seen{ID: id, Skipped: m.urls[id].skipped}
}

func (m *Memory) Candidates(signature []byte) ([]store.Candidate, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	numbers := m.nears.Sharing(signature)
	if len(numbers) == 0 {
		return nil, nil
	}
	all := make([]store.Candidate, 0, len(numbers))
	for _, n := range numbers {
		p := m.pages[n-1].Record
		all = append(all, store.Candidate{
			Number: n, URL: p.URL, ContentType: p.ContentType, RobotsTag: p.RobotsTag,
			Checksum: p.Checksum, Title: p.Title, Signature: p.Signature,
		})
	}
	return all, nil
}

func (m *Memory) Read(candidate *store.Candidate, stop func() error) (*page.Page, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if n := candidate.Number; n > 0 && n <= uint64(len(m.pages)) {
		return m.pages[n-1].Page, stop()
	}
	return nil, nil
}

func (m *Memory) Batch() Batch {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return &memoryBatch{m: m, urls: len(m.urls), pages: len(m.pages)}
}

func unknown(id store.ID) error { return fmt.Errorf("URL %d: %w", id, store.ErrUnknown) }

// memoryBatch changes URLs at once, and keeps their old records for Cancel. Changes that no
// method of a batch reads wait for Commit.
type memoryBatch struct {
	m           *Memory
	urls, pages int          // that there were before
	hashes      []store.Hash // of the new URLs
	before      []change
	hosts       []*store.Host
	size        int
	over        bool
}

// change is the old record of a URL.
type change struct {
	id  store.ID
	url memoryURL
}

func (b *memoryBatch) Lookup(h store.Hash) (store.Seen, error) {
	b.m.mu.RLock()
	defer b.m.mu.RUnlock()
	return b.m.seen(h), nil
}

func (b *memoryBatch) Queued(id store.ID) (store.Queued, error) {
	_, q, err := b.m.Waiting(id)
	return q, err
}

func (b *memoryBatch) Ended(id store.ID) (string, error) {
	b.m.mu.RLock()
	defer b.m.mu.RUnlock()
	u, err := b.m.url(id)
	if err != nil || u.ended == "" {
		return "", unknown(id)
	}
	return u.ended, nil
}

func (b *memoryBatch) PageWith(checksum []byte) (uint64, error) {
	b.m.mu.RLock()
	defer b.m.mu.RUnlock()
	return b.m.contents[page.Checksum(checksum)], nil
}

func (b *memoryBatch) Discover(h store.Hash, id store.ID, discovery store.Discovery, skipped bool) error {
	m := b.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if uint64(id) != uint64(len(m.urls)) {
		return fmt.Errorf("URL %d is discovered after %d", id, len(m.urls)-1)
	}
	m.urls = append(m.urls, memoryURL{discovery: discovery, skipped: skipped})
	m.ids[h] = id
	b.hashes = append(b.hashes, h)
	b.size += len(discovery.URL)
	return nil
}

// change applies a change to a URL.
func (b *memoryBatch) change(id store.ID, apply func(u *memoryURL)) error {
	b.m.mu.Lock()
	defer b.m.mu.Unlock()
	u, err := b.m.url(id)
	if err != nil {
		return err
	}
	if int(id) < b.urls {
		b.before = append(b.before, change{id, *u})
		b.size += changeBytes
	}
	apply(u)
	return nil
}

// changeBytes is about how much a change adds to a batch.
const changeBytes = 64

func (b *memoryBatch) Rediscover(id store.ID, discovery store.Discovery) error {
	return b.change(id, func(u *memoryURL) { u.discovery = discovery })
}

func (b *memoryBatch) Queue(id store.ID, q store.Queued) error {
	return b.change(id, func(u *memoryURL) { u.queued, u.waits, u.ended = q, true, "" })
}

func (b *memoryBatch) End(id store.ID, f store.Outcome) error {
	return b.change(id, func(u *memoryURL) { u.waits, u.ended = false, f.State })
}

func (b *memoryBatch) Requeue(_ store.Hash, id store.ID, q store.Queued) error {
	return b.change(id, func(u *memoryURL) { u.queued, u.waits, u.skipped, u.ended = q, true, false, "" })
}

func (b *memoryBatch) PutHost(h *store.Host) error {
	b.hosts = append(b.hosts, copyHost(h))
	return nil
}

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
	m.pages = append(m.pages, memoryPage{content.Page, record})
	return nil
}

func (b *memoryBatch) PutVisit(store.ID, int, store.Visit) error { return nil }

func (b *memoryBatch) PutWire(store.ID, int, store.WireRecord) error { return nil }

func (b *memoryBatch) PutExchange(string, uint64, store.Exchange) error { return nil }

func (b *memoryBatch) Full() bool { return b.size > store.MaxBatchBytes }

func (b *memoryBatch) Commit(counts *store.Counts) error {
	m := b.m
	m.mu.Lock()
	defer m.mu.Unlock()
	b.over = true
	for _, h := range b.hosts {
		m.hosts[h.Name] = h
	}
	for _, p := range m.pages[b.pages:] {
		m.nears.Add(p.Record.Number, p.Record.Signature)
	}
	if counts != nil {
		m.counts = *counts
		m.counts.States, m.counts.Codes = maps.Clone(counts.States), maps.Clone(counts.Codes)
	}
	return nil
}

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
	m.urls = m.urls[:b.urls]
	for _, was := range slices.Backward(b.before) {
		m.urls[was.id] = was.url
	}
}
