package known

import (
	"sync"

	"fossick/internal/page"
	"fossick/relevance"
)

// OPIC orders by on-line page importance (Abiteboul, Preda and Cobena 2003,
// "Adaptive on-line page importance computation"). Every start page is given
// the same cash. A page that is fetched shares its cash out to the targets of
// its links and has none left. The URL with the most cash is next. It knows of
// no topic. Of a crawl that fetches each page once, the history of cash, which
// the paper turns into an estimate of PageRank, is the cash itself. Safe for
// concurrent use.
type OPIC struct {
	mu      sync.Mutex // guards the rest
	cash    page.Recent[float64]
	fetched page.Recent[struct{}]
}

// NewOPIC returns the policy.
func NewOPIC() *OPIC {
	return &OPIC{cash: page.NewRecent[float64](maxEvidence), fetched: page.NewRecent[struct{}](maxFetched)}
}

// ScorePage returns the similarity.
func (o *OPIC) ScorePage(p *page.Page, similarity float64) relevance.Score {
	o.mu.Lock()
	defer o.mu.Unlock()
	return relevance.Score{Value: similarity, Terms: []relevance.Term{
		{Name: "similarity", Value: similarity, Note: "to the topic; it does not count for its links"},
		{Name: "cash", Value: o.own(page.Key(p.URL)), Note: "that its links share"},
	}}
}

// own is a page's cash: a start page's is 1.
func (o *OPIC) own(key uint64) float64 {
	if c, ok := o.cash.Get(key); ok {
		return c
	}
	return 1
}

// ScoreLinks shares the page's cash out, to each target alike, and appends what
// each has now as c / (1 + c). What goes to pages that were fetched before is lost.
func (o *OPIC) ScoreLinks(dst []float64, p *page.Page, _ float64) []float64 {
	targets := make(map[uint64]bool, len(p.Links)) // whether it has its share
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

// spend takes a page's cash; 0 when it was spent before.
func (o *OPIC) spend(key uint64) float64 {
	if _, again := o.fetched.Get(key); again {
		return 0
	}
	cash := o.own(key)
	o.cash.Remove(key)
	o.fetched.Put(key, struct{}{})
	return cash
}

func (o *OPIC) give(key uint64, share float64) {
	if _, done := o.fetched.Get(key); done {
		return
	}
	if cash, ok := o.cash.Get(key); ok {
		o.cash.Set(key, cash+share)
	} else {
		o.cash.Put(key, share)
	}
}

func (o *OPIC) priority(key uint64) (float64, bool) {
	cash, ok := o.cash.Peek(key)
	return cash / (1 + cash), ok
}

// Rescore returns what a target has now.
func (o *OPIC) Rescore(key uint64) (float64, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.priority(key)
}
