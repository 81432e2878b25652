// Package export writes the pages of stores in other programs' formats, and reads other programs'
// pages and graphs into stores and graph files.
//
// In: snapshots of stores. Out: each selected page to every Sink, which writes one format to a Place.
// One pass serves all formats; each sink has a goroutine with a short queue, so the slowest sets the
// pace and memory is bounded. Equal pages give equal bytes, whatever the clock, goroutines or map order.
// docs/export.md has the design.
//
// Start with Open, Collection.Select, Formats, Run. Import reads pages into a store; GraphSource builds
// a graph file from a store, a corpus or a list of links. Packages below: tables (ids and bulk load, paper
// C3), search.
//
// Files: run.go formats and the pass; collection.go selected pages; place.go atomic files (lock_*.go:
// folders in use); bucket.go object stores (s3.go: settings and requests); rows.go tables, texts and
// Parquet; network.go links, hosts and sites; archive.go WARC, CDXJ and WACZ (records.go: WARC records of
// a page; surt.go: index keys); database.go SQLite, PostgreSQL and OpenSearch; card.go dataset card
// (card.md: its text); links.go link file; graphs.go sources of graphs; importer.go import.
package export
