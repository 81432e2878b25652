// Package rank ranks the nodes of a graph: PageRank (paper B3), BlockRank (paper C4), HITS.
//
// In: a graph of package graph. Out: a score per node. Start with Of.
//
// Files: rank.go methods, options, results; pagerank.go power iteration; gaussseidel.go Gauss–Seidel and
// its partitions; blockrank.go BlockRank in steps; blocksweep.go BlockRank within each sweep; hits.go
// HITS.
package rank
