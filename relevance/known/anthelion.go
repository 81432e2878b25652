package known

import (
	"math"
	"sync"

	"fossick/internal/page"
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
	seen    hostLinks
	links   *bayes
	scratch [2]float64
}

// hostLevels is how many success rates are told apart.
const hostLevels = 1000

// NewAnthelion returns the policy. cut is the similarity from which a page is relevant.
func NewAnthelion(cut float64) *Anthelion {
	return &Anthelion{cut: cut, links: newBayes(2), seen: newHostLinks()}
}

// ScorePage learns from the page and the link that led to it.
func (a *Anthelion) ScorePage(p *page.Page, similarity float64) relevance.Score {
	a.mu.Lock()
	defer a.mu.Unlock()
	terms := []relevance.Term{{Name: "similarity", Value: similarity, Note: "to the topic"}}
	h, t, first := a.seen.arrive(p.URL, similarity >= a.cut)
	if !first {
		return relevance.Score{Value: similarity, Terms: terms}
	}
	terms = append(terms, relevance.Term{Name: "host", Value: h.success(), Note: "share of its pages that were on topic"})
	if t != nil {
		class := 0
		if similarity >= a.cut {
			class = 1
		}
		a.links.learn(t.words, class)
	}
	return relevance.Score{Value: similarity, Terms: terms}
}

// ScoreLinks appends the priority of each link.
func (a *Anthelion) ScoreLinks(dst []float64, p *page.Page, similarity float64) []float64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.seen.score(dst, p, similarity, a.priority)
}

// priority is the level of the target's host, and less than a level for the link.
func (a *Anthelion) priority(t *hostLink) float64 {
	link := t.page
	if a.links.ready() {
		link = softmax(a.links.logs(a.scratch[:0], t.words))[1]
	}
	return (math.Floor(t.host.success()*hostLevels) + link*(1-1e-6)) / (hostLevels + 1)
}

// Rescore returns the present priority of a target.
func (a *Anthelion) Rescore(key uint64) (float64, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.seen.rescore(key, a.priority)
}
