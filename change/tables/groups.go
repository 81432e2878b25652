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

	// Interval is the days between two changes of the main text of the page in the middle, by
	// the rates of pages, and its 95 % interval. Naive is paper E's time by changes, which is too
	// long where pages change faster than they are looked at; so is that of any content.
	Interval        *float64    `json:"interval_days"`
	CI              *[2]float64 `json:"interval_ci"`
	Naive           *float64    `json:"naive_interval_days"`
	ContentInterval *float64    `json:"content_interval_days"`
}

func groupOf(name string, s *sums) Group {
	g := Group{
		Name: name, Pages: s.pages, Looks: s.looks, Days: s.days, ContentChanges: s.contents, Changes: s.texts,
		Naive: naive(s.days, s.texts), ContentInterval: naive(s.days, s.contents),
	}
	g.Interval, g.CI = s.pace.interval()
	if s.pages > 0 {
		share := float64(s.changed) / float64(s.pages)
		g.Changed = &share
	}
	return g
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
