package main

import (
	"errors"
	"io"
	"strings"
	"time"

	"fossick/export/search"
	"fossick/internal/cli"
	"fossick/internal/page"
	"fossick/store"
)

type searchCmd struct {
	Store string   `arg:"" name:"store" placeholder:"STORE" help:"Store of a crawl, also of one that is running." predictor:"dirs"`
	Words []string `arg:"" name:"words" placeholder:"WORDS" help:"What pages must have: words, \"phrases\", title:WORD, url:WORD, host:H, site:S, label:L, lang:L; -WORD for what they must not have."`

	Label    []string `placeholder:"L,L" help:"Only pages with one of these labels." group:"rows"`
	MinScore *float64 `placeholder:"X" help:"Only pages whose degree of relevance is at least this." group:"rows"`
	Host     []string `placeholder:"H,H" help:"Only pages of these hosts." group:"rows"`
	Limit    int      `default:"10" placeholder:"N" help:"Number of pages to show [10]." group:"rows"`
}

func (searchCmd) Help() string {
	return `Finds pages of a crawl by the words of their title, headings, main text and address. A page must have all the words; they are compared by their stems, in the languages of the pages. In a shell, put single quotes around a phrase in quotation marks, and -- before a query that begins with a minus sign.

The index is in the folder search of the store. The first search makes it, and each later search updates it.

Examples:
  fossick search fossick-banking interest rate
  fossick search fossick-banking --label banking '"current account" -loan'`
}

type searchResult struct {
	Results []found `json:"results"`
	Total   int     `json:"total"`
	Seconds float64 `json:"seconds"` // of the query
	Indexed int     `json:"indexed"` // pages that had to be indexed or corrected before
	Rebuilt bool    `json:"rebuilt"` // the index was damaged or of another version
	Update  float64 `json:"index_seconds"`
}

type found struct {
	URL     string  `json:"url"`
	Title   string  `json:"title"`
	Label   *string `json:"label"`
	Score   float64 `json:"score"`
	Snippet string  `json:"snippet"` // hits stand between ** and **

	pieces search.Snippet
}

func (c *searchCmd) Run(a *app) (err error) {
	if c.Limit < 1 || c.Limit > 10000 {
		return usagef("--limit %d: want 1 to 10000", c.Limit)
	}
	query, err := search.Parse(strings.Join(c.Words, " "))
	if err != nil {
		return err
	}
	s, done, err := a.openToRead(c.Store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	counts, err := s.Counts()
	if err != nil {
		return err
	}
	task := a.task("indexing", "pages")
	defer task.End()
	task.Of(int(counts.Pages))
	began := time.Now()
	index, report, err := search.Fresh(a.ctx, s, search.Options{Text: searchText, Done: task.Add})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, index.Close()) }()
	task.End()
	r := searchResult{
		Results: []found{}, Indexed: report.Entered + report.Relabel + report.Removed, Rebuilt: report.Rebuilt, Update: time.Since(began).Seconds(),
	}
	began = time.Now()
	hits, total, err := index.Find(a.ctx, query, search.Filter{Labels: c.Label, Hosts: c.Host, MinScore: c.MinScore}, c.Limit)
	if err != nil {
		return err
	}
	r.Total, r.Seconds = total, time.Since(began).Seconds()
	marker := search.NewMarker(query)
	for _, h := range hits {
		one, err := shown(s, h, marker)
		if err != nil {
			return err
		}
		r.Results = append(r.Results, one)
	}
	return a.emit(r, func(w io.Writer) { r.print(w, a.colour) })
}

func shown(s *store.Store, h search.Hit, marker *search.Marker) (found, error) {
	one := found{URL: h.URL, Title: h.Title, Score: h.Score}
	if h.Label != "" {
		one.Label = &h.Label
	}
	body, err := s.Body(h.Number)
	if err != nil && !errors.Is(err, store.ErrDamaged) {
		return one, err
	}
	p, err := s.Page(h.Number)
	if err != nil {
		return one, err
	}
	text, _ := searchText(body, p)
	one.pieces = marker.Snippet(text, h.Lang)
	one.Snippet = one.pieces.Marked("**")
	return one, nil
}

// searchText returns a page's text for the index: its main text, or all text if it has none.
func searchText(body []byte, p *store.Page) (text, markdown string) {
	m, text := mainPart(body, p.ContentType)
	if m == nil {
		return text, ""
	}
	if text = m.Text(); text != "" {
		return text, m.Markdown(func(string) string { return "" })
	}
	if parsed, err := page.Parse(body, page.ParseOptions{URL: p.URL, ContentType: p.ContentType}); err == nil {
		text = parsed.Text
	}
	return text, ""
}

func (r searchResult) print(w io.Writer, colour bool) {
	for i, one := range r.Results {
		label := ""
		if one.Label != nil {
			label = *one.Label
		}
		cli.Fprint(w, one.Title, cli.Bold)
		cli.Fprintf(w, "\n  %s  (%s %.2f)\n  ", one.URL, label, one.Score)
		one.print(w, colour)
		io.WriteString(w, "\n")
		if i < len(r.Results)-1 {
			io.WriteString(w, "\n")
		}
	}
	if len(r.Results) > 0 {
		io.WriteString(w, "\n")
	}
	cli.Fprintf(w, "%d of %d pages, in %.0f ms\n", len(r.Results), r.Total, 1000*r.Seconds)
}

func (f *found) print(w io.Writer, colour bool) {
	if !colour {
		cli.Fprint(w, f.Snippet, cli.Plain)
		return
	}
	for i, piece := range f.pieces {
		style := cli.Plain
		if i%2 == 1 {
			style = cli.Bold
		}
		cli.Fprint(w, piece, style)
	}
}
