// Package survey says what a survey of parties found: the seed list of the next one.
//
// In: what a crawl has on record, as two streams: URLs from their discovery to their end,
// and stored pages with the URLs they link to. Out: the seeds with their parties, and the
// candidates, which are seeds of hosts that no party has reached (paper E, E1). As a list
// that --seeds reads, as CSV and as JSON Lines.
//
// It knows no store, and each stream is walked once. In memory are four bytes a known URL
// and a record a seed and a host outside.
//
// Start with Find. Files: source.go what is read; find.go the walks; party.go whose party a
// URL is in; candidate.go which hosts become seeds; list.go, table.go what is written.
package survey
