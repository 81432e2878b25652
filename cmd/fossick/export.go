package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"fossick/crawler/crawlplan"
	"fossick/eval"
	"fossick/eval/judged"
	"fossick/export"
	"fossick/export/archive"
	"fossick/export/bucket"
	"fossick/export/card"
	"fossick/export/collection"
	"fossick/export/database"
	"fossick/export/network"
	"fossick/export/place"
	"fossick/export/table"
	"fossick/internal/cli"
	"fossick/internal/maintext"
	"fossick/internal/page"
	"fossick/internal/printable"
	"fossick/internal/rights"
	"fossick/store"
)

type exportCmd struct {
	Stores []string `arg:"" name:"store" placeholder:"STORE" help:"Stores of crawls, also of one that is running; their pages come in this order." predictor:"dirs"`
	To     []string `xor:"formats" placeholder:"FORMAT" enum:"$${formats}" help:"Format to write, one of those above; may be repeated, all in one pass. Give this or --all." group:"made"`
	All    bool     `xor:"formats" help:"Write all formats that are files into a folder, with a data set card." group:"made"`
	Output string   `short:"o" name:"output" required:"" placeholder:"FILE|DIR|URL" help:"A file, for one format that is a single file, compressed if its name ends in .gz or .zst; - is stdout. Else a folder. s3://BUCKET/NAME is an object, or a folder of objects." predictor:"files" group:"made"`

	Label    []string `placeholder:"L,L" help:"Only pages with one of these labels." group:"rows"`
	Kept     bool     `help:"Only pages that refine kept." group:"rows"`
	MinScore *float64 `placeholder:"X" help:"Only pages whose degree of relevance is at least this." group:"rows" expert:""`
	Lang     []string `placeholder:"L,L" help:"Only pages in one of these languages, as en." group:"rows"`
	Host     []string `placeholder:"H,H" help:"Only pages of these hosts." group:"rows" expert:""`
	Include  string   `placeholder:"REGEX" help:"Only pages whose URL matches." group:"rows"`
	Since    string   `placeholder:"TIME" help:"Only pages fetched since: a day, a time, or an age as 2w." group:"rows"`
	Purpose  string   `type:"purpose" placeholder:"WHAT" help:"Purpose of the pages: search, training, research or archive; pages whose owners refuse it are left out [the crawl's purpose]." group:"rows" predictor:"search,training,research,archive" expert:""`
	Limit    int      `placeholder:"N" help:"Write only the first N pages." group:"rows"`
	Partial  bool     `help:"Skip damaged records, and count them." group:"rows" expert:""`
}

func (exportCmd) Help() string {
	says := &strings.Builder{}
	for _, f := range exportFormats {
		printable.Fprintf(says, "  %-10s %s\n", f.name, f.says)
	}
	return `Writes the pages of crawls in the formats of other programs. A file or folder gets its name when it is complete, and never replaces one with other content. The same stores and flags give the same bytes.

Formats:
` + says.String() + `
Examples:
  fossick export fossick-banking --to jsonl --kept -o banking.jsonl.zst
  fossick export fossick-banking --to markdown,csv --label banking -o pages
  fossick export fossick-banking --all -o banking-set`
}

func (exportCmd) MoreHelp() string {
	return `For an object store, as -o s3://collections/banking, export takes the server and the keys from the environment and the files that all S3 programs read: AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE.`
}

type exportResult struct {
	Records   int      `json:"records"`
	Bytes     int64    `json:"bytes"`
	Files     int      `json:"files"`
	Formats   []string `json:"formats"`
	Output    string   `json:"output"`
	Withdrawn int      `json:"withdrawn"` // left out, as their authors ask
	Refused   int      `json:"refused"`   // left out, as their owners refuse the purpose
	Repeated  int      `json:"repeated"`  // left out: an earlier store has the same record
	OffTopic  int      `json:"off_topic"` // written, though refine dropped them, or unrefined and not relevant to the crawl
	Damaged   int      `json:"damaged"`   // with --partial: records left out, or without their text
	Seconds   float64  `json:"seconds"`
}

// exportMemory is the heap in bytes at which the garbage collector works harder; all formats at
// once use some 250 MiB.
const exportMemory = 288 << 20

func (c *exportCmd) Run(a *app) (err error) {
	defer cli.LimitHeap(exportMemory)()
	c.Stores = agentsOf(c.Stores)
	began := time.Now()
	choice, err := c.choice(began)
	if err != nil {
		return err
	}
	formats := c.formats()
	if len(formats) == 0 {
		return usagef("give --to FORMAT or --all; fossick export --help lists the formats")
	}
	at, err := c.place(a, formats)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, at.Discard()) }()
	r := exportResult{Output: database.WithoutPassword(c.Output)}
	want := collection.Want{}
	for _, f := range formats {
		r.Formats, want = append(r.Formats, f.name), want.With(f.want)
	}
	task := a.task("opening", "pages")
	defer task.End()
	pages, err := collection.Open(a.ctx, c.Stores, collection.Options{Open: a.openToRead, Partial: c.Partial, Text: mainText, Looked: func() { task.Add(1) }})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pages.Close()) }()
	selection, err := pages.Select(a.ctx, choice, want)
	if err != nil {
		return err
	}
	to := exportTo{at, func() (card.Facts, error) { return c.card(a.ctx, pages.Sources(), &choice, selection.Left) }}
	var sinks []export.Sink
	for _, f := range formats {
		s, err := c.sink(a, f, to, len(formats))
		if err != nil {
			return errors.Join(err, closeAll(sinks))
		}
		sinks = append(sinks, s)
	}
	task.Step("exporting", pages.Len())
	if r.Records, err = export.Run(a.ctx, r.countOffTopic(selection.Pages(a.ctx)), sinks); err != nil {
		return err
	}
	if err := at.Commit(); err != nil {
		return err
	}
	task.End()
	r.Files, r.Bytes = at.Made()
	left := selection.Left()
	r.Withdrawn, r.Refused, r.Repeated, r.Damaged = left.Withdrawn, left.Refused, left.Repeated, left.Damaged
	r.Seconds = time.Since(began).Seconds()
	if c.Output == "-" {
		r.print(a.stderr)
		return nil
	}
	return a.emit(r, r.print)
}

// countOffTopic passes pages on, and counts those off topic: by what refine said of a
// page, else by what the crawl said.
func (r *exportResult) countOffTopic(pages iter.Seq2[*collection.Page, error]) iter.Seq2[*collection.Page, error] {
	return func(yield func(*collection.Page, error) bool) {
		for p, err := range pages {
			if err == nil && (p.Kept != nil && !*p.Kept || p.Kept == nil && !p.Relevant) {
				r.OffTopic++
			}
			if !yield(p, err) {
				return
			}
		}
	}
}

func closeAll(sinks []export.Sink) (err error) {
	for _, s := range sinks {
		err = errors.Join(err, s.Close())
	}
	return err
}

func (c *exportCmd) formats() (formats []exportFormat) {
	for _, f := range exportFormats {
		if slices.Contains(c.To, f.name) || c.All && f.file != "" {
			formats = append(formats, f)
		}
	}
	return formats
}

// nameIn returns the name of the format's file in an export of several formats.
func (f *exportFormat) nameIn(formats int) string {
	if formats == 1 && strings.HasSuffix(f.file, "/") {
		return "" // the export's folder is the format's
	}
	return f.file
}

// sink opens a format of an export of several.
func (c *exportCmd) sink(a *app, f exportFormat, to exportTo, formats int) (export.Sink, error) {
	if c.server() != "" {
		return f.server(a.ctx, c.Output)
	}
	return f.open(to, f.nameIn(formats))
}

// server is the scheme of -o where it is the address of a server, else "".
func (c *exportCmd) server() string {
	for _, f := range exportFormats {
		for _, scheme := range f.schemes {
			if strings.HasPrefix(c.Output, scheme+"://") {
				return scheme
			}
		}
	}
	return ""
}

// exportOutput is where an export goes, as a whole or not at all.
type exportOutput interface {
	exportPlace
	Made() (files int, bytes int64)
	Commit() error
	Discard() error // of no effect after Commit
}

// place opens the output that -o names.
func (c *exportCmd) place(a *app, formats []exportFormat) (exportOutput, error) {
	if scheme := c.server(); scheme != "" {
		if c.All {
			return nil, usagef("-o %s://…: --all writes files; give a folder", scheme)
		}
		if len(formats) > 1 || !slices.Contains(formats[0].schemes, scheme) {
			return nil, usagef("-o %s://…: that server takes one format; give a file or a folder for the others", scheme)
		}
		return place.Stream(io.Discard), nil // there are no files
	}
	for _, f := range formats {
		if f.file == "" {
			return nil, usagef("--to %s: want only a server's address, as -o %s://name@localhost/db", f.name, f.schemes[0])
		}
	}
	single := len(formats) == 1 && !strings.HasSuffix(formats[0].file, "/")
	if c.Output == "-" {
		if !single || a.json {
			return nil, usagef("-o -: stdout takes one format that is a single file, without --json; give a folder instead")
		}
		return place.Stream(a.stdout), nil
	}
	if strings.HasPrefix(c.Output, bucket.Scheme) {
		return inBucket(a.ctx, c.Output, single)
	}
	return place.Open(c.Output, single && !isFolder(c.Output))
}

// inBucket opens an object, or a prefix, which ends in a slash.
func inBucket(ctx context.Context, address string, single bool) (exportOutput, error) {
	at, err := bucket.Parse(address)
	if err != nil {
		return nil, err
	}
	settings, err := bucket.FromEnvironment(os.Getenv)
	if err != nil {
		return nil, err
	}
	return bucket.Open(ctx, at, single && at.Key != "" && !isFolder(at.Key), settings)
}

// isFolder says whether a path is meant as a folder.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return os.IsPathSeparator(path[max(0, len(path)-1)]) || err == nil && info.IsDir()
}

func (c *exportCmd) choice(now time.Time) (choice collection.Choice, err error) {
	choice = collection.Choice{Labels: c.Label, MinScore: c.MinScore, Kept: c.Kept, Hosts: c.Host, Limit: c.Limit, Purpose: rights.Purpose(strings.ToLower(c.Purpose))}
	if c.Limit < 0 {
		return choice, usagef("--limit %d: want a number of pages", c.Limit)
	}
	for _, lang := range c.Lang {
		code := page.LangCode(lang)
		if code == "" {
			return choice, usagef("--lang %s: no such language; want a code such as en or de", lang)
		}
		choice.Langs = append(choice.Langs, code)
	}
	if c.Include != "" {
		if choice.Include, err = regexp.Compile(c.Include); err != nil {
			return choice, usagef("--include: %v", err)
		}
	}
	if c.Since != "" {
		if choice.Since, err = cli.Moment(c.Since, now); err != nil {
			return choice, usagef("--since %v", err)
		}
	}
	return choice, nil
}

func (r exportResult) print(w io.Writer) {
	printable.Fprintf(w, "%d pages as %s: %s, %d files, %d bytes\n", r.Records, strings.Join(r.Formats, ", "), r.Output, r.Files, r.Bytes)
	if r.OffTopic > 0 {
		printable.Fprintf(w, "%d of them are off topic: run fossick refine, then export with --kept to leave them out\n", r.OffTopic)
	}
	for _, left := range []struct {
		n   int
		why string
	}{
		{r.Withdrawn, "left out: their authors ask not to keep them"},
		{r.Refused, "left out: their owners refuse this use"},
		{r.Repeated, "left out: an earlier store has the same record"},
		{r.Damaged, "damaged: fossick verify lists them"},
	} {
		if left.n > 0 {
			printable.Fprintf(w, "%d pages %s\n", left.n, left.why)
		}
	}
}

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

// exportTo is the output that formats are opened on.
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
	{name: "ccindex", says: "an index of the warc files, as a table with Common Crawl's columns", file: "ccindex.parquet", want: collection.Want{Body: true, Exchanges: true}, open: func(at exportTo, name string) (export.Sink, error) {
		return archive.NewColumnar(at, name, "warc/")
	}},
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

// sink adapts a format's constructor to export.Sink.
func sink[S export.Sink](open func(export.Place, string) (S, error)) func(exportTo, string) (export.Sink, error) {
	return func(at exportTo, name string) (export.Sink, error) { return open(at, name) }
}

func exportFormatNames() (names []string) {
	for _, f := range exportFormats {
		names = append(names, f.name)
	}
	return names
}

// mainText returns a page's main text, or all text if the page is not HTML.
func mainText(body []byte, p *collection.Page, want collection.Want) (text, markdown string) {
	decoded, plain, err := page.Decode(body, p.ContentType)
	if err != nil {
		return "", "" // it has no words
	}
	if plain {
		text = strings.TrimSpace(string(decoded))
		return text, text
	}
	m := maintext.Extract(decoded)
	if want.Text {
		text = m.Text()
	}
	if want.Markdown {
		markdown = m.Markdown(absolute(p.URL))
	}
	return text, markdown
}

// absolute resolves the links of a page; fragments of the page itself become empty.
func absolute(url string) func(href string) string {
	base, err := standard.Base(url)
	return func(href string) string {
		if err != nil || strings.HasPrefix(href, "#") {
			return ""
		}
		full, err := standard.Resolve(base, href)
		if err != nil {
			return ""
		}
		return full
	}
}

var standard = page.NewNormalizer(nil)

// onCard are the settings that a data set card tells: those that decide which pages come,
// and when. Names of files, addresses of the network and whoever crawled are nobody's.
var onCard = []string{
	"score", "order", "rho", "explore", "threshold", "alike", "keywords", "links", "include", "exclude", "tld", "lang",
	"max-pages", "max-time", "max-depth", "max-pages-per-host", "max-pages-per-site", "min-harvest", "patience",
	"near-duplicates", "traps", "sitemaps", "sitemap-urls", "delay",
}

// card returns the facts of a data set card that the pages do not have.
func (c *exportCmd) card(ctx context.Context, stores []*collection.Source, choice *collection.Choice, left func() collection.Left) (card.Facts, error) {
	facts := card.Facts{Fossick: version, Choice: c.chose(choice), Purpose: string(choice.Purpose), Left: left}
	for _, from := range stores {
		one := card.Store{Name: from.Name, Crawl: from.Crawl()}
		saved, err := crawlplan.Stored(from.Store)
		if err != nil {
			return facts, err
		}
		if saved.Score != "" { // else it is no store of a crawl that was planned
			one.Settings = map[string]string{"start pages": strconv.Itoa(len(saved.Seed))}
			applied := saved.Applied()
			for _, name := range onCard {
				if value, ok := applied[name]; ok {
					one.Settings[name] = value
				}
			}
		}
		facts.Stores = append(facts.Stores, one)
	}
	return facts, c.judge(ctx, stores, facts.Stores)
}

// judge adds harvest and recall, as eval measures them by the crawls' own labels. Crawls
// of one topic say together how complete they are.
func (c *exportCmd) judge(ctx context.Context, stores []*collection.Source, told []card.Store) error {
	together := map[string][]int{}
	for i, from := range stores {
		if topics := from.Crawl().Topics; len(topics) > 0 {
			key := strings.Join(topics, ",")
			together[key] = append(together[key], i)
		}
	}
	for _, places := range together {
		sources := judged.Sources{Step: func(string) func() { return func() {} }}
		at := map[string]*store.Store{}
		for _, i := range places {
			sources.Stores = append(sources.Stores, c.Stores[i])
			at[c.Stores[i]] = stores[i].Store
		}
		sources.Open = func(dir string) (*store.Store, func() error, error) {
			return at[dir], func() error { return nil }, nil // the collection closes it
		}
		crawls, err := judged.Read(ctx, sources)
		if c.Partial && errors.Is(err, store.ErrDamaged) {
			continue // their figures are not known
		}
		if err != nil {
			return err
		}
		result := crawls.Measure(0)
		if len(places) == 1 {
			result.Stores = []eval.Figures{result.Figures}
		}
		for k, i := range places {
			told[i].Harvest, told[i].Recall = figuresOf(&result.Stores[k])
		}
	}
	return nil
}

func figuresOf(f *eval.Figures) (card.Harvest, *card.Recall) {
	h := card.Harvest{Relevant: f.Relevant, Fetched: f.Fetched, Share: f.Harvest, CI: (*[2]float64)(f.HarvestCI)}
	e := f.RecallEstimate
	if e == nil {
		return h, nil
	}
	return h, &card.Recall{Value: e.Value, CI: e.CI, Method: e.Method, Caution: e.Caution}
}

// chose lists the flags that selected the pages.
func (c *exportCmd) chose(choice *collection.Choice) (flags []string) {
	add := func(name, value string) {
		if value != "" {
			flags = append(flags, "--"+name+" "+value)
		}
	}
	if c.Kept {
		flags = append(flags, "--kept")
	}
	add("label", strings.Join(c.Label, ","))
	if c.MinScore != nil {
		add("min-score", fmt.Sprint(*c.MinScore))
	}
	add("lang", strings.Join(choice.Langs, ","))
	add("host", strings.Join(c.Host, ","))
	add("include", c.Include)
	if !choice.Since.IsZero() {
		add("since", choice.Since.UTC().Format(time.RFC3339))
	}
	if c.Limit > 0 {
		add("limit", strconv.Itoa(c.Limit))
	}
	return flags
}
