// Package graph keeps the links of a web in little memory (Boldi and Vigna, The WebGraph
// framework I, 2004).
//
// In: edges between pages, by name or by number. Out: a compressed graph file that is
// mapped into memory.
//
//	pairs of URLs → Builder → sorted runs on disk → Writer → graph file → Graph
//
// It opens the files it is told to and no others. Nodes are numbers from 0 in URL order.
// docs/graph.md has the file format and what was rejected. Start with BuildEdgeList or
// Builder, then Open and Graph.Reader.
//
// Files: bits.go codes of numbers; encode.go, cost.go and decode.go a node's
// successors; offsets.go where they begin. format.go, writer.go, graph.go,
// reader.go, names.go and runs.go the file; url.go the order of URLs.
// builder.go, numbered.go, ids.go and belonging.go the way from edges to a
// file, dictionary.go with namecursor.go, interned.go and keysort.go that of
// names. pairs.go and sorter.go edges, on package extsort; edgelist.go and
// batch.go edge lists as text; transpose.go edges turned round. csr.go a graph as
// arrays.
package graph
