// Package eval measures the quality of a crawl, and can refine it first.
//
// In: stores, and a source of relevance: a truth, a judge model, or the crawl's own labels. Out:
// the measures of paper A5 with intervals (harvest ratio, URL overlap, search length), quality of
// the kept cluster, recall with and without a truth, topic drift and politeness; also as an HTML
// report of one file.
//
// Measures are functions of plain slices in crawl order. An unknown value is absent (nil pointer,
// null in JSON), never 0. Only Refine writes into a store: labels.
//
// Start with ReadCrawls, then Crawls.Measure and WriteReport. Files: judged.go loads and judges
// crawls; crawl.go pages and verdicts; harvest.go measures; recall.go recall without a truth, with
// logistic.go and trail.go; drift.go topic drift; politeness.go hosts; refine.go second stage of
// paper A; figures.go all measures, sentences.go in words, report.go as HTML.
package eval
