package known

import (
	"math"
	"sync"

	"fossick/internal/recent"
	"fossick/page"
	"fossick/relevance"
)

// Anthelion focuses by host (Meusel, Mika and Blanco 2014, "Focused crawling for
// structured data"). A host is an arm of a bandit. The next URL is of the host with the
// best success rate: of its pages so far the share that was relevant, a host without pages
// being worth 1/2. Within a host an online naive Bayes classifier of links decides, by the
// words of anchor, surroundings and URL; until it has learned, a link is worth what its
// page is.
//
// The paper takes a random host now and then; here the best one is taken always, as in
// its runs with λ = 0. Safe for concurrent use.
type Anthelion struct {
	cut float64

	mu      sync.Mutex // guards the rest
	targets recent.Map[*hostLink]
	fetched recent.Map[struct{}]
	hosts   recent.Map[*hostRate]
	links   *bayes
	scratch [2]float64
}

// hostLink is what is known of a target: its first link and the best page with one.
type hostLink struct {
	words []token
	page  float64
	host  *hostRate
}

// hostRate is what a host gave.
type hostRate struct{ pages, relevant float64 }

// success is Laplace's estimate of the share of relevant pages.
func (h *hostRate) success() float64 { return (h.relevant + 1) / (h.pages + 2) }

// hostLevels is how many success rates are told apart.
const hostLevels = 1000

// NewAnthelion returns the policy. cut is the similarity from which a page is relevant.
func NewAnthelion(cut float64) *Anthelion {
	return &Anthelion{
		cut: cut, links: newBayes(2), targets: recent.New[*hostLink](maxEvidence),
		fetched: recent.New[struct{}](maxFetched), hosts: recent.New[*hostRate](maxHosts),
	}
}

// ScorePage learns from the page and the link that led to it.
func (a *Anthelion) ScorePage(p *page.Page, similarity float64) relevance.Score {
	key := page.Key(p.URL)
	a.mu.Lock()
	defer a.mu.Unlock()
	terms := []relevance.Term{{Name: "similarity", Value: similarity, Note: "to the topic"}}
	if _, again := a.fetched.Get(key); again {
		return relevance.Score{Value: similarity, Terms: terms}
	}
	a.fetched.Put(key, struct{}{})
	h, class := a.host(p.URL), 0
	h.pages++
	if similarity >= a.cut {
		h.relevant++
		class = 1
	}
	terms = append(terms, relevance.Term{Name: "host", Value: h.success(), Note: "share of its pages that were on topic"})
	if t, ok := a.targets.Get(key); ok {
		a.links.learn(t.words, class)
		a.targets.Remove(key)
	}
	return relevance.Score{Value: similarity, Terms: terms}
}

// ScoreLinks appends the priority of each link.
func (a *Anthelion) ScoreLinks(dst []float64, p *page.Page, similarity float64) []float64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range p.Links {
		link := &p.Links[i]
		key := page.Key(link.URL)
		if _, done := a.fetched.Get(key); done {
			dst = append(dst, 0)
			continue
		}
		t, ok := a.targets.Get(key)
		if !ok {
			t = &hostLink{words: linkTokens(nil, link), host: a.host(link.URL)}
			a.targets.Put(key, t)
		}
		t.page = max(t.page, similarity)
		dst = append(dst, a.priority(t))
	}
	return dst
}

// priority is the level of the target's host, and less than a level for the link.
func (a *Anthelion) priority(t *hostLink) float64 {
	link := t.page
	if a.links.ready() {
		link = softmax(a.links.logs(a.scratch[:0], t.words))[1]
	}
	return (math.Floor(t.host.success()*hostLevels) + link*(1-1e-6)) / (hostLevels + 1)
}

func (a *Anthelion) host(url string) *hostRate {
	key := page.Key(page.Host(url))
	h, ok := a.hosts.Get(key)
	if !ok {
		h = &hostRate{}
		a.hosts.Put(key, h)
	}
	return h
}

// Rescore returns the present priority of a target.
func (a *Anthelion) Rescore(key uint64) (float64, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t, ok := a.targets.Peek(key)
	if !ok {
		return 0, false
	}
	return a.priority(t), true
}
