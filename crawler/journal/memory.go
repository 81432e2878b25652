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

// Memory is a Journal that ends with its process, for crawls that nobody resumes: it
// keeps what its methods give back, and no more. It encodes nothing and copies little.
type Memory struct {
	mu       sync.RWMutex // guards the rest
	counts   store.Counts
	urls     urls
	ids      map[store.Hash]store.ID
	states   []string // in which URLs ended
	hosts    map[string]*store.Host
	pages    []MemoryPage
	contents map[page.Checksum]uint64 // number of the page
	nears    store.NearIndex

	// Of batches before, room for the next ones.
	hashes []store.Hash
	before []change
	spare  []*store.Host
}

// MemoryPage is a page that Memory keeps.
type MemoryPage struct {
	Page   *page.Page
	Record *store.Page
}

// NewMemory returns an empty journal.
func NewMemory() *Memory {
	return &Memory{
		counts:   store.Counts{States: map[string]uint64{}, Codes: map[int]uint64{}},
		ids:      map[store.Hash]store.ID{},
		hosts:    map[string]*store.Host{},
		contents: map[page.Checksum]uint64{},
	}
}

// Pages returns what is stored, by number. It must not be called during a crawl.
func (m *Memory) Pages() []MemoryPage { return m.pages }

// Counts is as Journal says.
func (m *Memory) Counts() (store.Counts, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	c := m.counts
	c.States, c.Codes = maps.Clone(c.States), maps.Clone(c.Codes)
	return c, nil
}

// Host is as Journal says.
func (m *Memory) Host(name string) (*store.Host, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if h := m.hosts[name]; h != nil {
		c := &store.Host{}
		copyHost(c, h)
		return c, nil
	}
	return &store.Host{Name: name, New: true}, nil
}

// Hosts is as Journal says.
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

// copyHost makes to, whose maps may be had, a copy that shares nothing that a crawl
// changes.
func copyHost(to, h *store.Host) {
	cuts := to.Cuts
	*to = *h
	to.New = false
	if to.Cuts = nil; len(h.Cuts) > 0 {
		if clear(cuts); cuts == nil {
			cuts = make(map[string]string, len(h.Cuts))
		}
		maps.Copy(cuts, h.Cuts)
		to.Cuts = cuts
	}
	if h.Announced != nil {
		a := *h.Announced
		a.Sources = slices.Clone(a.Sources)
		to.Announced = &a
	}
	if h.Sitemaps != nil {
		s := *h.Sitemaps
		s.Pending, s.Known = slices.Clone(s.Pending), slices.Clone(s.Known)
		to.Sitemaps = &s
	}
}

// Birth is as Journal says.
func (m *Memory) Birth(id store.ID) (store.Birth, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	u, err := m.urls.get(id)
	if err != nil {
		return store.Birth{}, err
	}
	return m.urls.birth(id, u), nil
}

// Waiting is as Journal says.
func (m *Memory) Waiting(id store.ID) (store.Birth, store.Queued, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if w, ok := m.waiter(id); ok {
		return w.Birth, w.Queued, nil
	}
	return store.Birth{}, store.Queued{}, unknown(id)
}

// Waiters is as Journal says.
func (m *Memory) Waiters() iter.Seq2[store.Waiter, error] {
	return func(yield func(store.Waiter, error) bool) {
		m.mu.RLock()
		n := m.urls.n
		m.mu.RUnlock()
		for id := store.ID(1); id <= n; id++ {
			m.mu.RLock()
			w, ok := m.waiter(id)
			m.mu.RUnlock()
			if ok && !yield(w, nil) {
				return
			}
		}
	}
}

// waiter returns a URL that waits; mu is held.
func (m *Memory) waiter(id store.ID) (w store.Waiter, ok bool) {
	u, err := m.urls.get(id)
	if err != nil || u.state != waits {
		return w, false
	}
	return store.Waiter{ID: id, Birth: m.urls.birth(id, u), Queued: u.queued()}, true
}

// Lookup is as Journal says.
func (m *Memory) Lookup(hashes []store.Hash) ([]store.Seen, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	seen := make([]store.Seen, len(hashes))
	for i, h := range hashes {
		seen[i] = m.seen(h)
	}
	return seen, nil
}

// seen says what is known of a URL; mu is held.
func (m *Memory) seen(h store.Hash) store.Seen {
	id := m.ids[h]
	if id == 0 {
		return store.Seen{}
	}
	return store.Seen{ID: id, Skipped: m.urls.at(id).skipped}
}

// Candidates is as Journal says.
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

// Read is as Journal says.
func (m *Memory) Read(candidate *store.Candidate, stop func() error) (*page.Page, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if n := candidate.Number; n > 0 && n <= uint64(len(m.pages)) {
		return m.pages[n-1].Page, stop()
	}
	return nil, nil
}

// Batch is as Journal says.
func (m *Memory) Batch() Batch {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := &memoryBatch{m: m, urls: m.urls.n, pages: len(m.pages), hashes: m.hashes[:0], before: m.before[:0]}
	m.hashes, m.before = nil, nil
	return b
}

func unknown(id store.ID) error { return fmt.Errorf("URL %d: %w", id, store.ErrUnknown) }
