// Package learned scores links by what the crawl has learned so far.
//
// In: pages that were fetched, with the classifier's probability and the words of each; a
// judge of texts; what people say of pages. Out: the probability that a link's target is
// on topic, of links and of URLs that wait, and the terms that it is made of
// (docs/relevance.md).
//
// Start with New. A Scorer is a relevance.Policy, and safe for concurrent use.
//
// Files: learned.go the scorer; linkgraph.go the targets, pages, hosts and
// folders that it remembers; evidence.go what is known of a target.
// linkmodel.go what is learned, and features.go what is made of evidence: by
// base.go, lift.go, logistic.go, cocitation.go, ending.go. vocabulary.go, words.go,
// background.go, warmstart.go what words are worth; textreader.go,
// around.go, reader.go, distinct.go the words of pages and links.
// similarity.go, prior.go, belief.go how far the judge is believed; locality.go how
// far the topic hangs together; degree.go the degree of relevance R; explore.go
// fetches to learn from; linkwork.go room for links; memory.go how much is
// remembered. What people say: labels.go, correction.go, history.go,
// recount.go, opinion.go, labelledlink.go; ask.go what people are asked. account.go why
// a page had its score, as stores keep it. sums.go, sumspack.go, told.go, giver.go what
// scorers of one crawl tell each other.
package learned
