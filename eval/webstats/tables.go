package webstats

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The figures of paper E, E5. Its code is any answer but 200, even a redirect; its ok includes duplicates.
var (
	paperStates = map[string]float64{"ok": 0.9126, "code": 0.0829, "connect_error": 0.0011}
	paperSeeds  = map[string]float64{"ok": 0.8708, "code": 0.0409, "no_ip": 0.0368}
	paperLabels = map[int]float64{4: 0.524}                                                                                                           // by labels of start-page hosts
	paperFound  = []float64{5.6, 6.0, 3.9, 2.4, 1.6}                                                                                                  // new links per page, by depth
	paperSteps  = map[int]float64{0: 0.999}                                                                                                           // by page size
	paperMeans  = map[string][3]any{meanSeed: {int64(5), 17.38, int64(49)}, meanGotPath: {int64(0), 71.78, int64(255)}, meanSize: {nil, 18451., nil}} // least, mean, most
)

// paperOutcome is the success rate of page requests to Korea's web in 2002.
const paperOutcome = "in Korea in 2002 91.3 % did." // 67,488,127 of 73,954,114

// paperPacked is paper E's compressed size / size of pages: 400 GB / 1.2 TB.
const paperPacked = 1. / 3

func ofPaper[K comparable](figures map[K]float64, of K) any {
	if x, ok := figures[of]; ok {
		return x
	}
	return nil
}

func paperColumn(unit columnUnit) tableColumn { return tableColumn{"paper_e", "Korea", unit} }

// outcomeTables returns the outcomes of URLs and of start pages, and the URLs never requested.
func (c *urlCounts) outcomeTables() []resultTable {
	urls := resultTable{Name: "outcomes", Title: "Outcomes of URLs, and of exchanges",
		Columns: []tableColumn{{"state", "state", inLetters}, {"urls", "URLs", inWhole}, {"share", "share", inShares}, {"exchanges", "exchanges", inWhole}, {"exchanges_share", "share", inShares}, paperColumn(inShares)}}
	seeds := resultTable{Name: "seed_outcomes", Title: "Outcomes of start pages",
		Columns: []tableColumn{{"state", "state", inLetters}, {"seeds", "start pages", inWhole}, {"share", "share", inShares}, paperColumn(inShares)}}
	requested, exchanges, asked := int64(0), int64(0), int64(0)
	for _, o := range c.outcomes {
		requested, exchanges, asked = requested+o.urls, exchanges+o.exchanges, asked+o.seeds
	}
	all := c.withPapers(paperStates)
	for _, state := range byCount(all, func(o *outcome) int64 { return o.urls }) {
		o := all[state]
		urls.Rows = append(urls.Rows, []any{state, o.urls, share(o.urls, requested), o.exchanges, share(o.exchanges, exchanges), ofPaper(paperStates, state)})
	}
	all = c.withPapers(paperSeeds)
	for _, state := range byCount(all, func(o *outcome) int64 { return o.seeds }) {
		if o, paper := all[state], ofPaper(paperSeeds, state); o.seeds > 0 || paper != nil {
			seeds.Rows = append(seeds.Rows, []any{state, o.seeds, share(o.seeds, asked), paper})
		}
	}
	urls.Note = "URLs without an exchange are on hosts that were given up. Korea's ok includes duplicates; its code includes redirects."
	return []resultTable{urls, seeds, sharesOf("unasked", "URLs never requested", "why", "urls", c.unasked)}
}

// withPapers adds outcomes that only the paper has.
func (c *urlCounts) withPapers(figures map[string]float64) map[string]*outcome {
	all := maps.Clone(c.outcomes)
	for state := range figures {
		if all[state] == nil {
			all[state] = &outcome{}
		}
	}
	return all
}

func (c *urlCounts) codeTable() resultTable {
	t := resultTable{Name: "codes", Title: "Status codes of answers",
		Columns: []tableColumn{{"code", "code", inWhole}, {"answers", "answers", inWhole}, {"share", "share", inShares}}}
	total := sum(c.codes)
	for _, code := range slices.Sorted(maps.Keys(c.codes)) {
		t.Rows = append(t.Rows, []any{int64(code), c.codes[code], share(c.codes[code], total)})
	}
	return t
}

func (c *urlCounts) copyTable() resultTable {
	n, total := c.copies, c.copies.own+c.copies.same+c.copies.near
	return resultTable{Name: "duplicates", Title: "Duplicates and near-duplicates", Columns: shareColumns("content", "urls"), Rows: [][]any{
		{"its own", n.own, share(n.own, total)}, {"equal to another's", n.same, share(n.same, total)}, {"nearly equal to another's", n.near, share(n.near, total)},
	}}
}

func (c *urlCounts) protocolTable() resultTable {
	t := sharesOf("http_versions", "HTTP versions of answers whose header is kept", "version", "answers", c.protocols)
	if len(t.Rows) == 0 {
		t.Note = "Not known: no header is kept, as in imports and in stores of earlier builds."
	}
	return t
}

func (c *urlCounts) schemeTable() resultTable {
	t := resultTable{Name: "schemes", Title: "With TLS (https) and without",
		Columns: []tableColumn{{"scheme", "scheme", inLetters}, {"urls", "known", inWhole}, {"requested", "requested", inWhole}, {"downloaded", "downloaded", inWhole}, {"stored", "stored", inWhole}, {"share", "share", inShares}}}
	total := int64(0)
	for _, s := range c.schemes {
		total += s.requested
	}
	for _, name := range slices.Sorted(maps.Keys(c.schemes)) {
		s := c.schemes[name]
		t.Rows = append(t.Rows, []any{name, s.known, s.requested, s.downloaded, s.stored, share(s.requested, total)})
	}
	t.Note = "Shares are of the requested URLs."
	return t
}

// sharesOf counts things by name, the most frequent first.
func sharesOf(name, title, what, things string, counts map[string]int64) resultTable {
	t := resultTable{Name: name, Title: title, Columns: shareColumns(what, things)}
	total := sum(counts)
	for _, of := range byCount(counts, func(n int64) int64 { return n }) {
		t.Rows = append(t.Rows, []any{cmp.Or(of, "not known"), counts[of], share(counts[of], total)})
	}
	return t
}

func shareColumns(what, things string) []tableColumn {
	return []tableColumn{{what, what, inLetters}, {things, strings.Replace(things, "urls", "URLs", 1), inWhole}, {"share", "share", inShares}}
}

func sum[K comparable](counts map[K]int64) (n int64) {
	for _, k := range counts {
		n += k
	}
	return n
}

func byCount[V any](counts map[string]V, n func(V) int64) []string {
	keys := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(n(counts[b]), n(counts[a])) })
	return keys
}

func (c *urlCounts) depthTable() resultTable {
	t := resultTable{Name: "depths", Title: "Requests, downloads and new links by depth",
		Columns: []tableColumn{{"depth", "depth", inWhole}, {"known", "known", inWhole}, {"requested", "requested", inWhole}, {"downloaded", "downloaded", inWhole}, {"stored", "stored", inWhole}, {"new_links", "new links", inWhole}, {"new_links_per_page", "new a page", inNumbers}, paperColumn(inNumbers)},
		Note:    "New links are URLs first named by a link of a page at this depth; new a page is their number per downloaded page."}
	last := len(paperFound) - 1
	for i, d := range c.depths {
		if d.known > 0 {
			last = max(last, i)
		}
	}
	for i, d := range c.depths[:last+1] {
		row := []any{int64(i), d.known, d.requested, d.downloaded, d.stored, d.found, share(d.found, d.downloaded), nil}
		if i < len(paperFound) {
			row[7] = paperFound[i]
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (c *pageCounts) kindTables() []resultTable {
	pages := sharesOf("page_kinds", "Pages by the kinds of their links", "kinds", "pages", c.kinds)
	pages.Note = "a anchors, f frames, h others, as URLs in scripts; 0 none."
	links := resultTable{Name: "link_kinds", Title: "Links by kind, repeated ones too", Columns: shareColumns("kind", "links")}
	all := c.byKind[0] + c.byKind[1] + c.byKind[2]
	for i, name := range []string{"h", "a", "f"} {
		n := c.byKind[2-i]
		links.Rows = append(links.Rows, []any{name, n, share(n, all)})
	}
	if total := sum(c.kinds); total > 0 && c.kinds[notKnown] == total {
		links.Rows, links.Note = nil, "Not known: the pages were stored by an earlier build."
	}
	return []resultTable{pages, links}
}

func (d *degrees) table() resultTable {
	t := resultTable{Name: "degrees", Title: "Degrees: links to and from pages",
		Columns: []tableColumn{{"from", "from", inWhole}, {"to", "to", inWhole}, {"in", "in, pages", inWhole}, {"in_urls", "in, URLs", inWhole}, {"out", "out, pages", inWhole}},
		Note:    "In: stored pages that link to it. Out: URLs that the page links to, each once."}
	most := 0
	for _, counts := range []map[int]int64{d.in, d.known, d.out} {
		for degree := range counts {
			most = max(most, degree)
		}
	}
	for from, to := 0, 0; from <= most; from, to = to+1, max(1, 2*to+1) {
		row := []any{int64(from), int64(to)}
		for _, counts := range []map[int]int64{d.in, d.known, d.out} {
			row = append(row, within(counts, from, to))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func within(counts map[int]int64, from, to int) (n int64) {
	for degree, k := range counts {
		if degree >= from && degree <= to {
			n += k
		}
	}
	return n
}

// named returns the tables by name: media types, hosts and the like.
func (c *counts) named(ctx context.Context, n int) (all []resultTable, err error) {
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
		table := resultTable{Name: t.name, Title: t.title, Columns: []tableColumn{{t.column, strings.ReplaceAll(t.column, "_", " "), inLetters}}}
		switch t.by {
		case nAnswers:
			table.Columns = append(table.Columns, tableColumn{"answers", "answers", inWhole}, tableColumn{"share", "share", inShares})
		case nPages:
			table.Columns = append(table.Columns, tableColumn{"pages", "pages", inWhole}, tableColumn{"share", "share", inShares}, tableColumn{"bytes_per_page", "bytes a page", inWhole}, tableColumn{"links_per_page", "links a page", inNumbers})
		case nRequested:
			table.Columns, table.Note = append(table.Columns, placeColumns...), placeNote
		}
		found.fill(&table, t.by, t.unknown)
		all = append(all, table)
	}
	return all, nil
}

var placeColumns = []tableColumn{
	{"urls", "known", inWhole}, {"requested", "requested", inWhole}, {"downloaded", "got", inWhole}, {"downloaded_share", "share", inShares}, {"pages", "stored", inWhole},
	{"bytes_per_page", "bytes", inWhole}, {"links_per_page", "links", inNumbers}, {"ms_per_answer", "ms", inWhole},
}

const placeNote = "Got: URLs downloaded, with their share of the requested ones. Bytes and links are means over stored pages, ms is a mean over answers."

func (t *top) fill(table *resultTable, by int, unknown string) {
	add := func(name string, s tally) {
		row := []any{name}
		pages := []any{rounded(s[nBytes], s[nPages]), share(s[nLinks], s[nPages])}
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

func rounded(sum, n int64) any {
	if n == 0 {
		return nil
	}
	return (sum + n/2) / n
}
