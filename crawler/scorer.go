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
	Overruled   bool         // Relevant is a person's, against the scorer
	Label       string       // the model's label, "" without a model
	Probability float64      // of that label
	Rule        string       // why it has that label

	Introduction []byte // data for another agent's scorer, see page.Excerpt

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

// Learner is a Scorer that exchanges what it learns with those of the other agents. All methods
// but Share may be called during the crawl.
type Learner interface {
	Scorer
	// Share makes the scorer record what it learns from now on. ours says which URLs are asked
	// for here; the others are not worth exploring.
	Share(ours func(url string) bool)
	// Lesson returns what it has learned since the last call, or a part of it, at most 128 KiB;
	// nil if nothing.
	Lesson() []byte
	// Lessons returns all lessons, in parts, for an agent that joins.
	Lessons() [][]byte
	// Learn takes in the result of another scorer's Lesson, and returns from how many pages that
	// was learned. Each result must be passed exactly once.
	Learn(lesson []byte) (pages uint64, err error)
}
