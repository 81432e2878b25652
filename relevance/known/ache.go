package known

import (
	"math"
	"sync"

	"fossick/internal/recent"
	"fossick/page"
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
	targets recent.Map[*acheLink]
	fetched recent.Map[struct{}]
	hosts   recent.Map[*acheHost]
	links   *bayes // what is learned now
	model   *bayes // what scores
	pages   int
	scratch [2]float64
}

// acheLink is what is known of a target: its first link and the best page with one.
type acheLink struct {
	words []token
	page  float64
	host  *acheHost
}

type acheHost struct{ pages float64 }

const (
	acheEvery  = 50 // pages
	acheLevels = 100
)

// NewACHE returns the policy. cut is the similarity from which a page is relevant.
func NewACHE(cut float64) *ACHE {
	return &ACHE{
		cut: cut, links: newBayes(2), targets: recent.New[*acheLink](maxEvidence),
		fetched: recent.New[struct{}](maxFetched), hosts: recent.New[*acheHost](maxHosts),
	}
}

// ScorePage learns from the link that led to p.
func (a *ACHE) ScorePage(p *page.Page, similarity float64) relevance.Score {
	key := page.Key(p.URL)
	a.mu.Lock()
	defer a.mu.Unlock()
	terms := []relevance.Term{{Name: "similarity", Value: similarity, Note: "to the topic"}}
	if _, again := a.fetched.Get(key); again {
		return relevance.Score{Value: similarity, Terms: terms}
	}
	a.fetched.Put(key, struct{}{})
	a.host(p.URL).pages++
	if t, ok := a.targets.Get(key); ok {
		terms = append(terms, relevance.Term{Name: "link", Value: a.worth(t), Note: "that led here, by what links taught so far"})
		class := 0
		if similarity >= a.cut {
			class = 1
		}
		a.links.learn(t.words, class)
		a.targets.Remove(key)
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
	for i := range p.Links {
		link := &p.Links[i]
		key := page.Key(link.URL)
		if _, done := a.fetched.Get(key); done {
			dst = append(dst, 0)
			continue
		}
		t, ok := a.targets.Get(key)
		if !ok {
			t = &acheLink{words: linkTokens(nil, link), host: a.host(link.URL)}
			a.targets.Put(key, t)
		}
		t.page = max(t.page, similarity)
		dst = append(dst, a.priority(t))
	}
	return dst
}

// worth is how likely a link leads to a relevant page.
func (a *ACHE) worth(t *acheLink) float64 {
	if a.model == nil {
		return t.page
	}
	return (t.page + softmax(a.model.logs(a.scratch[:0], t.words))[1]) / 2
}

// priority is the link's level, and less than a level for its host.
func (a *ACHE) priority(t *acheLink) float64 {
	level := math.Floor(a.worth(t) * (acheLevels - 1e-9))
	return (level + 1/(1+t.host.pages)) / (acheLevels + 1)
}

func (a *ACHE) host(url string) *acheHost {
	key := page.Key(page.Host(url))
	h, ok := a.hosts.Get(key)
	if !ok {
		h = &acheHost{}
		a.hosts.Put(key, h)
	}
	return h
}

// Rescore returns the present priority of a target.
func (a *ACHE) Rescore(key uint64) (float64, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t, ok := a.targets.Peek(key)
	if !ok {
		return 0, false
	}
	return a.priority(t), true
}
