package known

import (
	"math"
	"slices"
	"sync"

	"fossick/internal/page"
	"fossick/relevance"
)

// HITS is soft focus with a distiller (Chakrabarti, van den Berg and Dom 1999,
// "Focused crawling: a new approach to topic-specific Web resource discovery").
// A link is worth what its page is on topic. From time to time hubs and
// authorities of the pages so far are found, the links weighed by relevance,
//
//	a(v) = Σ_{u→v} R(u) · h(u)     h(u) = Σ_{u→v} R(v) · a(v),  v fetched
//
// so that the pages that good hubs name are raised. Here every target has the mean of
// its best page's R and of its authority, as a share of the highest of those that
// wait. Only the links of the last pages count, see maxHubPages. Safe for concurrent
// use.
type HITS struct {
	mu      sync.Mutex // guards the rest
	pages   []*hubPage
	ring    int // place of the oldest page, once there are maxHubPages
	at      map[uint64]*hubPage
	targets page.Recent[*hubTarget]
	seen    int
	every   int
	most    float64 // authority of a target that waits
}

// hubPage is a fetched page.
type hubPage struct {
	key       uint64
	relevance float64
	hub       float64
	authority float64
	links     []uint64
}

// hubTarget is a URL that waits.
type hubTarget struct{ best, authority float64 }

const (
	hubRounds   = 10
	hubEvery    = 20      // pages, and a twentieth of those so far
	maxHubPages = 1 << 14 // some 4 MiB of links
)

// NewHITS returns the policy.
func NewHITS() *HITS {
	return &HITS{at: map[uint64]*hubPage{}, targets: page.NewRecent[*hubTarget](maxEvidence), every: hubEvery}
}

// ScorePage takes the page into the graph.
func (h *HITS) ScorePage(p *page.Page, similarity float64) relevance.Score {
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

// add gives up the oldest page for a new one when there are many.
func (h *HITS) add(p *hubPage) {
	h.at[p.key] = p
	if len(h.pages) < maxHubPages {
		h.pages = append(h.pages, p)
		return
	}
	delete(h.at, h.pages[h.ring].key)
	h.pages[h.ring] = p
	h.ring = (h.ring + 1) % maxHubPages
}

// distinctKeys returns the targets of a page, each once, in its order.
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

// distil finds hubs among the pages so far, then the authority of what waits.
func (h *HITS) distil() {
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
			return // no links among the pages: nothing to tell hubs by
		}
		for _, p := range h.pages {
			p.hub /= math.Sqrt(sum)
		}
	}
	h.raise()
}

// spread calls f for each link between pages.
func (h *HITS) spread(f func(from, to *hubPage)) {
	for _, p := range h.pages {
		for _, key := range p.links {
			if to := h.at[key]; to != nil && to != p {
				f(p, to)
			}
		}
	}
}

// raise gives the targets that wait their authority.
func (h *HITS) raise() {
	authority := map[uint64]float64{}
	for _, p := range h.pages {
		for _, key := range p.links {
			if h.at[key] == nil {
				authority[key] += p.relevance * p.hub
			}
		}
	}
	h.most = 0
	for key, a := range authority { // neither the largest nor the copies depend on the order
		if t, ok := h.targets.Peek(key); ok {
			t.authority = a
			h.most = max(h.most, a)
		}
	}
}

// ScoreLinks appends the priority of each link.
func (h *HITS) ScoreLinks(dst []float64, p *page.Page, similarity float64) []float64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range p.Links {
		key := page.Key(p.Links[i].URL)
		if h.at[key] != nil {
			dst = append(dst, 0)
			continue
		}
		t, ok := h.targets.Get(key)
		if !ok {
			t = &hubTarget{}
			h.targets.Put(key, t)
		}
		t.best = max(t.best, similarity)
		dst = append(dst, h.priority(t))
	}
	return dst
}

func (h *HITS) priority(t *hubTarget) float64 { return (t.best + h.share(t)) / 2 }

// share is a target's authority beside the highest.
func (h *HITS) share(t *hubTarget) float64 {
	if h.most == 0 {
		return 0
	}
	return min(1, t.authority/h.most)
}

// Rescore returns the present priority of a target.
func (h *HITS) Rescore(key uint64) (float64, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t, ok := h.targets.Peek(key)
	if !ok {
		return 0, false
	}
	return h.priority(t), true
}
