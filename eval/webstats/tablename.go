package webstats

import (
	"context"
	"fmt"
	"strings"
)

// named are the tables of names: what is counted of pages and answers, and by place.
func (c *counts) named(ctx context.Context, n int) (all []Table, err error) {
	for _, t := range []struct {
		name, title, column, unknown string
		of                           *groups
		by                           int
	}{
		{"media_types", "Media types of stored pages", "type", "not said", c.pages.media, nPages},
		{"charsets", "Character sets of stored pages", "charset", "not known", c.pages.charsets, nPages},
		{"languages", "Languages of stored pages", "language", "not known", c.pages.langs, nPages},
		{"labels", "Labels of stored pages", "label", "none", c.pages.labels, nPages},
		{"servers", "Servers, by answers whose header is kept", "server", "not said", c.urls.servers, nAnswers},
		{"tlds", "Top-level domains", "tld", "none", c.urls.tops, nRequested},
		{"second_levels", "Second-level domains", "second_level", "none", c.urls.seconds, nRequested},
		{"sites", "Sites", "site", "none", c.urls.sites, nRequested},
	} {
		found, err := t.of.top(ctx, n, t.by)
		if err != nil {
			return nil, err
		}
		table := Table{Name: t.name, Title: t.title, Columns: []Column{{t.column, strings.ReplaceAll(t.column, "_", " "), Words}}}
		switch t.by {
		case nAnswers:
			table.Columns = append(table.Columns, Column{"answers", "answers", Whole}, Column{"share", "share", Share})
		case nPages:
			table.Columns = append(table.Columns, Column{"pages", "pages", Whole}, Column{"share", "share", Share}, Column{"bytes_per_page", "bytes a page", Whole}, Column{"links_per_page", "links a page", Number})
		case nRequested:
			table.Columns, table.Note = append(table.Columns, placeColumns...), placeNote
		}
		found.fill(&table, t.by, t.unknown)
		all = append(all, table)
	}
	return all, nil
}

var placeColumns = []Column{
	{"urls", "known", Whole}, {"requested", "requested", Whole}, {"downloaded", "got", Whole}, {"downloaded_share", "share", Share}, {"pages", "stored", Whole},
	{"bytes_per_page", "bytes", Whole}, {"links_per_page", "links", Number}, {"ms_per_answer", "ms", Whole},
}

const placeNote = "Got: URLs downloaded, with their share of the requested ones. Bytes and links are means over stored pages, ms is a mean over answers."

// fill writes the rows.
func (t *top) fill(table *Table, by int, unknown string) {
	add := func(name string, s tally) {
		row := []any{name}
		pages := []any{rounded(s[nBytes], s[nPages]), ratio(s[nLinks], s[nPages])}
		switch by {
		case nAnswers:
			row = append(row, s[nAnswers], share(s[nAnswers], t.all))
		case nPages:
			row = append(append(row, s[nPages], share(s[nPages], t.all)), pages...)
		case nRequested:
			row = append(row, s[nKnown], s[nRequested], s[nDownloaded], share(s[nDownloaded], s[nRequested]), s[nPages])
			row = append(append(row, pages...), rounded(s[nMillis], s[nAnswers]))
		}
		table.Rows = append(table.Rows, row)
	}
	for _, g := range t.groups {
		name := g.name
		if name == notKnown {
			name = unknown
		}
		add(name, g.tally)
	}
	if t.left > 0 {
		add(fmt.Sprintf("(%d more)", t.left), t.others)
	}
}

// rounded is a mean as a whole number.
func rounded(sum, n int64) any {
	if n == 0 {
		return nil
	}
	return (sum + n/2) / n
}
