// Package priority makes priorities for a frontier out of what clients of the URLFrontier
// API say of URLs, by the scorer of a crawl policy.
//
// In: a crawler.Scorer; URLs with metadata. Out: the priority of each, and what the
// scorer learns from pages that clients put back (docs/machines.md says what they may
// send). It keeps nothing on disk. A Scorer is safe for concurrent use.
//
// Start with New. Files: priority.go links, known.go pages, metadata.go what is read of
// metadata.
package priority
