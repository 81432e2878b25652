// Package rank ranks the nodes of a graph by its edges: PageRank (paper B3), BlockRank (paper C4),
// HITS.
//
// In: a graph of package graph. Out: a score for each node. Start with Of.
//
// Files: rank.go methods, options, results; pagerank.go the power iteration; gaussseidel.go
// Gauss–Seidel and the parts it solves one after the other; blockrank.go BlockRank in steps;
// blocksweep.go BlockRank in each sweep; hits.go HITS.
package rank
