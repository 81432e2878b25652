// Package simulate crawls a graph virtually and measures which ordering collects important
// pages first (paper B3).
//
// In: a graph, an ordering, start pages. Out: the pages in the order of their visits,
// or curves of PageRank, sites, Kendall's τ, harvest and time. Several orderings are
// compared, as JSON, as text and on a page. Start with Simulation.
//
// Files: crawl.go the crawl; manners.go host exclusivity and rests in simulated time;
// simulate.go crawls from several start sets; curve.go their curves; result.go a comparison;
// report.go and plots.go its page.
package simulate
