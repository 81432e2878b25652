package crawler

// Question is a page whose label would change the crawl much, stored or not yet fetched.
type Question struct {
	URL         string  // of the page; of one that waits, of a stored page that links to it
	Link        uint64  // of one that waits, its page.Key; else 0
	Probability float64 // that it is on topic, as the crawl sees it now
	Reach       float64 // share of the URLs that come next whose links have words of it, in [0,1]
}

// Asker is a Marker that knows what it would like to be told.
type Asker interface {
	Marker
	// Ask returns up to n pages, the most telling first. Safe for concurrent use.
	Ask(n int) []Question
}
