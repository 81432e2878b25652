// Package sources builds the graphs of what has links: edge lists, corpora, the stores of
// crawls, made-up webs; and says what else these know of a graph's nodes.
//
// In: what a user names, and how its store or corpus is opened. Out: a graph file, and
// labels, scores and page numbers by node. Start with Source.
//
// Files: sources.go kinds of sources and their graphs; aliases.go redirects and duplicates
// of a store; labels.go labels, scores and pages of nodes.
package sources
