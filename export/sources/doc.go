// Package sources builds the graphs of what has links: edge lists, corpora, the stores
// of crawls, made-up webs. It says what else these know of a graph's nodes.
//
// In: what a user names, and how its store or corpus is opened. Out: a graph file, and
// labels, scores, weights and blocks by node, and a
// store's pages with their ranks. Start with Source.
//
// Files: sources.go kinds of sources and their graphs; linkfile.go those of link files; aliases.go redirects and duplicates
// of a store; labels.go labels and scores of nodes; weights.go where surfers start
// anew, and blocks; named.go files that name nodes; ranks.go ranks for a store's pages.
package sources
