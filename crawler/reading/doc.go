// Package reading makes of a fetched page what a crawl decides by.
//
// In: an answer, and what its URL was asked for. Out: a Page, with text, score, links, their
// scores, the stored page that it repeats, and what the journal knows of the links.
//
// All that takes time happens here, beside the crawl's owner: readings are safe for
// concurrent use, no more go on than there are cores, and none takes longer than its
// budget. Nothing is decided that depends on other pages under way; see package crawler.
//
// Start with New, then Read. Files: reader.go a reading; budget.go what it may cost; near.go
// the stored page that it repeats, latest.go those stored meanwhile; redirect.go where a
// redirect leads; unlinked.go URLs that a sitemap lists; scorer.go who says
// what pages and links are worth; wire.go headers for archives; scope.go and lang.go which are wanted.
package reading
