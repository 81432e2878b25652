// Package export takes the pages of stores to the formats of other programs, and other
// programs' pages and graphs into stores and graph files.
//
// In: stores, each at one moment. Out: each chosen page to every Sink, which writes one format
// to a Place. One pass serves all formats. Each sink has a goroutine of its own behind a short
// queue, so the slowest sets the pace and memory stays bounded. The same pages give the same
// bytes: nothing in a file depends on the clock, on goroutines or on the order of maps.
// docs/export.md has the design.
//
// Packages below it: bucket (places in object stores), tables (ids and bulk load, paper C3) and
// search. Start with Open, Collection.Select, Formats, Run. Import and GraphSource go the other
// way: pages into a store, and a store, a corpus or a list of links into a graph file.
//
// Files: run.go the formats and the pass; collection.go chosen pages out of stores; place.go
// files that appear whole (lock_*.go: folders in use); rows.go tables and texts; network.go
// links, hosts and sites; archive.go WARC, CDXJ and WACZ (surt.go: their keys); database.go
// SQLite, PostgreSQL and OpenSearch; card.go the data set card; links.go the link file;
// graphs.go what a graph is read from; importer.go pages into a store.
package export
