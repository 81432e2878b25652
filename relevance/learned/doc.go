// Package learned scores links by what the crawl has learned so far.
//
// In: fetched pages with the classifier's probability and their words; a judge, which classifies
// texts; people's labels of pages. Out: the probability that the target of a link or a queued URL is on
// topic, with the terms of that score (docs/relevance.md).
//
// Start with New. A Scorer is a relevance.Policy, and safe for concurrent use.
//
// Files: learned.go the scorer; linkgraph.go its memory of targets, pages, hosts and folders;
// evidence.go the evidence for one target; linkmodel.go features and weights; order.go the weights
// learned offline, sight.go the material for learning them; words.go words of pages and links,
// warmstart.go their initial counts; belief.go the probability of a page, exploration, and questions to
// people; degree.go the degree of relevance R; labels.go and correction.go people's labels;
// history.go past pages, explanations and URL patterns; sums.go exchange between scorers.
package learned
