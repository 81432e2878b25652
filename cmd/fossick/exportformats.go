package main

import (
	"context"

	"fossick/export"
	"fossick/export/archive"
	"fossick/export/card"
	"fossick/export/collection"
	"fossick/export/database"
	"fossick/export/network"
	"fossick/export/table"
)

// exportFormat is a format of export.
type exportFormat struct {
	name string
	says string // what it is, for people
	file string // its name in a folder; it ends in a slash where the format is a folder itself, and is "" where it goes to servers alone
	want collection.Want
	open func(to exportTo, name string) (export.Sink, error)

	// server opens it where -o is the address of a server; nil: it goes to files alone.
	server  func(ctx context.Context, address string) (export.Sink, error)
	schemes []string // of such an address
}

// exportPlace is where files go, those that databases write by themselves too.
type exportPlace interface {
	export.Place
	database.Files
}

// exportTo is what formats are opened with.
type exportTo struct {
	exportPlace
	card func() (card.Facts, error) // what the pages do not tell
}

// exportFormats are the formats of export, in the order of the help.
var exportFormats = []exportFormat{
	{name: "jsonl", says: "a JSON object a line", file: "pages.jsonl", want: collection.Want{Text: true}, open: sink(table.NewJSONL)},
	{name: "parquet", says: "a columnar table, for DuckDB, pandas, Spark", file: "pages.parquet", want: collection.Want{Text: true}, open: sink(table.NewParquet)},
	{name: "csv", says: "a row a page, without the text", file: "pages.csv", want: collection.Want{Text: true}, open: sink(table.NewCSV)},
	{name: "text", says: "a line a page: id, tab, text", file: "pages.txt", want: collection.Want{Text: true}, open: sink(table.NewLines)},
	{name: "markdown", says: "a file a page, with front matter", file: "markdown/", want: collection.Want{Text: true, Markdown: true}, open: func(at exportTo, name string) (export.Sink, error) {
		return table.NewMarkdown(at, name), nil
	}},
	{name: "links", says: "lists of links and of their nodes", file: "links/", want: collection.Want{Links: true}, open: sink(network.NewEdges)},
	{name: "gexf", says: "the links, for Gephi", file: "links.gexf", want: collection.Want{Links: true}, open: sink(network.NewGEXF)},
	{name: "graphml", says: "the links, for most network programs", file: "links.graphml", want: collection.Want{Links: true}, open: sink(network.NewGraphML)},
	{name: "graph", says: "the links, for simulate and rank", file: "links.graph", want: collection.Want{Links: true}, open: sink(network.NewCompressed)},
	{name: "sites", says: "tables of hosts and of sites, with their pages and links", file: "sites/", want: collection.Want{Links: true}, open: sink(network.NewSites)},
	{name: "warc", says: "web archives: the exchanges as they were, with metadata of each page", file: "warc/", want: collection.Want{Body: true, Exchanges: true}, open: func(at exportTo, name string) (export.Sink, error) {
		return archive.NewWARC(at, name), nil
	}},
	{name: "cdxj", says: "an index of the warc files, for pywb", file: "index.cdxj", want: collection.Want{Body: true, Exchanges: true}, open: sink(archive.NewCDXJ)},
	{name: "wacz", says: "archives, index and page list in one file, for ReplayWeb.page", file: "pages.wacz", want: collection.Want{Body: true, Exchanges: true}, open: sink(archive.NewWACZ)},
	{name: "card", says: "a data set card: what was crawled, how, and its known flaws", file: "./", want: collection.Want{Text: true}, open: func(at exportTo, _ string) (export.Sink, error) {
		facts, err := at.card()
		if err != nil {
			return nil, err
		}
		return card.New(at, facts)
	}},
	{name: "sqlite", says: "an SQLite file: pages, links, full-text search", file: "pages.sqlite", want: collection.Want{Text: true, Links: true}, open: func(at exportTo, name string) (export.Sink, error) {
		return database.NewSQLite(at, name)
	}},
	{name: "opensearch", says: "bulk requests in a file, or sent to a server: -o http://HOST:9200/INDEX", file: "pages.ndjson", want: collection.Want{Text: true}, open: sink(database.NewBulk),
		schemes: []string{"http", "https"}, server: func(_ context.Context, address string) (export.Sink, error) {
			return database.NewServer(address)
		}},
	{name: "postgres", says: "the tables pages and links on a server: -o postgres://USER@HOST/DB", want: collection.Want{Text: true, Links: true},
		schemes: []string{"postgres", "postgresql"}, server: func(ctx context.Context, address string) (export.Sink, error) {
			return database.NewPostgres(ctx, address)
		}},
}

// sink makes a format's own constructor one of any sink.
func sink[S export.Sink](open func(export.Place, string) (S, error)) func(exportTo, string) (export.Sink, error) {
	return func(at exportTo, name string) (export.Sink, error) { return open(at, name) }
}

// exportFormatNames are what --to takes.
func exportFormatNames() (names []string) {
	for _, f := range exportFormats {
		names = append(names, f.name)
	}
	return names
}
