package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"fossick/crawler/plan"
	"fossick/eval"
	"fossick/export"
	"fossick/internal/cli"
	"fossick/internal/page"
	"fossick/store"
)

type exportCmd struct {
	Stores []string `arg:"" name:"store" placeholder:"STORE" help:"Stores of crawls, also of one that is running; their pages come in this order." predictor:"dirs"`
	To     []string `xor:"formats" placeholder:"FORMAT" enum:"$${formats}" help:"Format to write, one of those above; may be repeated, all in one pass. Give this or --all." group:"made"`
	All    bool     `xor:"formats" help:"Write all formats that are files into a folder, with a data set export." group:"made"`
	Output string   `short:"o" name:"output" required:"" placeholder:"FILE|DIR|URL" help:"A file, for one format that is a single file, compressed if its name ends in .gz or .zst; - is stdout. Else a folder. s3://BUCKET/NAME is an object, or a folder of objects." predictor:"files" group:"made"`

	Label    []string `placeholder:"L,L" help:"Only pages with one of these labels." group:"rows"`
	Kept     bool     `help:"Only pages that refine kept." group:"rows"`
	MinScore *float64 `placeholder:"X" help:"Only pages whose degree of relevance is at least this." group:"rows" expert:""`
	Lang     []string `placeholder:"L,L" help:"Only pages in one of these languages, as en." group:"rows"`
	Host     []string `placeholder:"H,H" help:"Only pages of these hosts." group:"rows" expert:""`
	Include  string   `placeholder:"REGEX" help:"Only pages whose URL matches." group:"rows"`
	Since    string   `placeholder:"TIME" help:"Only pages fetched since: a day, a time, or an age as 2w." group:"rows"`
	Purpose  string   `type:"purpose" placeholder:"WHAT" help:"Purpose of the pages: search, answer, training, research or archive; pages whose owners refuse it are left out [the crawl's purpose]." group:"rows" predictor:"search,answer,training,research,archive" expert:""`
	Limit    int      `placeholder:"N" help:"Write only the first N pages." group:"rows"`
	Partial  bool     `help:"Skip damaged records, and count them." group:"rows" expert:""`
}

func (exportCmd) Help() string {
	says := &strings.Builder{}
	for _, f := range export.Formats() {
		cli.Fprintf(says, "  %-10s %s\n", f.Name, f.Says)
	}
	return `Writes the pages of crawls in the formats of other programs. A file or folder gets its name when it is complete, and never replaces one with other content. The same stores and flags give the same bytes.

Formats:
` + says.String() + `
Examples:
  fossick export fossick-banking --to jsonl --kept -o banking.jsonl.zst
  fossick export fossick-banking --to markdown,csv --label banking -o pages
  fossick export fossick-banking --all -o banking-set`
}

// MoreHelp implements help.More.
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
	OffTopic  int      `json:"off_topic"` // written, but dropped by refine, or unrefined and not relevant to the crawl
	Damaged   int      `json:"damaged"`   // with --partial: records left out, or without their text
	Seconds   float64  `json:"seconds"`
}

// exportMemory is the heap in bytes at which the garbage collector works harder. All formats together
// use about 250 MiB, besides the store's mapped files.
const exportMemory = 288 << 20

func (c *exportCmd) Run(a *app) (err error) {
	if slices.Contains(c.To, export.Tables) {
		return c.tables(a)
	}
	defer limitHeap(exportMemory)()
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
	r := exportResult{Output: export.WithoutPassword(c.Output)}
	want := export.Want{}
	for _, f := range formats {
		r.Formats, want = append(r.Formats, f.Name), want.With(f.Want)
	}
	task := a.task("opening", "pages")
	defer task.End()
	pages, err := export.Open(a.ctx, c.Stores, export.Options{Open: a.openToRead, Partial: c.Partial, Text: mainText, Looked: func() { task.Add(1) }})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pages.Close()) }()
	selection, err := pages.Select(a.ctx, choice, want)
	if err != nil {
		return err
	}
	facts := func() (export.CardFacts, error) { return c.card(a.ctx, pages.Sources(), &choice, selection.Left) }
	var sinks []export.Sink
	for _, f := range formats {
		s, err := c.sink(a, f, at, len(formats), facts)
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

// countOffTopic passes pages on and counts those off topic, by refine's verdict or else the crawl's.
func (r *exportResult) countOffTopic(pages iter.Seq2[*export.Page, error]) iter.Seq2[*export.Page, error] {
	return func(yield func(*export.Page, error) bool) {
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

func exportFormatNames() (names []string) {
	for _, f := range export.Formats() {
		names = append(names, f.Name)
	}
	return names
}

func closeAll(sinks []export.Sink) (err error) {
	for _, s := range sinks {
		err = errors.Join(err, s.Close())
	}
	return err
}

// formats returns each format asked for once; --all leaves out tables, which need passes of their own.
func (c *exportCmd) formats() (formats []export.Format) {
	for _, f := range export.Formats() {
		if slices.Contains(c.To, f.Name) || c.All && f.File != "" && f.Name != export.Tables {
			formats = append(formats, f)
		}
	}
	return formats
}

// tables exports the format tables, as convert does.
func (c *exportCmd) tables(a *app) error {
	if len(c.formats()) > 1 {
		return usagef("--to %s: it reads the stores in passes of its own; export the other formats by another command", export.Tables)
	}
	all := exportCmd{Stores: c.Stores, To: c.To, Output: c.Output, Partial: c.Partial}
	if !reflect.DeepEqual(*c, all) {
		return usagef("--to %s: it takes whole stores; leave out the flags that choose pages", export.Tables)
	}
	return (&convertCmd{Stores: c.Stores, Output: c.Output, Partial: c.Partial}).Run(a)
}

// sink opens a format at -o; a folder format that is exported alone uses the export's own folder.
func (c *exportCmd) sink(a *app, f export.Format, at export.Output, formats int, facts func() (export.CardFacts, error)) (export.Sink, error) {
	switch {
	case c.server() != "":
		return f.OpenServer(a.ctx, c.Output)
	case formats == 1 && strings.HasSuffix(f.File, "/"):
		return f.Open(at, "", facts)
	}
	return f.Open(at, f.File, facts)
}

// server returns the scheme of -o if it is the address of a server, else "".
func (c *exportCmd) server() string {
	for _, f := range export.Formats() {
		for _, scheme := range f.Schemes {
			if strings.HasPrefix(c.Output, scheme+"://") {
				return scheme
			}
		}
	}
	return ""
}

func (c *exportCmd) place(a *app, formats []export.Format) (export.Output, error) {
	if scheme := c.server(); scheme != "" {
		if c.All {
			return nil, usagef("-o %s://…: --all writes files; give a folder", scheme)
		}
		if len(formats) > 1 || !slices.Contains(formats[0].Schemes, scheme) {
			return nil, usagef("-o %s://…: that server takes one format; give a file or a folder for the others", scheme)
		}
		return export.Stream(io.Discard), nil // there are no files
	}
	for _, f := range formats {
		if f.File == "" {
			return nil, usagef("--to %s: want only a server's address, as -o %s://name@localhost/db", f.Name, f.Schemes[0])
		}
	}
	single := len(formats) == 1 && !strings.HasSuffix(formats[0].File, "/")
	if c.Output == "-" {
		if !single || a.json {
			return nil, usagef("-o -: stdout takes one format that is a single file, without --json; give a folder instead")
		}
		return export.Stream(a.stdout), nil
	}
	if strings.HasPrefix(c.Output, export.BucketScheme) {
		return export.OpenBucket(a.ctx, c.Output, single, os.Getenv)
	}
	return export.OpenPlace(c.Output, single && !isFolder(c.Output))
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return os.IsPathSeparator(path[max(0, len(path)-1)]) || err == nil && info.IsDir()
}

func (c *exportCmd) choice(now time.Time) (choice export.Choice, err error) {
	choice = export.Choice{Labels: c.Label, MinScore: c.MinScore, Kept: c.Kept, Hosts: c.Host, Limit: c.Limit, Purpose: page.Purpose(strings.ToLower(c.Purpose))}
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
		if choice.Since, err = parseMoment(c.Since, now); err != nil {
			return choice, usagef("--since %v", err)
		}
	}
	return choice, nil
}

func (r exportResult) print(w io.Writer) {
	cli.Fprintf(w, "%d pages as %s: %s, %d files, %d bytes\n", r.Records, strings.Join(r.Formats, ", "), r.Output, r.Files, r.Bytes)
	if r.OffTopic > 0 {
		cli.Fprintf(w, "%d of them are off topic: run fossick refine, then export with --kept to leave them out\n", r.OffTopic)
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
			cli.Fprintf(w, "%d pages %s\n", left.n, left.why)
		}
	}
}

// onCard are the settings that a data set card shows: those that decide which pages are fetched, and
// when. File names, network addresses and the operator's identity stay private.
var onCard = []string{
	"score", "order", "rho", "threshold", "keywords", "links", "include", "exclude", "tld", "lang",
	"max-pages", "max-time", "max-depth", "max-pages-per-host", "max-pages-per-site", "min-harvest", "patience",
	"types", "max-bytes", "near-duplicates", "traps", "sitemaps", "delay",
}

func (c *exportCmd) card(ctx context.Context, stores []*export.Source, choice *export.Choice, left func() export.Left) (export.CardFacts, error) {
	facts := export.CardFacts{Fossick: version, Choice: c.chose(choice), Purpose: string(choice.Purpose), Left: left}
	for _, from := range stores {
		one := export.CardStore{Source: from}
		saved, err := plan.Stored(from.Store)
		if err != nil {
			return facts, err
		}
		if saved.Score != "" { // otherwise the store has no crawl settings
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

// judge adds harvest and recall as eval measures them from the crawls' own labels; crawls of one topic
// share a recall.
func (c *exportCmd) judge(ctx context.Context, stores []*export.Source, told []export.CardStore) error {
	together := map[string][]int{}
	for i, from := range stores {
		if topics := from.Topics(); len(topics) > 0 {
			key := strings.Join(topics, ",")
			together[key] = append(together[key], i)
		}
	}
	for _, places := range together {
		sources := eval.Sources{Step: func(string) func() { return func() {} }}
		at := map[string]*store.Store{}
		for _, i := range places {
			sources.Stores = append(sources.Stores, c.Stores[i])
			at[c.Stores[i]] = stores[i].Store
		}
		sources.Open = func(dir string) (*store.Store, func() error, error) {
			return at[dir], func() error { return nil }, nil // the collection closes it
		}
		crawls, err := eval.ReadCrawls(ctx, sources)
		if c.Partial && errors.Is(err, store.ErrDamaged) {
			continue // their figures stay unknown
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

func figuresOf(f *eval.Figures) (export.Harvest, *export.Recall) {
	h := export.Harvest{Relevant: f.Relevant, Fetched: f.Fetched, Share: f.Harvest, CI: (*[2]float64)(f.HarvestCI)}
	e := f.RecallEstimate
	if e == nil {
		return h, nil
	}
	return h, &export.Recall{Value: e.Value, CI: e.CI, Method: e.Method, Caution: e.Caution}
}

func (c *exportCmd) chose(choice *export.Choice) (flags []string) {
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

// mainText returns a page's main text, or all of its text if it is not HTML.
func mainText(body []byte, p *export.Page, want export.Want) (text, markdown string) {
	m, text := mainPart(body, p.ContentType)
	if m == nil {
		text = strings.TrimSpace(text)
		return text, text
	}
	if want.Text {
		text = m.Text()
	}
	if want.Markdown {
		markdown = m.Markdown(absolute(p.URL))
	}
	return text, markdown
}

// absolute returns a function that resolves a page's links; links within the page become "".
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
