package tables

import (
	"cmp"
	"slices"
	"strings"
)

// mostNames bounds the names of a table; a host can be made to have any number of them.
// What comes after them is added up as one.
const mostNames = 1 << 18

// Others is the name of what is added up.
const Others = "(others)"

// groups adds up by name.
type groups map[string]*sums

func (g groups) add(name string, s *sums) {
	had := g[name]
	if had == nil {
		if len(g) >= mostNames {
			name = Others
		}
		if had = g[name]; had == nil {
			had = &sums{}
			g[strings.Clone(name)] = had
		}
	}
	had.add(s)
}

// Group is how pages of a kind change. What is not known is nil.
type Group struct {
	Name           string   `json:"-"`
	Pages          int64    `json:"pages"`           // seen twice or more
	Looks          int64    `json:"looks"`           // at them, after the first
	Days           float64  `json:"days"`            // of observation, over all of them
	ContentChanges int64    `json:"content_changes"` // looks that found other content
	Changes        int64    `json:"changes"`         // of these, the main text too
	Changed        *float64 `json:"changed"`         // share of pages whose main text did at least once

	// ChangeInterval is paper E's (E6): a page's time of observation by the number of its
	// changes, in days, in the mean over the pages that changed; then the longest of a page. Two
	// changes between two looks are seen as one, so it is too long for pages that change
	// often. It says nothing of pages that change seldom.
	ChangeInterval     *float64 `json:"change_interval_days"`
	ChangeIntervalMost *float64 `json:"change_interval_most_days"`

	// Interval is ours: the days between two changes of the main text of the page in the middle,
	// by the rates of pages, and its 95 % interval. Naive is the days of all pages, those too that
	// did not change, by all changes of the main text; ContentInterval that by all of any content.
	Interval        *float64    `json:"interval_days"`
	CI              *[2]float64 `json:"interval_ci"`
	Naive           *float64    `json:"naive_interval_days"`
	ContentInterval *float64    `json:"content_interval_days"`
}

func groupOf(name string, s *sums) Group {
	g := Group{
		Name: name, Pages: s.pages, Looks: s.looks, Days: s.days, ContentChanges: s.contents, Changes: s.texts,
		Naive: quotient(s.days, s.texts), ContentInterval: quotient(s.days, s.contents),
	}
	g.Interval, g.CI = s.pace.interval()
	if s.pages > 0 {
		share := float64(s.changed) / float64(s.pages)
		g.Changed = &share
	}
	if s.changed > 0 {
		mean := s.each / float64(s.changed)
		g.ChangeInterval, g.ChangeIntervalMost = &mean, &s.longest
	}
	return g
}

// quotient is nil where there is nothing to divide by.
func quotient(days float64, changes int64) *float64 {
	if changes == 0 {
		return nil
	}
	x := days / float64(changes)
	return &x
}

// top returns the n groups with most pages, all where n is 0, and one of the others.
func (g groups) top(n int) []Group {
	names := make([]string, 0, len(g))
	for name := range g {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(g[b].pages, g[a].pages), cmp.Compare(a, b)) })
	var all []Group
	others, left := sums{}, false
	for i, name := range names {
		if name == Others || n > 0 && i >= n {
			others.add(g[name])
			left = true
			continue
		}
		all = append(all, groupOf(name, g[name]))
	}
	if left {
		all = append(all, groupOf(Others, &others))
	}
	return all
}

// inOrder returns all groups by name.
func (g groups) inOrder() []Group {
	all := g.top(0)
	slices.SortStableFunc(all, func(a, b Group) int {
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), strings.Compare(a.Name, b.Name))
	})
	return all
}
