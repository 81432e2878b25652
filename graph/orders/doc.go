// Package orders decides in which order pages are visited: the orderings of paper B and further
// ones.
//
// In: links, as pages are visited. Out: a priority for each target (Ordering, for a crawl whose
// queue lies on disk), or the next page itself (Sequence, exact, over vertices in memory). Start
// with OrderingByName and NewSequence.
//
// Files: priorities.go Ordering; sequence.go Sequence, and BFS, DFS, MCS and largest-site; lex.go
// LexBFS and LexDFS; importance.go relevance, OPIC and PageRank; mix.go mixes.
package orders
