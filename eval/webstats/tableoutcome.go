package webstats

import (
	"cmp"
	"maps"
	"slices"
)

// paperColumn is that of the paper's figures, by the web that they are of.
func paperColumn(unit Unit) Column { return Column{"paper_e", "Korea", unit} }

// outcomeTables are what became of URLs and of start pages, and those never requested.
func (c *urlCounts) outcomeTables() []Table {
	urls := Table{Name: "outcomes", Title: "Outcomes of URLs, and of exchanges",
		Columns: []Column{{"state", "state", Words}, {"urls", "URLs", Whole}, {"share", "share", Share}, {"exchanges", "exchanges", Whole}, {"exchanges_share", "share", Share}, paperColumn(Share)}}
	seeds := Table{Name: "seed_outcomes", Title: "Outcomes of start pages",
		Columns: []Column{{"state", "state", Words}, {"seeds", "start pages", Whole}, {"share", "share", Share}, paperColumn(Share)}}
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
	unasked := Table{Name: "unasked", Title: "URLs never requested",
		Columns: []Column{{"why", "why", Words}, {"urls", "URLs", Whole}, {"share", "share", Share}}}
	total := sum(c.unasked)
	for _, why := range byCount(c.unasked, func(n int64) int64 { return n }) {
		unasked.Rows = append(unasked.Rows, []any{why, c.unasked[why], share(c.unasked[why], total)})
	}
	return []Table{urls, seeds, unasked}
}

// withPapers are the outcomes with those of which only the paper has a figure.
func (c *urlCounts) withPapers(figures map[string]float64) map[string]*outcome {
	all := maps.Clone(c.outcomes)
	for state := range figures {
		if all[state] == nil {
			all[state] = &outcome{}
		}
	}
	return all
}

// codeTable is of the answers' codes.
func (c *urlCounts) codeTable() Table {
	t := Table{Name: "codes", Title: "Status codes of answers",
		Columns: []Column{{"code", "code", Whole}, {"answers", "answers", Whole}, {"share", "share", Share}}}
	total := sum(c.codes)
	for _, code := range rows(c.codes) {
		t.Rows = append(t.Rows, []any{int64(code), c.codes[code], share(c.codes[code], total)})
	}
	return t
}

// copyTable is of the answers with a page.
func (c *urlCounts) copyTable() Table {
	total := c.copies.own + c.copies.same + c.copies.near
	t := Table{Name: "duplicates", Title: "Duplicates and near-duplicates",
		Columns: []Column{{"content", "content", Words}, {"urls", "URLs", Whole}, {"share", "share", Share}}}
	for _, row := range []struct {
		name string
		n    int64
	}{{"its own", c.copies.own}, {"equal to another's", c.copies.same}, {"nearly equal to another's", c.copies.near}} {
		t.Rows = append(t.Rows, []any{row.name, row.n, share(row.n, total)})
	}
	return t
}

func (c *urlCounts) protocolTable() Table {
	t := Table{Name: "http_versions", Title: "HTTP versions of answers whose header is kept",
		Columns: []Column{{"version", "version", Words}, {"answers", "answers", Whole}, {"share", "share", Share}}}
	total := sum(c.protocols)
	for _, p := range byCount(c.protocols, func(n int64) int64 { return n }) {
		t.Rows = append(t.Rows, []any{cmp.Or(p, "not known"), c.protocols[p], share(c.protocols[p], total)})
	}
	if total == 0 {
		t.Note = "Not known: no header is kept, as in imports and in stores of earlier builds."
	}
	return t
}

func (c *urlCounts) schemeTable() Table {
	t := Table{Name: "schemes", Title: "With TLS (https) and without",
		Columns: []Column{{"scheme", "scheme", Words}, {"urls", "known", Whole}, {"requested", "requested", Whole}, {"downloaded", "downloaded", Whole}, {"stored", "stored", Whole}, {"share", "share", Share}}}
	total := int64(0)
	for _, s := range c.schemes {
		total += s.requested
	}
	for _, name := range rows(c.schemes) {
		s := c.schemes[name]
		t.Rows = append(t.Rows, []any{name, s.known, s.requested, s.downloaded, s.stored, share(s.requested, total)})
	}
	t.Note = "Shares are of the requested URLs."
	return t
}

func sum[K comparable](counts map[K]int64) (n int64) {
	for _, k := range counts {
		n += k
	}
	return n
}

// rows returns the keys in order.
func rows[K cmp.Ordered, V any](counts map[K]V) []K {
	keys := make([]K, 0, len(counts))
	for k := range counts {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// byCount returns the keys, those with most first.
func byCount[V any](counts map[string]V, n func(V) int64) []string {
	keys := rows(counts)
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(n(counts[b]), n(counts[a])) })
	return keys
}
