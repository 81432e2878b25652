package relevance

import "fossick/page"

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

// WordScorer is a Policy that learns from the words of pages, as Words has them.
type WordScorer interface {
	Policy
	// ScoreWords is ScorePage for a page that was cut into words already, and
	// the words around its links. It may change words and keeps neither.
	ScoreWords(p *page.Page, similarity float64, words []uint32, around *Around) Score
	// Listens appends to dst for which of p's links ScoreWords has a use for the words
	// around.
	Listens(dst []bool, p *page.Page) []bool
}

// Unlinked is a Policy that has an opinion of URLs to which no page links, as those
// that only a sitemap names.
type Unlinked interface {
	Policy
	ScoreUnlinked(url string) float64
}

// Starter is a Policy that learns from start pages that they are what the user wants.
type Starter interface {
	Policy
	// Start says that the page with this page.Key, for which ScorePage is called
	// next, is a start page.
	Start(key uint64)
}
