// Package lab compares crawl policies on a stored web.
//
// In: a corpus with labels, a topic, policies. Out: for each policy a virtual
// crawl from each of several random start sets. Harvest, recall and the areas
// under their curves, with 95 % intervals over the start sets. Paired tests
// between policies; one HTML page.
//
// It measures the real thing: crawler.Virtual decides as crawler.Run does, and a policy
// is what focus --score takes (package policy builds both). Only the two oracles, which
// know the truth, are the lab's own. docs/eval.md has the whole of it: what is counted
// how, and why no store and no network are needed.
//
// It trains nothing and knows no model: lab/plan does. Start with Load, Draw, then
// Experiment.Run and Compare.
//
// Files: corpus.go a web in memory; draw.go training pages and start sets;
// experiment.go the crawls, in parallel. oracle.go policies that know the
// truth; measure.go a policy's figures, spread.go over how many hosts; reach.go
// what can be reached at all. compare.go paired tests; result.go what came of
// it, as JSON and text, with spreadresult.go its hosts; rho.go a sweep of ρ.
// report.go the page.
package lab
