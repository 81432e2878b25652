// Package simulate crawls a graph virtually and measures which ordering collects important
// pages first (paper B3).
//
// In: a graph, an ordering, start pages. Out: the pages in the order of their visits, or
// curves of PageRank, sites, Kendall's τ, harvest and time. Start with Simulation.
//
// Files: crawl.go the crawl; manners.go host exclusivity and rests in simulated time;
// simulate.go the curves.
package simulate
