// Package judged reads crawls out of their stores and has their pages judged for eval:
// by a truth, a model, or the crawl's own labels.
//
// In: stores, a file of labels or a model. Out: the figures of eval.Result, and the report.
//
// Start with Read, then Crawls.Measure.
package judged
