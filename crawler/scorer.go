package crawler

import "fossick/crawler/reading"

// Score is what a page turned out to be worth.
type Score = reading.Score

// Scorer orders the crawl; it is all that the crawler knows of relevance.
type Scorer = reading.Scorer

// SitemapScorer is a Scorer that has an opinion of a URL that no fetched page links to.
type SitemapScorer = reading.SitemapScorer

// Scope says which URLs a crawl may visit.
type Scope = reading.Scope

// LinkPolicy says which links are followed, by where they lead.
type LinkPolicy = reading.LinkPolicy

// Rescorer is a Scorer that learns while the crawl goes on.
type Rescorer = reading.Rescorer
