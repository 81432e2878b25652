// Package webgraph holds the links of a web in little memory, crawls them
// virtually and ranks them (papers B and C4).
//
// In: edges between pages, by name or number, from an edge list, or from a corpus
// or store by iterator. Out: a compressed graph file that is mapped into memory;
// the order in which an ordering of package frontier crawls it; PageRank, BlockRank, HITS.
//
//	pairs of URLs → Builder → sorted runs on disk → Writer → graph file → Graph
//
// It opens the files it is told to and no others, and knows neither corpora nor
// stores. Nodes are numbers from 0 in URL order. docs/webgraph.md has the file
// format and what was rejected. Start with Builder, Open and Graph.Reader.
//
// Files: bits.go codes of numbers; encode.go, cost.go and decode.go a node's successors;
// offsets.go where they begin; format.go, writer.go, graph.go, reader.go, names.go
// and runs.go the file; url.go the order of URLs; sorter.go, dictionary.go with namecursor.go,
// builder.go, numbered.go, ids.go and belonging.go the way from edges to a file;
// pairs.go the edges of a run; edgelist.go and lot.go edge lists as text; transpose.go; csr.go a graph as plain arrays;
// interned.go and keysort.go names in memory; synthetic.go made-up webs; crawl.go
// virtual crawls, manners.go with host exclusivity and rests; simulate.go and
// kendall.go how they are measured; rankoptions.go, pagerank.go, gaussseidel.go with sweep.go,
// trim.go and components.go PageRank; blockrank.go, blockgraph.go (its steps one after the
// other), blockcore.go and blocksweep.go (all of them in each sweep) BlockRank; hits.go.
package webgraph
