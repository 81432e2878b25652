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
	urls     urls
	ids      map[store.Hash]store.ID
	states   []string // in which URLs ended
	hosts    map[string]*store.Host
	pages    []memoryPage
	contents map[page.Checksum]uint64 // number of the page
	nears    store.NearIndex

	// Reused from earlier batches.
	hashes []store.Hash
	before []change
	spare  []*store.Host
}

type memoryPage struct {
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
		c := &store.Host{}
		copyHost(c, h)
		return c, nil
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

// copyHost copies h into to, reusing its maps, and shares nothing that a crawl changes.
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

func (m *Memory) Discovery(id store.ID) (store.Discovery, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	u, err := m.urls.get(id)
	if err != nil {
		return store.Discovery{}, err
	}
	return m.urls.discovery(id, u), nil
}

func (m *Memory) Waiting(id store.ID) (store.Discovery, store.Queued, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if w, ok := m.waiter(id); ok {
		return w.Discovery, w.Queued, nil
	}
	return store.Discovery{}, store.Queued{}, unknown(id)
}

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
	return store.Waiter{ID: id, Discovery: m.urls.discovery(id, u), Queued: u.queued()}, true
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
	id := m.ids[h]
	if id == 0 {
		return store.Seen{}
	}
	return store.Seen{ID: id, Skipped: m.urls.at(id).skipped}
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
	m.mu.Lock()
	defer m.mu.Unlock()
	b := &memoryBatch{m: m, urls: m.urls.n, pages: len(m.pages), hashes: m.hashes[:0], before: m.before[:0]}
	m.hashes, m.before = nil, nil
	return b
}

func unknown(id store.ID) error { return fmt.Errorf("URL %d: %w", id, store.ErrUnknown) }

// memoryBatch changes URLs at once, and keeps their old state for Cancel. Changes that no
// method of a batch reads wait for Commit.
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

// change is the old state of a URL.
type change struct {
	id   store.ID
	url  url
	rare store.Discovery // where the URL is unusual
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
	u, err := b.m.urls.get(id)
	if err == nil && u.state < ended {
		err = unknown(id)
	}
	if err != nil {
		return "", err
	}
	return b.m.states[u.state-ended], nil
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
	if id != m.urls.n+1 {
		return fmt.Errorf("URL %d is discovered after %d", id, m.urls.n)
	}
	m.urls.add(discovery, skipped)
	m.ids[h] = id
	b.hashes = append(b.hashes, h)
	b.size += len(discovery.URL)
	return nil
}

func (b *memoryBatch) Rediscover(id store.ID, discovery store.Discovery) error {
	b.m.mu.Lock()
	defer b.m.mu.Unlock()
	u, err := b.change(id)
	if err == nil {
		b.m.urls.rebear(id, u, discovery)
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

func (b *memoryBatch) Queue(id store.ID, q store.Queued) error {
	b.m.mu.Lock()
	defer b.m.mu.Unlock()
	u, err := b.change(id)
	if err == nil {
		u.queue(q)
	}
	return err
}

func (b *memoryBatch) End(id store.ID, f store.Outcome) error {
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

// urls holds the URLs by number from 1. A crawl discovers a hundred for each page that it
// fetches, so a URL has 72 bytes, and growing moves none.
type urls struct {
	chunks [][]url
	n      store.ID
	rare   map[store.ID]store.Discovery // of those that a sitemap named
}

type url struct {
	url              string
	priority, score  float64
	at               int64
	from, parent     uint32
	depth            int32
	visits, excused  uint16
	state            state
	hops             uint8
	via              uint8 // in vias, from 1; 0 where the discovery is rare
	skipped, unusual bool
	also             *[]float64 // as store.Queued has it; nil for none
}

// state is a URL's state: new, waiting, or from ended on an index of Memory.states.
type state uint16

const (
	fresh state = iota
	waits
	ended
)

const chunkURLs = 1024

var vias = []store.Via{"", store.ViaSeed, store.ViaLink, store.ViaRedirect}

func (u *urls) at(id store.ID) *url { return &u.chunks[(id-1)/chunkURLs][(id-1)%chunkURLs] }

func (u *urls) get(id store.ID) (*url, error) {
	if id == 0 || id > u.n {
		return nil, unknown(id)
	}
	return u.at(id), nil
}

func (u *urls) add(b store.Discovery, skipped bool) {
	if u.n%chunkURLs == 0 {
		u.chunks = append(u.chunks, make([]url, chunkURLs))
	}
	u.n++
	*u.at(u.n) = url{url: b.URL, skipped: skipped}
	u.rebear(u.n, u.at(u.n), b)
}

// rebear sets the discovery of a URL.
func (u *urls) rebear(id store.ID, x *url, b store.Discovery) {
	via := slices.Index(vias, b.Via)
	x.from, x.depth, x.hops, x.via, x.at = uint32(b.From), int32(b.Depth), uint8(b.Hops), uint8(max(0, via)), b.At
	x.unusual = via < 1 || b.Exchange != 0 || b.AtHost != "" || b.Modified != 0
	if x.unusual {
		if u.rare == nil {
			u.rare = map[store.ID]store.Discovery{}
		}
		u.rare[id] = b
	}
}

// cut removes the URLs after the first n.
func (u *urls) cut(n store.ID) {
	for id := n + 1; id <= u.n; id++ {
		delete(u.rare, id)
	}
	u.n = n
	u.chunks = u.chunks[:(n+chunkURLs-1)/chunkURLs]
}

func (u *urls) discovery(id store.ID, x *url) store.Discovery {
	if x.unusual {
		return u.rare[id]
	}
	return store.Discovery{
		URL: x.url, From: store.ID(x.from), Via: vias[x.via], Depth: int(x.depth), Hops: int(x.hops), At: x.at,
	}
}

func (x *url) queued() store.Queued {
	q := store.Queued{
		Priority: x.priority, Score: x.score, Parent: store.ID(x.parent), Visits: int(x.visits), Excused: int(x.excused),
	}
	if x.also != nil {
		q.Also = *x.also
	}
	return q
}

func (x *url) queue(q store.Queued) {
	x.state, x.priority, x.score = waits, q.Priority, q.Score
	x.parent, x.visits, x.excused = uint32(q.Parent), uint16(q.Visits), uint16(q.Excused)
	if x.also = nil; len(q.Also) > 0 {
		x.also = &q.Also
	}
}
