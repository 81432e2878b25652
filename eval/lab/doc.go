// Package lab compares crawl policies on a stored web, and orderings on a graph.
//
// A Plan names a corpus, a topic, policies, the truth or a judge of its pages, and the training
// pages. For each policy the lab makes a virtual crawl from each of several random start sets, and
// gives harvest, recall and the areas under their curves with 95 % intervals over the start sets,
// paired tests between policies, and one HTML page. It measures the real thing: crawler.Virtual
// decides as crawler.Run does, and a policy is the one that focus --score takes. Only the two
// oracles, which know the truth, are the lab's own. docs/eval.md says how each figure is counted.
//
// A Simulation crawls a graph by an ordering (paper B3) and gives curves of PageRank, sites,
// Kendall's τ, harvest and time.
//
// Files: corpus.go a web in memory; plan.go and setup.go a run; experiment.go draws and crawls;
// figures.go what a policy came to; compare.go paired tests, and the sweep of ρ; result.go and
// report.go the result as JSON, text and page. graph.go crawls of a graph; graphresult.go theirs.
package lab
