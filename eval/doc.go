// Package eval says how good a crawl is, and cleans it first when asked.
//
// In: stores, and what is known of their pages' relevance: a truth, a judge
// model, or the labels that the crawl gave itself. Out: the measures of paper
// A5 with intervals: harvest ratio, URL overlap, search length. The quality of
// the kept cluster; recall against a truth and without one; where the topic
// went. All of it also as a report of one HTML file.
//
// The measures are functions of plain slices in the order of the crawl. What they
// cannot know is absent (a nil pointer, null in JSON), never 0. The room reads no truth
// file and knows no model: both arrive as functions. It may write labels into a store,
// in Refine, and nothing else.
//
// Start with Load, then Crawl.Judge… and Measure; Refine for the cleaning;
// WriteReport for the page.
//
// Files: interval.go shares with intervals; harvest.go, overlap.go, cluster.go,
// search.go, hosts.go a measure each; drift.go and words.go where the topic
// went. capture.go recall by capture–recapture, frontier.go a better estimate
// of it from what trail.go reads, evidence.go describes, logistic.go learns and
// starts.go corrects. crawl.go a store's pages in memory; relevance.go who says
// what is on topic, marks.go where people do; figures.go all measures together.
// sentences.go the same in plain words; politeness.go how the hosts were
// treated (exchanges.go sorts, manners.go compares, politesentences.go and
// politetables.go tell). bodies.go stored pages parsed in parallel; refine.go
// the second stage of paper A. report.go, view.go (what report.html is filled
// with), tables.go, lists.go the report, drawn by package report.
package eval
