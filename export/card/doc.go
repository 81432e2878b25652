// Package card writes what is published with a collection: README.md for people and
// card.json for programs.
//
// In: pages as they pass, and what their stores say of the crawls. Out: what was crawled,
// when, by which policy; what was left out; harvest with its interval; shares of labels,
// languages, sites, states and rights; known flaws. What is not known is null, and
// "not known" in words, never 0.
//
// Nothing in it depends on the clock. It judges no page.
//
// Start with New.
//
// Files: sink.go counts; card.go what is told; readme.go in words; flaws.go what to beware of.
package card
