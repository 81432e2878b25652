package eval

import (
	"cmp"
	"slices"

	"fossick/internal/report"
)

// pageList is a list of pages that the report shows one by one.
type pageList struct {
	Title, Note string
	Rows        []pageRow
}

type pageRow struct {
	URL      string // whole, for the link
	Short    string
	Title    string
	Score    float64
	Relevant bool
	Label    string
	Rule     string
}

// pageLists returns the best pages and the worst mistakes.
func pageLists(c *Crawl) []pageList {
	best := pick(c, func(*Page) bool { return true }, func(p *Page) float64 { return p.Score }, true)
	lists := []pageList{{"Top pages", "The pages that the crawl scored highest, the best first.", best}}
	if c.Kept() == nil {
		return lists
	}
	topic := func(p *Page) float64 { return p.Refined.Score }
	kept := pick(c, func(p *Page) bool { return p.Refined.Kept && !p.Relevant }, topic, true)
	dropped := pick(c, func(p *Page) bool { return !p.Refined.Kept && p.Relevant }, topic, false)
	return append(lists,
		pageList{"Kept, but off topic", "The most certain first: examples to teach the model next, or errors in the labels.", kept},
		pageList{"Dropped, but on topic", "The most certain first.", dropped})
}

// pick returns the first pages that match, by falling or rising score; equal
// scores keep the order of the crawl.
func pick(c *Crawl, match func(*Page) bool, score func(*Page) float64, falling bool) []pageRow {
	var found []*Page
	for i := range c.Pages {
		if match(&c.Pages[i]) {
			found = append(found, &c.Pages[i])
		}
	}
	slices.SortStableFunc(found, func(a, b *Page) int {
		if falling {
			a, b = b, a
		}
		if d := cmp.Compare(score(a), score(b)); d != 0 {
			return d
		}
		if falling {
			a, b = b, a
		}
		return cmp.Compare(a.Number, b.Number)
	})
	var rows []pageRow
	for _, p := range found[:min(maxListed, len(found))] {
		r := pageRow{URL: p.URL, Short: report.Cut(p.URL, maxURL), Title: report.Cut(p.Title, maxTitle), Score: score(p), Relevant: p.Relevant, Label: p.Label}
		if p.Refined != nil {
			r.Label, r.Rule = p.Refined.Label, report.Cut(p.Refined.Rule, maxRule)
		}
		rows = append(rows, r)
	}
	return rows
}
