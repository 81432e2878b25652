// Package eval says how good a crawl is, and cleans it first when asked.
//
// In: stores, and what is known of their pages' relevance: a truth, a judge model, or the labels
// that the crawl gave itself. Out: the measures of paper A5 with intervals: harvest ratio, URL
// overlap, search length. The quality of the kept cluster; recall against a truth and without one;
// where the topic went; how the hosts were treated. All of it also as a report of one HTML file.
//
// Measures are functions of plain slices in the order of the crawl. An unknown value is absent (a
// nil pointer, null in JSON), never 0. The package writes labels into a store, in Refine, and
// nothing else.
//
// Start with ReadCrawls, then Crawls.Measure and WriteReport. Files: judged.go crawls out of their
// stores; crawl.go a crawl's pages, and whose word on their relevance counts; harvest.go measures;
// recall.go recall without a truth, with logistic.go and trail.go; drift.go where the topic went;
// politeness.go the hosts; refine.go the second stage of paper A; figures.go all measures together,
// sentences.go in words, report.go as a page.
package eval
