// Package network writes the links between the pages of an export as networks.
//
// In: pages with their links, and a place for files. Out: an edge list with its nodes, GEXF,
// GraphML, a compressed graph, and tables of hosts and of sites. Nodes are those of the pages'
// rows, which join them; the compressed graph has its own numbers, and names its nodes by
// URL. A link to what is no page of the export is none here.
//
// Links come before the pages they lead to. So edges wait in a scratch file until all nodes
// are known, 8 bytes each, and memory does not grow with them.
//
// Start with NewEdges and the like, or with NewSites.
//
// Files: edges.go the edge list; scratch.go edges that wait; xml.go GEXF and GraphML;
// compressed.go the graph; sites.go the tables.
package network
