package people

// Question is a stored page whose label would change the crawl much.
type Question struct {
	URL         string
	Probability float64 // that it is on topic, as the crawl sees it now
	Reach       float64 // share of the URLs that come next whose links have words of the page, in [0,1]
}

// Asker is a Marker that knows what it would like to be told.
type Asker interface {
	Marker
	// Ask returns up to n pages, the most telling first. Safe for concurrent use.
	Ask(n int) []Question
}
