// Package orders has crawl orderings: those of paper B and others.
//
// In: links, as pages are visited. Out: a priority per target (Ordering, for a crawl whose queue is on disk),
// or the next page itself (Sequence, exact, over vertices in memory). Start with OrderingByName and
// NewSequence.
//
// Files: priorities.go Ordering; sequence.go Sequence, BFS, DFS, MCS and largest-site; lex.go LexBFS and
// LexDFS; importance.go relevance, OPIC and PageRank; mix.go mixes.
package orders
