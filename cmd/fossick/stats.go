package main

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"fossick/eval/webstats"
	"fossick/internal/cli"
	"fossick/internal/fileio"
	"fossick/internal/report"
	"fossick/store"
)

type statsCmd struct {
	Stores []string `arg:"" name:"store" placeholder:"STORE" help:"Stores of crawls, also of one that is running; their figures are added up." predictor:"dirs"`
	Table  []string `placeholder:"NAME,NAME" help:"Only these tables, in the text and in --csv; their names are the keys of --json [all]."`
	Top    int      `default:"20" placeholder:"N" help:"Rows of a table of names, such as sites; one more row adds up the rest. 0: all [20]."`
	CSV    string   `name:"csv" placeholder:"DIR" help:"Write each table to a file in DIR that has the table's name." predictor:"dirs"`
	HTML   string   `name:"html" placeholder:"FILE" help:"Write a page with plots and all tables."`
}

func (statsCmd) Help() string {
	return `Describes a web by the records of crawls: outcomes, codes, lengths, sizes, types, languages, servers, depths, links, duplicates and response times, also by domain, site and label. Beside them it shows the figures of Korea's web in 2002 (Kim and Lee, 2003). It needs little memory: about five bytes a URL.

Examples:
  fossick stats fossick-banking
  fossick stats fossick-banking --table outcomes,tlds,degrees
  fossick stats fossick-banking --html web.html --csv tables`
}

func (c *statsCmd) Run(a *app) (err error) {
	if c.Top < 0 {
		return usagef("--top %d: want a number of rows, or 0 for all", c.Top)
	}
	if err := knownTables(c.Table); err != nil {
		return err
	}
	c.Stores = agentsOf(c.Stores)
	var sources []webstats.Source
	records := 0
	for _, dir := range c.Stores {
		s, done, openErr := a.openToRead(dir)
		if openErr != nil {
			return openErr
		}
		defer func() { err = errors.Join(err, done()) }()
		counts, err := s.Counts()
		if err != nil {
			return err
		}
		records += int(counts.URLs + counts.Pages)
		sources = append(sources, &storeSource{s: s})
	}
	task := a.task("counting", "records")
	defer task.End()
	task.Of(records)
	r, err := webstats.Count(a.ctx, webstats.Options{Top: c.Top, Progress: task.Add}, sources...)
	if err != nil {
		return err
	}
	task.End()
	if err := c.write(a, r); err != nil {
		return err
	}
	return a.emit(r, func(w io.Writer) { c.print(w, r) })
}

func knownTables(names []string) error {
	for _, name := range names {
		if !slices.Contains(webstats.Names, name) {
			return usagef("--table %s: want one of %s", name, cli.SomeNames(name, webstats.Names))
		}
	}
	return nil
}

func (c *statsCmd) write(a *app, r *webstats.Result) error {
	if c.CSV != "" {
		if err := webstats.WriteCSV(c.CSV, r.Only(c.Table)); err != nil {
			return err
		}
	}
	if c.HTML == "" {
		return nil
	}
	return fileio.WritePage(c.HTML, func(w io.Writer) error {
		return r.WriteReport(w, strings.Join(c.Stores, ", "),
			report.Fact{Name: "counted by", Value: "fossick " + version}, report.Fact{Name: "random seed", Value: fmt.Sprint(a.seed)})
	})
}

func (c *statsCmd) print(w io.Writer, r *webstats.Result) {
	if len(c.Table) == 0 {
		for _, s := range r.Sentences() {
			cli.Fprintln(w, s)
		}
		io.WriteString(w, "\n")
	}
	webstats.WriteText(w, r.Only(c.Table), statsColumns)
	if c.HTML != "" || c.CSV != "" {
		io.WriteString(w, "\n")
	}
	if c.CSV != "" {
		cli.Fprintf(w, "tables: %s\n", c.CSV)
	}
	if c.HTML != "" {
		cli.Fprintf(w, "page: %s\n", c.HTML)
	}
}

// statsColumns is the width of the text output.
const statsColumns = 80

type storeSource struct{ s *store.Store }

func (f *storeSource) URLs() iter.Seq2[*webstats.URL, error] {
	return func(yield func(*webstats.URL, error) bool) {
		var u webstats.URL
		for k, err := range f.s.URLs().Known() {
			if err != nil {
				yield(nil, err)
				return
			}
			u = webstats.URL{
				ID: uint64(k.ID), From: uint64(k.From), URL: k.URL, Seed: k.Via == store.ViaSeed, Linked: k.Via == store.ViaLink, Depth: k.Depth,
				Exchanges: u.Exchanges[:0], Times: u.Times[:0], Headers: u.Headers[:0],
			}
			if k.Outcome != nil {
				u.State, u.Near, u.Rendering = k.Outcome.State, k.Outcome.Resemblance > 0, k.Outcome.Rendering
			}
			for i := range k.Visits {
				v := &k.Visits[i]
				u.Exchanges = append(u.Exchanges, webstats.Exchange{State: v.State, Code: v.Code, Millis: v.Millis})
				u.Times = append(u.Times, v.Start)
			}
			for i := range k.Wires {
				u.Headers = append(u.Headers, webstats.Header{Protocol: k.Wires[i].Protocol, Response: k.Wires[i].Response})
			}
			if !yield(&u, nil) {
				return
			}
		}
	}
}

func (f *storeSource) Pages() iter.Seq2[*webstats.Page, error] {
	topic := f.s.Info().Topic
	return func(yield func(*webstats.Page, error) bool) {
		var p webstats.Page
		for l, err := range f.s.Listed() {
			if err != nil {
				yield(nil, err)
				return
			}
			if l.Withdrawn {
				continue
			}
			p = webstats.Page{
				ID: uint64(l.ID), URL: l.URL, ContentType: l.ContentType, Charset: l.Charset, Lang: l.Lang, Label: labelOf(l, topic),
				Bytes: l.Bytes, Packed: l.Packed, Links: p.Links[:0], Kinds: l.LinkKinds, Unseen: l.Unseen - 1, Rendering: l.Rendering,
			}
			for _, id := range l.Links {
				p.Links = append(p.Links, uint64(id))
			}
			if !yield(&p, nil) {
				return
			}
		}
	}
}

// labelOf returns refine's label of a page, else the crawl model's, else the topic if keywords match it.
func labelOf(l *store.Listed, topic string) string {
	switch {
	case l.Refined != nil:
		return l.Refined.Label
	case l.Label == "" && l.Relevant:
		return topic
	}
	return l.Label
}

func (f *storeSource) Hosts() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for h, err := range f.s.Hosts() {
			if err != nil {
				yield("", err)
				return
			}
			if h.Requests > 0 && !yield(h.Name, nil) {
				return
			}
		}
	}
}
