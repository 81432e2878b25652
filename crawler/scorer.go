package crawler

import (
	"fossick/internal/page"
	"fossick/store"
)

// Score is what a page turned out to be worth.
type Score struct {
	Value       float64      // degree of relevance R, in [0,1]
	Terms       []store.Term // how it came about, for why
	Account     []byte       // the same as the scorer keeps it, who spells it out when asked
	Relevant    bool         // on topic: counts for the harvest
	Label       string       // of the model, "" without one
	Probability float64      // of that label
	Rule        string       // why it has that label

	Giver []byte // what another agent's scorer has to know of the page, see page.Excerpt; nil when there is none

	Echo bool // it says hardly more than others like it did, and so earns its pattern nothing

	Topics []store.Verdict // of each topic of a Sharer, whose best one the rest is about; nil of one topic alone
}

// Scorer orders the crawl; it is all that the crawler knows of relevance. Its
// methods are called from many goroutines at once.
type Scorer interface {
	// ScorePage says how far p is on topic. parent is the score of the page
	// whose link led here; a start page's parent has 1 (paper A eq. 1).
	ScorePage(p *page.Page, parent float64) Score
	// ScoreLinks appends the score of each of p.Links, in [0,1], to dst.
	ScoreLinks(dst []float64, p *page.Page, s Score) []float64
}

// SitemapScorer is a Scorer that has an opinion of a URL that no fetched page
// links to. Without it such a URL is worth what the URL is for whose sake the
// host was asked.
type SitemapScorer interface {
	Scorer
	// ScoreUnlinked returns the score of a URL, in [0,1]. parent is the score of
	// the URL for whose sake the host was asked.
	ScoreUnlinked(url string, parent float64) float64
}

// Rescorer is a Scorer that learns while the crawl goes on, so that what it said
// of a link may not be what it says now.
type Rescorer interface {
	Scorer
	// Rescore returns the present score of a waiting URL, named by its page.Key;
	// false when the scorer knows nothing of it.
	Rescore(key uint64) (score float64, known bool)
}

// Redirected is a Scorer that goes by the links that led to a page, also through redirects.
type Redirected interface {
	Scorer
	// Led returns how good the links were that led to a URL, named by its page.Key: for each
	// topic a number in [0,1], 0 where nothing is known.
	Led(url uint64) []float64
	// Lead says what Led returned for a URL that redirects to this one, here or at another
	// agent. It comes before the page at this one is scored.
	Lead(url uint64, led []float64)
}

// sharer is a Scorer of several topics that share a crawl. Its scores have a verdict for
// each, which says what the topic pays for the page.
type sharer interface {
	Scorer
	// Paid says what each topic has paid so far for the pages that are stored.
	Paid(counts []store.TopicCounts)
}

// Teller is a Scorer that learns, and tells another one of the same crawl what. Its methods
// but Share may be called while the crawl goes on.
type Teller interface {
	Scorer
	// Share has the scorer note what it learns from now on. ours says which URLs are asked for
	// here: others are no use to explore.
	Share(ours func(url string) bool)
	// Told returns what it has learned since the last time, or some of it; nil when that is
	// nothing. It is 128 KiB at most.
	Told() []byte
	// ToldSoFar returns all that Told ever has, in parts, for who has heard nothing yet.
	ToldSoFar() [][]byte
	// Hear takes in what another one has told, and says from how many pages that was learned.
	// All of it must be heard, and once.
	Hear(told []byte) (pages uint64, err error)
}

// teller returns the crawl's scorer where it can tell others what it learned.
func (a *Agent) teller() (Teller, bool) {
	t, ok := a.crawl.opt.Scorer.(Teller)
	return t, ok
}

// Told returns what the crawl's scorer has learned since the last time, or some of it; nil
// of one that has nothing to tell.
func (a *Agent) Told() []byte {
	if t, ok := a.teller(); ok {
		return t.Told()
	}
	return nil
}

// ToldBefore returns, in parts, what the scorer has learned until now, before Run: of pages
// of sessions before. Told goes on from there.
func (a *Agent) ToldBefore() (parts [][]byte) {
	t, ok := a.teller()
	if !ok {
		return nil
	}
	for t.Told() != nil {
	}
	parts = t.ToldSoFar()
	t.Share(a.crawl.opt.ours)
	return parts
}

// ToldSoFar returns all that Told ever has, in parts.
func (a *Agent) ToldSoFar() [][]byte {
	if t, ok := a.teller(); ok {
		return t.ToldSoFar()
	}
	return nil
}

// Hear has the crawl's scorer take in what another agent's told, once.
func (a *Agent) Hear(told []byte) error {
	t, ok := a.teller()
	if !ok {
		return nil
	}
	pages, err := t.Hear(told)
	a.crawl.queue.heardPages(pages)
	return err
}
