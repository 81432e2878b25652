// Package graph keeps the links of a web in little memory (Boldi and Vigna, The WebGraph framework
// I, 2004).
//
// In: edges between pages, by name or by number. Out: a compressed graph file that is mapped into
// memory.
//
// \tpairs of URLs → Builder → sorted runs on disk → Writer → graph file → Graph
//
// Nodes are numbers from 0 in URL order. docs/graph.md has the file format. Start with BuildEdgeList
// or Builder, then Open and Graph.Reader.
//
// Files: bits.go codes of numbers and offsets; code.go a node's successors; file.go the file and its
// names; graph.go reading; url.go the order of URLs; builder.go from edges to a file; dictionary.go
// names; edgelist.go edge lists as text; synthetic.go made-up webs.
package graph
