// Package survey says what a survey of parties found: the seed list of the next one.
//
// In: what a crawl has on record, as two streams: URLs from their discovery to their end,
// and stored pages with the URLs they link to. Out: the seeds with their parties, and the
// candidates, which are URLs that parties link to and none has reached (paper E, E1), or one a
// host. As a list that --seeds reads, as CSV and as JSON Lines.
//
// It knows no store, and each stream is walked once. In memory are eight bytes a known URL
// and a record a seed, and a host outside where these are the candidates; candidates are
// sorted on disk.
//
// Start with Find. Files: source.go what is read; find.go the walks; party.go whose party a
// URL is in; outside.go which URLs become seeds;
// candidate.go which hosts; list.go, table.go what is written.
package survey
