package webstats

import (
	"cmp"
	"maps"
	"slices"

	"fossick/store"
)

// renderKind is an outcome of a rendering and the reason for it.
type renderKind struct{ outcome, reason string }

func renderedKind(r *store.Rendering) renderKind {
	k := renderKind{"rendered", "always"}
	switch {
	case r.Quote != nil && r.Quote.Declined:
		return renderKind{"not rendered", "not worth its seconds"}
	case !r.Done():
		k.outcome = "failed"
	case r.Late:
		k.outcome = "not ready in time"
	}
	switch {
	case r.Quote == nil:
	case r.Quote.Recheck:
		k.reason = "check at random"
	default:
		k.reason = "worth its seconds"
	}
	return k
}

// renderCount is what rendering cost and brought.
type renderCount struct{ pages, turned, won, millis, requests, words, links int64 }

func (c *renderCount) add(r *store.Rendering) {
	c.pages, c.millis, c.requests = c.pages+1, c.millis+r.Millis, c.requests+int64(r.Requests)
	if r.Done() {
		c.words, c.links = c.words+int64(r.NowWords-r.Words), c.links+int64(r.NowLinks-r.Links)
		c.turned, c.won = c.turned+one(r.Turned), c.won+int64(r.Won)
	}
}

// renderCounts counts renderings by kind.
type renderCounts map[renderKind]*renderCount

func (c *renderCounts) add(r *store.Rendering) {
	if r == nil {
		return
	}
	if *c == nil {
		*c = renderCounts{}
	}
	k := renderedKind(r)
	if (*c)[k] == nil {
		(*c)[k] = &renderCount{}
	}
	(*c)[k].add(r)
}

// with adds the counts of other pages.
func (c renderCounts) with(others renderCounts) renderCounts {
	all := renderCounts{}
	for _, some := range []renderCounts{c, others} {
		for k, n := range some {
			if all[k] == nil {
				all[k] = &renderCount{}
			}
			a := all[k]
			*a = renderCount{a.pages + n.pages, a.turned + n.turned, a.won + n.won, a.millis + n.millis, a.requests + n.requests, a.words + n.words, a.links + n.links}
		}
	}
	return all
}

// table has a row for each outcome and reason that occurred, those with most pages first.
func (c renderCounts) table() resultTable {
	t := resultTable{Name: "rendering", Title: "Pages with scripts, and what running these brought",
		Columns: []tableColumn{{"outcome", "outcome", inLetters}, {"reason", "reason", inLetters}, {"pages", "pages", inWhole}, {"on_topic", "turned on topic", inWhole}, {"new_links", "new links", inWhole}, {"seconds", "seconds", inWhole}, {"requests", "requests", inWhole}, {"words", "words more", inWhole}, {"links", "links more", inWhole}}}
	kinds := slices.SortedFunc(maps.Keys(c), func(a, b renderKind) int {
		return cmp.Or(cmp.Compare(c[b].pages, c[a].pages), cmp.Compare(a.outcome, b.outcome), cmp.Compare(a.reason, b.reason))
	})
	for _, k := range kinds {
		n := c[k]
		t.Rows = append(t.Rows, []any{k.outcome, k.reason, n.pages, n.turned, n.won, n.millis / 1000, n.requests, n.words, n.links})
	}
	return t
}
