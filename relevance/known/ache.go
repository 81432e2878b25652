package known

import (
	"math"
	"sync"

	"fossick/internal/page"
	"fossick/relevance"
)

// ACHE is the policy of the ACHE crawler (Barbosa and Freire 2007, "An adaptive
// crawler for locating hidden-Web entry points", and its public releases, type
// FORWARD_CLASSIFIER_BINARY). A naive Bayes classifier of links goes by the
// words of anchor, surroundings and URL. It learns from the page classifier
// what links led to relevant pages, and is made anew as the crawl goes on.
// Until it has learned, a link is worth what its page is. Links are sorted by
// whole percents, and within one hosts that have given fewest pages come first.
//
// Three things are otherwise than in the releases. There the first links are
// learned after 500 pages, here after 50, for a shorter crawl would never
// learn. There as many bad links are drawn as there are good ones; here all are
// learned, and both classes have the same prior. There the classifier of links
// alone decides once it has learned. Here a link is worth the mean of that and
// of its best page, for alone it falls behind best-first. Safe for concurrent
// use.
type ACHE struct {
	cut float64

	mu      sync.Mutex // guards the rest
	seen    hostLinks
	links   *bayes // what is learned now
	model   *bayes // what scores
	pages   int
	scratch [2]float64
}

const (
	acheEvery  = 50 // pages
	acheLevels = 100
)

// NewACHE returns the policy. cut is the similarity from which a page is relevant.
func NewACHE(cut float64) *ACHE {
	return &ACHE{cut: cut, links: newBayes(2), seen: newHostLinks()}
}

// ScorePage learns from the link that led to p.
func (a *ACHE) ScorePage(p *page.Page, similarity float64) relevance.Score {
	a.mu.Lock()
	defer a.mu.Unlock()
	terms := []relevance.Term{{Name: "similarity", Value: similarity, Note: "to the topic"}}
	_, t, first := a.seen.arrive(p.URL, similarity >= a.cut)
	if !first {
		return relevance.Score{Value: similarity, Terms: terms}
	}
	if t != nil {
		terms = append(terms, relevance.Term{Name: "link", Value: a.worth(t), Note: "that led here, by what links taught so far"})
		class := 0
		if similarity >= a.cut {
			class = 1
		}
		a.links.learn(t.words, class)
	}
	if a.pages++; a.pages%acheEvery == 0 && a.links.ready() {
		a.model = a.links.clone()
	}
	return relevance.Score{Value: similarity, Terms: terms}
}

// ScoreLinks appends the level of each link.
func (a *ACHE) ScoreLinks(dst []float64, p *page.Page, similarity float64) []float64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.seen.score(dst, p, similarity, a.priority)
}

// worth is how likely a link leads to a relevant page.
func (a *ACHE) worth(t *hostLink) float64 {
	if a.model == nil {
		return t.page
	}
	return (t.page + softmax(a.model.logs(a.scratch[:0], t.words))[1]) / 2
}

// priority is the link's level, and less than a level for its host.
func (a *ACHE) priority(t *hostLink) float64 {
	level := math.Floor(a.worth(t) * (acheLevels - 1e-9))
	return (level + 1/(1+t.host.pages)) / (acheLevels + 1)
}

// Rescore returns the present priority of a target.
func (a *ACHE) Rescore(key uint64) (float64, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.seen.rescore(key, a.priority)
}
