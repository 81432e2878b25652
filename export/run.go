package export

import (
	"context"
	"errors"
	"io"
	"iter"

	"golang.org/x/sync/errgroup"
)

// Sink writes pages in one format; only one goroutine uses it.
type Sink interface {
	// Write writes or keeps the next page, which it must not change.
	Write(ctx context.Context, p *Page) error
	// Finish completes the output after the last page of a successful export.
	Finish(ctx context.Context) error
	// Close releases the sink, finished or not; it is called once.
	Close() error
}

// target holds the files of an export. Safe for concurrent use.
type target interface {
	// Create starts a file; name is a path within the export, with slashes.
	Create(name string) (io.WriteCloser, error)
	// Path reserves a file for a format that writes files by itself, and returns its path.
	Path(name string) (string, error)
}

// Output is where an export goes, as a whole or not at all: a Place or a Bucket.
type Output interface {
	target
	Made() (files int, bytes int64)
	Commit() error
	Discard() error // no effect after Commit
}

// Format is an export format.
type Format struct {
	Name    string
	Says    string   // description for the help
	File    string   // name within an export, ending in a slash for a folder; "" for a format without files
	Schemes []string // URL schemes of supported servers
	Want    Want

	open   func(at target, name string) (Sink, error)
	server func(ctx context.Context, address string) (Sink, error)
}

// Formats returns the formats in the order of the help.
func Formats() []Format {
	text, links, archive := Want{Text: true}, Want{Links: true}, Want{Body: true, Exchanges: true}
	return []Format{
		{Name: "jsonl", Says: "a JSON object a line", File: "pages.jsonl", Want: text, open: eachPage(appendObject)},
		{Name: "parquet", Says: "a columnar table, for DuckDB, pandas, Spark", File: "pages.parquet", Want: text, open: newParquet},
		{Name: "csv", Says: "a row a page, without the text", File: "pages.csv", Want: text, open: newCSV},
		{Name: "text", Says: "a line a page: id, tab, text", File: "pages.txt", Want: text, open: eachPage(appendLine)},
		{Name: "markdown", Says: "a file a page, with front matter", File: "markdown/", Want: Want{Text: true, Markdown: true}, open: newMarkdown},
		{Name: "links", Says: "lists of links and of their nodes", File: "links/", Want: links, open: newLinkLists},
		{Name: "gexf", Says: "the links, for Gephi", File: "links.gexf", Want: links, open: newXML(gexf)},
		{Name: "graphml", Says: "the links, for most network programs", File: "links.graphml", Want: links, open: newXML(graphML)},
		{Name: "graph", Says: "the links, for simulate and rank", File: "links.graph", Want: links, open: newGraphFile},
		{Name: "sites", Says: "tables of hosts and of sites, with their pages and links", File: "sites/", Want: links, open: newSiteTables},
		{Name: "warc", Says: "web archives: the exchanges as they were, with metadata of each page", File: "warc/", Want: archive, open: newWARC},
		{Name: "cdxj", Says: "an index of the warc files, for pywb", File: "index.cdxj", Want: archive, open: newCDXJ},
		{Name: "wacz", Says: "archives, index and page list in one file, for ReplayWeb.page", File: "pages.wacz", Want: archive, open: newWACZ},
		{Name: "card", Says: "a data set card: what was crawled, how, and its known flaws", File: "./", Want: text},
		{Name: "sqlite", Says: "an SQLite file: pages, links, full-text search", File: "pages.sqlite", Want: Want{Text: true, Links: true}, open: newSQLite},
		{Name: "opensearch", Says: "bulk requests in a file, or sent to a server: -o http://HOST:9200/INDEX", File: "pages.ndjson", Want: text, open: eachPage(appendBulk),
			Schemes: []string{"http", "https"}, server: func(_ context.Context, address string) (Sink, error) { return newOpenSearch(address) }},
		{Name: "postgres", Says: "the tables pages and links on a server: -o postgres://USER@HOST/DB", Want: Want{Text: true, Links: true},
			Schemes: []string{"postgres", "postgresql"}, server: newPostgres},
		{Name: Tables, Says: "page, site, domain and community ids, and links between them, for PostgreSQL; alone, into a folder", File: "tables/"},
	}
}

// Tables is the format of package tables, which needs several passes and may run on several agents.
const Tables = "tables"

// Open starts the format in a file or folder of an export; facts returns the data of a dataset card.
func (f *Format) Open(at Output, name string, facts func() (CardFacts, error)) (Sink, error) {
	if f.open != nil {
		return f.open(at, name)
	}
	known, err := facts()
	if err != nil {
		return nil, err
	}
	return newCard(at, known)
}

// OpenServer starts the format on a server.
func (f *Format) OpenServer(ctx context.Context, address string) (Sink, error) {
	return f.server(ctx, address)
}

// queued is the number of pages that may wait for a sink.
const queued = 8

// Run writes each page to all sinks, in order, and returns the number of pages. An error stops all; without one
// every sink has finished. The sinks are closed in any case.
func Run(ctx context.Context, pages iter.Seq2[*Page, error], sinks []Sink) (records int, err error) {
	g, ctx := errgroup.WithContext(ctx)
	queues := make([]chan *Page, len(sinks))
	for i := range sinks {
		queues[i] = make(chan *Page, queued)
	}
	g.Go(func() error { // the only sender
		err := feed(ctx, pages, queues, &records)
		if err == nil {
			for _, q := range queues {
				close(q)
			}
		}
		return err
	})
	for i, s := range sinks {
		g.Go(func() error { return drain(ctx, s, queues[i]) })
	}
	err = g.Wait()
	return records, err
}

func feed(ctx context.Context, pages iter.Seq2[*Page, error], queues []chan *Page, records *int) error {
	for p, err := range pages {
		if err != nil {
			return err
		}
		for _, q := range queues {
			select {
			case q <- p:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		*records++
	}
	return ctx.Err()
}

func drain(ctx context.Context, s Sink, queue <-chan *Page) (err error) {
	defer func() { err = errors.Join(err, s.Close()) }()
	for {
		select {
		case p, more := <-queue:
			if !more {
				return s.Finish(ctx)
			}
			if err := s.Write(ctx, p); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
