// Package graph stores the links of a web compactly (Boldi and Vigna, The WebGraph framework I, 2004).
//
// In: edges between pages, by name or number. Out: a compressed graph file that is mapped into memory.
//
//	pairs of URLs → Builder → sorted runs on disk → Writer → graph file → Graph
//
// Nodes are numbered from 0 in URL order. docs/graph.md has the file format. Start with BuildEdgeList or
// Builder, then Open and Graph.Reader.
//
// Files: bits.go codes of numbers and offsets; code.go successors; file.go file, names, hosts and sites;
// graph.go reading and transposing; url.go URL order; builder.go building; dictionary.go numbering names;
// edgelist.go text edge lists; synthetic.go synthetic webs.
package graph
