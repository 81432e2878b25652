package crawler

import (
	"fossick/internal/page"
	"fossick/store"
)

// Score is a scorer's judgement of a page.
type Score struct {
	Value       float64      // degree of relevance R, in [0,1]
	Terms       []store.Term // the terms behind it, for the command why
	Account     []byte       // the same in the scorer's own encoding
	Relevant    bool         // on topic: counts for the harvest
	Label       string       // the model's label, "" without a model
	Probability float64      // of that label
	Rule        string       // why it has that label

	Giver []byte // data for another agent's scorer, see page.Excerpt

	Echo bool // it repeats much of similar pages, so its URL pattern earns nothing

	Topics []store.Verdict // one per topic that shares the crawl; the other fields are those of the best; nil for one topic
}

// Scorer orders the crawl; it is all that the crawler knows of relevance. Its methods must be
// safe for concurrent use.
type Scorer interface {
	// ScorePage returns how far p is on topic. parent is the score of the page whose link led
	// here, 1 for a start page (paper A eq. 1).
	ScorePage(p *page.Page, parent float64) Score
	// ScoreLinks appends the score of each of p.Links, in [0,1], to dst.
	ScoreLinks(dst []float64, p *page.Page, s Score) []float64
}

// SitemapScorer is a Scorer that can score a URL that no fetched page links to. Otherwise such
// a URL gets the score of the URL for which the host was asked.
type SitemapScorer interface {
	Scorer
	// ScoreUnlinked returns the score of a URL, in [0,1]. parent is the score of the URL for
	// which the host was asked.
	ScoreUnlinked(url string, parent float64) float64
}

// Rescorer is a Scorer that learns during the crawl, so that its score of a link may change.
type Rescorer interface {
	Scorer
	// Rescore returns the present score of a waiting URL, named by its page.Key; false if the
	// scorer does not know it.
	Rescore(key uint64) (score float64, known bool)
}

// Redirected is a Scorer that uses the links that led to a page, also through redirects.
type Redirected interface {
	Scorer
	// Led returns how good the links to a URL were, named by its page.Key: for each topic a
	// number in [0,1], 0 if unknown.
	Led(url uint64) []float64
	// Lead passes on the result of Led, here or at another agent, from a URL that redirects to
	// this one. It comes before the target's page is scored.
	Lead(url uint64, led []float64)
}

// sharer is a Scorer of several topics that share a crawl. Its scores have a verdict for each
// topic, which says what the topic pays for the page.
type sharer interface {
	Scorer
	// Paid says what each topic has paid for the stored pages.
	Paid(counts []store.TopicCounts)
}

// Teller is a Scorer that exchanges what it learns with those of the other agents. All methods
// but Share may be called during the crawl.
type Teller interface {
	Scorer
	// Share makes the scorer record what it learns from now on. ours says which URLs are asked
	// for here; the others are not worth exploring.
	Share(ours func(url string) bool)
	// Told returns what it has learned since the last call, or a part of it, at most 128 KiB;
	// nil if nothing.
	Told() []byte
	// ToldSoFar returns all results of Told, in parts, for an agent that joins.
	ToldSoFar() [][]byte
	// Hear takes in the result of another scorer's Told, and returns from how many pages that
	// was learned. Each result must be passed exactly once.
	Hear(told []byte) (pages uint64, err error)
}

// teller returns the crawl's scorer if it is a Teller.
func (a *Agent) teller() (Teller, bool) {
	t, ok := a.crawl.opt.Scorer.(Teller)
	return t, ok
}

// Told returns what the crawl's scorer has learned since the last call, or a part of it; nil
// if nothing.
func (a *Agent) Told() []byte {
	if t, ok := a.teller(); ok {
		return t.Told()
	}
	return nil
}

// ToldBefore returns, in parts, what the scorer has learned before Run from the pages of
// earlier sessions. Told goes on from there.
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

// ToldSoFar returns all results of Told, in parts.
func (a *Agent) ToldSoFar() [][]byte {
	if t, ok := a.teller(); ok {
		return t.ToldSoFar()
	}
	return nil
}

// Hear passes another agent's Told to the crawl's scorer, once.
func (a *Agent) Hear(told []byte) error {
	t, ok := a.teller()
	if !ok {
		return nil
	}
	pages, err := t.Hear(told)
	a.crawl.queue.passes.Heard(pages)
	return err
}
