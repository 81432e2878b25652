package relevance

import (
	"fossick/internal/page"
	"fossick/models/features"
)

// Policy orders a crawl: it is told of every page that was fetched, and turns its
// links into priorities. similarity says how far the page is on topic, in [0,1]: the
// classifier's probability, or, where there is no model, the page's similarity to the
// keywords. Policies are safe for concurrent use.
type Policy interface {
	// ScorePage takes in that p was fetched. Value of the score is the similarity.
	ScorePage(p *page.Page, similarity float64) Score
	// ScoreLinks appends the priority of each link of p to dst, in [0,1]. It follows
	// ScorePage of the same page.
	ScoreLinks(dst []float64, p *page.Page, similarity float64) []float64
}

// Rescorer is a Policy whose opinion of a target can change after the page that
// named it was scored.
type Rescorer interface {
	Policy
	// Rescore returns the present priority of a target that waits, named by its
	// page.Key; false when nothing is known of it.
	Rescore(key uint64) (priority float64, known bool)
}

// Judge returns the probability that a text is on topic.
type Judge func(features.Doc) float64
