package known

import (
	"math"
	"slices"
	"sync"

	"fossick/internal/page"
	"fossick/relevance"
)

// hits is soft focus with a distiller (Chakrabarti, van den Berg and Dom 1999, "Focused crawling: a new
// approach to topic-specific Web resource discovery"). A link has its page's relevance R. Periodically,
// hubs and authorities are computed on the fetched pages v, with links weighted by relevance:
//
//	a(v) = Σ_{u→v} R(u) · h(u)     h(u) = Σ_{u→v} R(v) · a(v)
//
// and links from good hubs are raised. Here a target's priority is the mean of its best parent's R and its
// authority, relative to the highest authority in the queue. Only the latest maxHubPages pages count.
// Safe for concurrent use.
type hits struct {
	mu      sync.Mutex // guards the rest
	pages   []*hubPage
	ring    int // index of the oldest page, once full
	at      map[uint64]*hubPage
	targets page.Recent[*hubTarget]
	seen    int
	every   int
	most    float64 // highest authority of a queued target
}

type hubPage struct {
	key       uint64
	relevance float64
	hub       float64
	authority float64
	links     []uint64
}

type hubTarget struct{ best, authority float64 }

const (
	hubRounds   = 10
	hubEvery    = 20      // pages, plus a twentieth of those so far
	maxHubPages = 1 << 14 // about 4 MiB of links
)

// NewHITS returns the policy.
func NewHITS() *hits {
	return &hits{at: map[uint64]*hubPage{}, targets: page.NewRecent[*hubTarget](maxEvidence), every: hubEvery}
}

// ScorePage adds the page to the graph.
func (h *hits) ScorePage(p *page.Page, similarity float64) relevance.Score {
	key := page.Key(p.URL)
	h.mu.Lock()
	defer h.mu.Unlock()
	terms := []relevance.Term{{Name: "similarity", Value: similarity, Note: "to the topic"}}
	if t, ok := h.targets.Get(key); ok {
		terms = append(terms, relevance.Term{Name: "authority", Value: h.share(t), Note: "by the hubs that name it"})
	}
	if h.at[key] != nil {
		return relevance.Score{Value: similarity, Terms: terms}
	}
	h.targets.Remove(key)
	h.add(&hubPage{key: key, relevance: similarity, hub: 1, links: distinctKeys(p)})
	if h.seen++; h.seen >= h.every {
		h.distil()
		h.every = h.seen + max(hubEvery, h.seen/20)
	}
	return relevance.Score{Value: similarity, Terms: terms}
}

// add inserts a page and drops the oldest if there are too many.
func (h *hits) add(p *hubPage) {
	h.at[p.key] = p
	if len(h.pages) < maxHubPages {
		h.pages = append(h.pages, p)
		return
	}
	delete(h.at, h.pages[h.ring].key)
	h.pages[h.ring] = p
	h.ring = (h.ring + 1) % maxHubPages
}

func distinctKeys(p *page.Page) []uint64 {
	keys := make([]uint64, 0, len(p.Links))
	known := make(map[uint64]struct{}, len(p.Links))
	for i := range p.Links {
		key := page.Key(p.Links[i].URL)
		if _, again := known[key]; !again {
			known[key] = struct{}{}
			keys = append(keys, key)
		}
	}
	return slices.Clip(keys)
}

// distil computes hubs, then the authority of queued targets.
func (h *hits) distil() {
	for _, p := range h.pages {
		p.hub = 1
	}
	for range hubRounds {
		for _, p := range h.pages {
			p.authority = 0
		}
		h.spread(func(from, to *hubPage) { to.authority += from.relevance * from.hub })
		for _, p := range h.pages {
			p.hub = 0
		}
		h.spread(func(from, to *hubPage) { from.hub += to.relevance * to.authority })
		sum := 0.0
		for _, p := range h.pages {
			sum += p.hub * p.hub
		}
		if sum == 0 {
			return // no links between fetched pages
		}
		for _, p := range h.pages {
			p.hub /= math.Sqrt(sum)
		}
	}
	h.raise()
}

// spread calls f for each link between fetched pages.
func (h *hits) spread(f func(from, to *hubPage)) {
	for _, p := range h.pages {
		for _, key := range p.links {
			if to := h.at[key]; to != nil && to != p {
				f(p, to)
			}
		}
	}
}

func (h *hits) raise() {
	authority := map[uint64]float64{}
	for _, p := range h.pages {
		for _, key := range p.links {
			if h.at[key] == nil {
				authority[key] += p.relevance * p.hub
			}
		}
	}
	h.most = 0
	for key, a := range authority { // the result does not depend on the order
		if t, ok := h.targets.Peek(key); ok {
			t.authority = a
			h.most = max(h.most, a)
		}
	}
}

// ScoreLinks appends the priority of each link.
func (h *hits) ScoreLinks(dst []float64, p *page.Page, similarity float64) []float64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range p.Links {
		key := page.Key(p.Links[i].URL)
		if h.at[key] != nil {
			dst = append(dst, 0)
			continue
		}
		t := page.Entry(&h.targets, key)
		t.best = max(t.best, similarity)
		dst = append(dst, h.priority(t))
	}
	return dst
}

func (h *hits) priority(t *hubTarget) float64 { return (t.best + h.share(t)) / 2 }

func (h *hits) share(t *hubTarget) float64 {
	if h.most == 0 {
		return 0
	}
	return min(1, t.authority/h.most)
}

// Rescore returns the current priority of a target.
func (h *hits) Rescore(key uint64) (float64, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t, ok := h.targets.Peek(key)
	if !ok {
		return 0, false
	}
	return h.priority(t), true
}

// opic orders by on-line page importance (Abiteboul, Preda and Cobena 2003, "Adaptive on-line page
// importance computation"). Every start page has the same cash. A fetched page divides its cash among the
// targets of its links, and the URL with most cash is next. The paper estimates PageRank from the history
// of cash; as each page is fetched once, the history is the cash itself. Safe for concurrent use.
type opic struct {
	mu      sync.Mutex // guards the rest
	cash    page.Recent[float64]
	fetched page.Recent[struct{}]
}

// NewOPIC returns the policy.
func NewOPIC() *opic {
	return &opic{cash: page.NewRecent[float64](maxEvidence), fetched: page.NewRecent[struct{}](maxFetched)}
}

// ScorePage returns the similarity.
func (o *opic) ScorePage(p *page.Page, similarity float64) relevance.Score {
	o.mu.Lock()
	defer o.mu.Unlock()
	return relevance.Score{Value: similarity, Terms: []relevance.Term{
		{Name: "similarity", Value: similarity, Note: "to the topic; it does not count for its links"},
		{Name: "cash", Value: o.own(page.Key(p.URL)), Note: "that its links share"},
	}}
}

// own is a page's cash; a start page has 1.
func (o *opic) own(key uint64) float64 {
	if c, ok := o.cash.Get(key); ok {
		return c
	}
	return 1
}

// ScoreLinks divides the page's cash equally among its targets, and appends c / (1 + c) for each target's
// cash c. Cash for already fetched pages is lost.
func (o *opic) ScoreLinks(dst []float64, p *page.Page, _ float64) []float64 {
	targets := make(map[uint64]bool, len(p.Links)) // true once it has its share
	for i := range p.Links {
		targets[page.Key(p.Links[i].URL)] = false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	share := o.spend(page.Key(p.URL)) / float64(max(1, len(targets)))
	for i := range p.Links {
		key := page.Key(p.Links[i].URL)
		if !targets[key] {
			targets[key] = true
			o.give(key, share)
		}
		priority, _ := o.priority(key)
		dst = append(dst, priority)
	}
	return dst
}

// spend takes a page's cash; 0 if it was spent before.
func (o *opic) spend(key uint64) float64 {
	if _, again := o.fetched.Get(key); again {
		return 0
	}
	cash := o.own(key)
	o.cash.Remove(key)
	o.fetched.Put(key, struct{}{})
	return cash
}

func (o *opic) give(key uint64, share float64) {
	if _, done := o.fetched.Get(key); done {
		return
	}
	if cash, ok := o.cash.Get(key); ok {
		o.cash.Set(key, cash+share)
	} else {
		o.cash.Put(key, share)
	}
}

func (o *opic) priority(key uint64) (float64, bool) {
	cash, ok := o.cash.Peek(key)
	return cash / (1 + cash), ok
}

// Rescore returns the current priority of a target.
func (o *opic) Rescore(key uint64) (float64, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.priority(key)
}

// linkPolicy is the part that ACHE and Anthelion share: waiting targets, fetched pages, the yields of
// hosts, and a classifier that learns which links led to relevant pages.
type linkPolicy struct {
	cut  float64                 // the similarity of a relevant page
	rank func(*hostLink) float64 // priority of a target

	mu      sync.Mutex // guards the rest
	targets page.Recent[*hostLink]
	fetched page.Recent[struct{}]
	hosts   page.Recent[*hostYield]
	links   *bayes
	scratch [2]float64
}

// hostLink is a target's first link and best parent.
type hostLink struct {
	words []token
	page  float64
	host  *hostYield
}

type hostYield struct{ pages, relevant float64 }

// success is Laplace's estimate of the share of relevant pages.
func (h *hostYield) success() float64 { return (h.relevant + 1) / (h.pages + 2) }

func newLinkPolicy(cut float64) linkPolicy {
	return linkPolicy{cut: cut, links: newBayes(2), targets: page.NewRecent[*hostLink](maxEvidence),
		fetched: page.NewRecent[struct{}](maxFetched), hosts: page.NewRecent[*hostYield](maxHosts)}
}

// arrive records a fetched page, removes it from the targets, and learns from the link that led there. It
// returns the host and that link, or nil. first is false for a page seen before, which is not counted
// again.
func (m *linkPolicy) arrive(url string, similarity float64) (h *hostYield, t *hostLink, first bool) {
	key := page.Key(url)
	if _, again := m.fetched.Get(key); again {
		return nil, nil, false
	}
	m.fetched.Put(key, struct{}{})
	h = m.host(url)
	class := 0
	if h.pages++; similarity >= m.cut {
		h.relevant++
		class = 1
	}
	if t, _ = m.targets.Get(key); t != nil {
		m.targets.Remove(key)
		m.links.learn(t.words, class)
	}
	return h, t, true
}

// ScoreLinks appends the priority of each link of p, 0 for fetched pages.
func (m *linkPolicy) ScoreLinks(dst []float64, p *page.Page, similarity float64) []float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range p.Links {
		link := &p.Links[i]
		key := page.Key(link.URL)
		if _, done := m.fetched.Get(key); done {
			dst = append(dst, 0)
			continue
		}
		t, ok := m.targets.Get(key)
		if !ok {
			t = &hostLink{words: linkTokens(nil, link), host: m.host(link.URL)}
			m.targets.Put(key, t)
		}
		t.page = max(t.page, similarity)
		dst = append(dst, m.rank(t))
	}
	return dst
}

func (m *linkPolicy) host(url string) *hostYield {
	return page.Entry(&m.hosts, page.Key(page.Host(url)))
}

// Rescore returns the current priority of a target.
func (m *linkPolicy) Rescore(key uint64) (float64, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t, ok := m.targets.Peek(key)
	if !ok {
		return 0, false
	}
	return m.rank(t), true
}

// Random fetches any queued URL with equal probability, as a baseline. Priorities are hashes of URL, seed
// and round, and a new round starts with each rescoring of the queue, so age gives no advantage.
type Random struct {
	seed uint64

	mu    sync.Mutex
	round uint64
	asked bool // the queue was rescored in this round
}

// NewRandom returns a policy with a seed.
func NewRandom(seed uint64) *Random { return &Random{seed: seed} }

// ScorePage returns the similarity and may begin a new round.
func (r *Random) ScorePage(_ *page.Page, similarity float64) relevance.Score {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked {
		r.asked = false
		r.round++
	}
	return relevance.Score{Value: similarity, Terms: []relevance.Term{{Name: "similarity", Value: similarity, Note: "to the topic; links are drawn at random"}}}
}

// ScoreLinks appends a random number for every link.
func (r *Random) ScoreLinks(dst []float64, p *page.Page, _ float64) []float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range p.Links {
		dst = append(dst, r.draw(page.Key(p.Links[i].URL)))
	}
	return dst
}

// Rescore draws again.
func (r *Random) Rescore(key uint64) (float64, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.asked { // first rescoring in this round: draw all anew
		r.asked = true
		r.round++
	}
	return r.draw(key), true
}

// draw returns a number in [0,1) that depends only on key, seed and round.
func (r *Random) draw(key uint64) float64 {
	x := key ^ r.seed*0x9e3779b97f4a7c15 ^ r.round*0xd1b54a32d192ed03
	x ^= x >> 30 // splitmix64
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	x ^= x >> 31
	return float64(x>>11) / (1 << 53)
}

// Capacities of each half: half a million targets of about 100 bytes, half a million fetched pages and
// 130,000 hosts; in all less than 100 MiB.
const (
	maxEvidence = 1 << 18
	maxFetched  = 1 << 18
	maxHosts    = 1 << 16
)
