// Package traps knows where a crawl gains nothing: URLs, hosts and sites without end.
//
// In: what came back from each URL (a page, a duplicate, nothing), and what each host's
// record kept. Out: why a URL is not worth a request, "" when it may be. What is learned
// of a host stands in Host; its exported fields are the ones that a record keeps.
//
// There are four kinds of traps, each told by something else. A path that goes
// in circles is told by its URL alone (circular.go). URLs of one pattern on a
// host are told by answers that bring nothing new (pattern.go), hosts of one
// pattern on a site likewise (farm.go). A site whose text is always new is told
// by how little of it is on topic (budget.go). docs/health.md has the reasons.
//
// Start with New. A Detector belongs to one goroutine; a Fingerprinter is safe for all.
package traps
