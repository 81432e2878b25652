// Package learned scores links by what the crawl has learned so far.
//
// In: pages that were fetched, with the classifier's probability and the words of each; a
// judge of texts; what people say of pages. Out: the probability that a link's target is
// on topic, of links and of URLs that wait, and the terms that it is made of
// (docs/relevance.md).
//
// Start with New. A Scorer is a relevance.Policy, and safe for concurrent use.
//
// Files: learned.go the scorer; linkgraph.go the targets, pages, hosts and folders that it
// remembers; evidence.go what is known of a target. linkmodel.go what is learned, and from which
// features; words.go the words of pages and links and what they are worth, warmstart.go at the
// start. belief.go how far the judge is believed, fetches to learn from, and what people are asked;
// degree.go the degree of relevance R. labels.go, correction.go and history.go what people say, and
// why a page had its score. sums.go what scorers of one crawl tell each other.
package learned
