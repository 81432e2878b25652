// Package learned scores links by what the crawl has learned so far.
//
// In: pages that were fetched, with the classifier's probability and the words of each; a
// judge of texts; what people say of pages. Out: the probability that a link's target is
// on topic, of links and of URLs that wait, and the terms that it is made of
// (docs/relevance.md).
//
// Start with New. A Scorer is a relevance.Policy, and safe for concurrent use.
//
// Files: learned.go the scorer; evidence.go what is known of a target, by parts.go, sister.go,
// around.go, ending.go, kin.go, prior.go, heard.go, thin.go and listen.go; logistic.go how
// it is weighed, by base.go and ln.go; vocabulary.go, words.go, background.go and lesson.go what words are
// worth; explore.go fetches to learn from; reader.go and distinct.go the words of pages and
// links; unlinked.go URLs without links; expect.go, linkwork.go speed; memory.go how much
// is remembered. What people say: marks.go, correction.go, history.go, recount.go, opinion.go.
// account.go why a page had its score, as stores keep it.
package learned
