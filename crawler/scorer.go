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

// The policies that keep a crawl to parties.
const (
	LinksSite = reading.LinksSite
	LinksHost = reading.LinksHost
)

// Rescorer is a Scorer that learns while the crawl goes on.
type Rescorer = reading.Rescorer

// Redirected is a Scorer that goes by what led to a page.
type Redirected = reading.Redirected

// Teller is a Scorer that learns, and tells another one of the same crawl what.
type Teller = reading.Teller
