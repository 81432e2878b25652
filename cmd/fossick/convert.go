package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"fossick/crawler/cluster"
	"fossick/export"
	"fossick/export/tables"
	"fossick/internal/cli"
	"fossick/internal/page"
)

type convertCmd struct {
	Stores  []string `arg:"" name:"store" placeholder:"STORE" help:"Stores of crawls, also of one that is running; pages are numbered in this order." predictor:"dirs"`
	Output  string   `short:"o" name:"output" placeholder:"DIR" help:"Folder to make; with --crawl, on one machine only." predictor:"dirs"`
	Partial bool     `help:"Skip damaged records, and count them." expert:""`
	withAgents
}

func (convertCmd) Help() string {
	return `Numbers the pages, sites and domains of crawls, and the communities of sites on one subject. Writes them, with titles and descriptions, as tables that PostgreSQL loads. Writes the links between page ids twice: as a table, and as a compact file that rank, simulate and graph read. A page in several stores belongs to the first of them; links can lead from one store to another. Here a site is a host, and a domain is what other verbs call a site.

  pages, sites, domains, communities, links   tables (.copy), schema.sql and load.sql
  links.bin, links.urls.tsv                   links by page ids, and the ids' URLs
  manifest.json                               stores and files, with checksums

With --crawl, agents on several machines convert their stores together. Run the command on each machine; the one with -o gets the folder. The others send it their parts over the exchange, without bodies, and keep them beside their stores, in .STORE.part.convert, until the conversion is complete.

The folder gets its name when it is complete. To continue an interrupted conversion, run the command again; finished parts wait in .DIR.convert beside the folder. The same stores give the same bytes.

Examples:
  fossick convert fossick-banking -o banking-tables
  fossick convert fossick-banking old-crawl -o both
  fossick convert fossick-banking --crawl banking -o banking-tables \
      --nats nats://alpha:4222`
}

// convertResult is the output of convert (cli.md).
type convertResult struct {
	Pages       uint64  `json:"pages"`
	Sites       uint64  `json:"sites"`
	Domains     uint64  `json:"domains"`
	Communities uint64  `json:"communities"`
	Links       uint64  `json:"links"`
	Bytes       int64   `json:"bytes"`
	Files       int     `json:"files"`
	Output      string  `json:"output"`
	Repeated    uint64  `json:"repeated"`  // left out: an earlier store has them
	Withdrawn   int     `json:"withdrawn"` // left out, as their authors ask
	Refused     int     `json:"refused"`   // left out: their owners refuse the crawl's purpose
	Damaged     int     `json:"damaged"`   // with --partial: records left out, or without a description
	Found       int     `json:"found"`     // files that an earlier run had finished
	Seconds     float64 `json:"seconds"`
	At          string  `json:"at,omitempty"` // with --crawl: the agent that has the folder
}

func (c *convertCmd) check() error {
	if c.Output == "" && c.Crawl == "" {
		return usagef("give -o DIR, the folder to make")
	}
	return c.checkTogether(c.Stores)
}

func (c *convertCmd) Run(a *app) error {
	c.Stores = agentsOf(c.Stores)
	if err := c.check(); err != nil {
		return err
	}
	defer limitHeap(exportMemory)()
	began := time.Now()
	did, err := c.convert(a)
	if err != nil {
		return err
	}
	r := convertResult{
		Pages: did.Pages, Sites: did.Sites, Domains: did.Domains, Communities: did.Communities, Links: did.Links,
		Bytes: did.Bytes, Files: did.Files, Output: c.Output, Repeated: did.Repeated, Withdrawn: did.Withdrawn,
		Refused: did.Refused, Damaged: did.Damaged, Found: did.Found, At: did.At, Seconds: time.Since(began).Seconds(),
	}
	return a.emit(r, r.print)
}

// convert converts the stores, or this agent's store if other agents take part.
func (c *convertCmd) convert(a *app) (r *tables.Result, err error) {
	opt := tables.Options{
		Stores: c.Stores, Dir: c.Output, Version: version,
		Collection: export.Options{Open: a.openToRead, Text: describe, Partial: c.Partial},
	}
	run := func(ctx context.Context, do func(context.Context, tables.Options) (*tables.Result, error)) error {
		task := a.task("opening", "")
		defer task.End()
		opt.Step, opt.Did = task.Step, task.Add
		r, err = do(ctx, opt)
		return err
	}
	if c.Crawl == "" {
		err = run(a.ctx, tables.Run)
		return r, err
	}
	settings := fmt.Sprintf("fossick %s, partial %v", version, c.Partial)
	ready := func() error { return nil }
	err = c.meet(a, c.Stores[0], "convert", settings, ready, func(ctx context.Context, s cluster.TaskSession, id cluster.AgentID) error {
		return run(ctx, func(ctx context.Context, opt tables.Options) (*tables.Result, error) {
			return tables.Together(ctx, opt, tables.Group{Me: s.Me, Agents: s.Agents, Name: string(id), Peers: s.Peer})
		})
	})
	if err != nil {
		return nil, fmt.Errorf("converting with the other agents of %s: %w", c.Crawl, err)
	}
	return r, nil
}

func (r convertResult) print(w io.Writer) {
	where := r.Output
	if where == "" {
		where = "a folder at agent " + r.At
	}
	cli.Fprintf(w, "%d pages of %d sites, %d domains and %d communities, %d links: %s, %d files, %d bytes\n",
		r.Pages, r.Sites, r.Domains, r.Communities, r.Links, where, r.Files, r.Bytes)
	for _, left := range []struct {
		n   uint64
		why string
	}{
		{r.Repeated, "pages left out: an earlier store has them"},
		{uint64(r.Withdrawn), "pages left out: their authors ask not to keep them"},
		{uint64(r.Refused), "pages left out: their owners refuse this use"},
		{uint64(r.Damaged), "pages damaged: fossick verify lists them"},
		{uint64(r.Found), "files were finished by an earlier run"},
	} {
		if left.n > 0 {
			cli.Fprintf(w, "%d %s\n", left.n, left.why)
		}
	}
}

// describe returns a page's own description, else the start of its main text.
func describe(body []byte, p *export.Page, _ export.Want) (text, _ string) {
	parsed, err := page.Parse(body, page.ParseOptions{URL: p.URL, ContentType: p.ContentType})
	if err != nil {
		return "", "" // it has no words
	}
	if parsed.Description != "" {
		return parsed.Description, ""
	}
	m, text := mainPart(body, p.ContentType)
	if m != nil {
		text = m.Text()
	}
	return startOf(text), ""
}

const descriptionRunes = 300

// startOf returns the start of a text on one line, up to the end of a word.
func startOf(text string) string {
	var b strings.Builder
	n := 0
	for word := range strings.FieldsSeq(text) {
		n += utf8.RuneCountInString(word) + 1
		if n > descriptionRunes+1 {
			if b.Len() == 0 { // a language without spaces
				return string([]rune(word)[:descriptionRunes])
			}
			break
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
	}
	return b.String()
}
