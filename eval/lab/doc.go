// Package lab compares crawl policies on a stored web, and frontier orderings on a graph.
//
// In: a Plan with corpus, topic, policies, training pages, and a truth or judge. For each policy the
// lab runs a virtual crawl from each of several random start sets. Out: harvest, recall and the areas
// under their curves with 95 % intervals over start sets, paired tests between policies, and an HTML
// page. The lab runs production code: crawler.Virtual decides as crawler.Run does, and a policy is
// what focus --score takes. Only the two oracles, which know the truth, are the lab's own.
// docs/eval.md defines each figure.
//
// A Simulation crawls a graph with an ordering (paper B3) and gives curves of PageRank, sites,
// Kendall's τ, harvest and time.
//
// Files: corpus.go a web in memory; plan.go and setup.go a run; experiment.go draws and crawls;
// figures.go figures of a policy; compare.go paired tests and the sweep of ρ; result.go and
// report.go output; graph.go crawls of a graph; graphresult.go their results.
package lab
