package webstats

import (
	"fmt"
	"math"
)

// depthTable is what was known, requested and found at each depth.
func (c *urlCounts) depthTable() Table {
	t := Table{Name: "depths", Title: "Requests, downloads and new links by depth",
		Columns: []Column{{"depth", "depth", Whole}, {"known", "known", Whole}, {"requested", "requested", Whole}, {"downloaded", "downloaded", Whole}, {"stored", "stored", Whole}, {"new_links", "new links", Whole}, {"new_links_per_page", "new a page", Number}, paperColumn(Number)},
		Note:    "New links are URLs first named by a link of a page at this depth; new a page is their number per downloaded page."}
	last := len(paperFound) - 1
	for i, d := range c.depths {
		if d.known > 0 {
			last = max(last, i)
		}
	}
	for i, d := range c.depths[:last+1] {
		row := []any{int64(i), d.known, d.requested, d.downloaded, d.stored, d.found, ratio(d.found, d.downloaded), nil}
		if i < len(paperFound) {
			row[7] = paperFound[i]
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// kindTables are pages and links by kind.
func (c *pageCounts) kindTables() []Table {
	pages := Table{Name: "page_kinds", Title: "Pages by the kinds of their links",
		Columns: []Column{{"kinds", "kinds", Words}, {"pages", "pages", Whole}, {"share", "share", Share}},
		Note:    "a anchors, f frames, h others, as URLs in scripts; 0 none."}
	total := sum(c.kinds)
	for _, kind := range byCount(c.kinds, func(n int64) int64 { return n }) {
		name := kind
		if kind == notKnown {
			name = "not known"
		}
		pages.Rows = append(pages.Rows, []any{name, c.kinds[kind], share(c.kinds[kind], total)})
	}
	links := Table{Name: "link_kinds", Title: "Links by kind, repeated ones too",
		Columns: []Column{{"kind", "kind", Words}, {"links", "links", Whole}, {"share", "share", Share}}}
	all := c.byKind[0] + c.byKind[1] + c.byKind[2]
	for i, name := range []string{"h", "a", "f"} {
		n := c.byKind[2-i]
		links.Rows = append(links.Rows, []any{name, n, share(n, all)})
	}
	if total > 0 && c.kinds[notKnown] == total {
		links.Rows, links.Note = nil, "Not known: the pages were stored by an earlier build."
	}
	return []Table{pages, links}
}

// table is of degrees in steps of powers of two.
func (d *degrees) table() Table {
	t := Table{Name: "degrees", Title: "Degrees: links to and from pages",
		Columns: []Column{{"from", "from", Whole}, {"to", "to", Whole}, {"in", "in, pages", Whole}, {"in_urls", "in, URLs", Whole}, {"out", "out, pages", Whole}},
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

var lawNames = []string{"in, pages", "in, URLs", "out, pages"}

// lawTable is of the fits to degrees.
func lawTable(laws []*powerLaw) Table {
	t := Table{Name: "power_laws", Title: "Power laws fitted to the tails of degrees",
		Columns: []Column{{"degrees", "degrees", Words}, {"tail", "tail", Whole}, {"tail_share", "share", Share}, {"x_min", "from", Whole}, {"alpha", "alpha", Number}, {"alpha_error", "error", Number}, {"ks", "KS", Number}, {"p", "P", Number}, {"against_lognormal", "vs log-n.", Number}}}
	for i, f := range laws {
		if f == nil {
			t.Rows = append(t.Rows, []any{lawNames[i], nil, nil, nil, nil, nil, nil, nil, nil})
			continue
		}
		row := []any{lawNames[i], f.tail, share(f.tail, f.n), int64(f.start), f.alpha, f.err, f.dist, f.p, nil}
		if !math.IsNaN(f.against) {
			row[8] = f.against
		}
		t.Rows = append(t.Rows, row)
		t.Note += f.verdict(lawNames[i]) + " "
	}
	if t.Note == "" {
		t.Note = fmt.Sprintf("No degree has a tail of %d.", leastTail)
	}
	return t
}

// verdict says what a fit is worth.
func (f *powerLaw) verdict(name string) string {
	if f.p < ruledOut {
		return fmt.Sprintf("%s: no power law (P %.2f).", name, f.p)
	}
	said := fmt.Sprintf("%s: a power law is possible for the highest %s (P %.2f)", name, percent(float64(f.tail)/float64(f.n)), f.p)
	switch {
	case f.against < -2:
		return said + "; a log-normal fits better."
	case f.against > 2:
		return said + "; it fits better than a log-normal."
	}
	return said + "; a log-normal fits as well."
}
