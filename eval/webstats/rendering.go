package webstats

import "fossick/store"

// Kinds of rendered pages, by outcome.
const (
	renderedWhole = iota
	renderedLate
	renderedNot
	renderedKinds
)

func renderedKind(r *store.Rendering) int {
	switch {
	case !r.Done():
		return renderedNot
	case r.Late:
		return renderedLate
	}
	return renderedWhole
}

// renderCount is what rendering cost and brought.
type renderCount struct{ pages, millis, requests, words, links int64 }

func (c *renderCount) add(r *store.Rendering) {
	c.pages, c.millis, c.requests = c.pages+1, c.millis+r.Millis, c.requests+int64(r.Requests)
	if r.Done() {
		c.words, c.links = c.words+int64(r.NowWords-r.Words), c.links+int64(r.NowLinks-r.Links)
	}
}

// renderTable has a row for each outcome that occurred.
func (c *pageCounts) renderTable() resultTable {
	t := resultTable{Name: "rendering", Title: "Pages whose scripts ran, and what that brought",
		Columns: []tableColumn{{"outcome", "outcome", inLetters}, {"pages", "pages", inWhole}, {"seconds", "seconds", inWhole}, {"requests", "requests", inWhole}, {"words", "words more", inWhole}, {"links", "links more", inWhole}}}
	for kind, name := range [...]string{renderedWhole: "rendered", renderedLate: "not ready in time", renderedNot: "failed"} {
		if n := c.rendered[kind]; n.pages > 0 {
			t.Rows = append(t.Rows, []any{name, n.pages, n.millis / 1000, n.requests, n.words, n.links})
		}
	}
	return t
}
