// Package rank says how important the nodes of a graph are, by its edges: PageRank (paper
// B3), BlockRank (paper C4), HITS.
//
// In: a graph of package graph. Out: a score for each node. Start with Of.
//
// Files: rank.go the methods; options.go what they share; pagerank.go the power
// iteration. gaussseidel.go with sweep.go Gauss–Seidel, trim.go and
// components.go the parts it solves one after the other. blockrank.go,
// blockgraph.go (its steps one after the other), blockcore.go and blocksweep.go
// (all of them in each sweep) BlockRank; hits.go. kendall.go how alike two
// rankings are.
package rank
