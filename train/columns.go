package train

import (
	"context"
	"runtime"
	"slices"

	"fossick/models/features"
)

// rareSet is the number of pages below which words of one page count too.
const rareSet = 100

// leastPages is on how many of the pages of a set a term must be to count.
func leastPages(pages int) int32 {
	if pages < rareSet {
		return 1
	}
	return 2
}

// load gives the views their terms and the rows' columns of these.
func (g *gatherer) load(ctx context.Context) error {
	number, err := g.number(ctx)
	if err != nil {
		return err
	}
	if !g.plain {
		if err := g.candidates(ctx, number); err != nil {
			return err
		}
		common, err := g.common(ctx, number)
		if err != nil {
			return err
		}
		g.c.common = common
	}
	if g.lossy.size(number) > g.opt.cells(runtime.GOMAXPROCS(0)) {
		if number, err = g.reduce(ctx, number); err != nil {
			return err
		}
	}
	terms, c := g.names(number), g.c
	g.x, g.lossy.lex = nil, nil // make room
	c.rows = make([]features.Vector, 0, len(c.y))
	if err := g.each(ctx, number, func(_ int, v features.Vector) error {
		c.rows = append(c.rows, features.Vector{Index: slices.Clone(v.Index), Value: slices.Clone(v.Value)})
		return nil
	}); err != nil {
		return err
	}
	c.terms = terms
	return nil
}

// each calls f with every row in its new numbers. Terms numbered −1 are left
// out, and so is what a row has under a number that meant another term then.
func (g *gatherer) each(ctx context.Context, number []int32, f func(page int, v features.Vector) error) error {
	return g.rows.each(ctx, func(page int, v features.Vector) error {
		n := 0
		for k, i := range v.Index {
			if number[i] >= 0 && int32(page) >= g.lossy.born[i] {
				v.Index[n], v.Value[n] = number[i], v.Value[k]
				n++
			}
		}
		return f(page, features.Vector{Index: v.Index[:n], Value: v.Value[:n]})
	})
}

// size is how many terms of pages the numbered terms have.
func (t *lossy) size(number []int32) (cells int64) {
	for i, n := range number {
		if n >= 0 {
			cells += int64(t.df[i])
		}
	}
	return cells
}

// names returns the numbered terms in the order of their numbers, which rise.
func (g *gatherer) names(number []int32) []string {
	var terms []string
	for i, n := range number {
		if n >= 0 {
			terms = append(terms, g.lossy.lex.Terms()[i])
		}
	}
	return terms
}

// number numbers the terms of the lexicon that can be used, and gives the
// others −1. These are terms of one page only, which are most and cannot be
// told from chance; with MinSites also those of too few sites. So are the
// rarest where there are too many to be counted by class.
func (g *gatherer) number(ctx context.Context) ([]int32, error) {
	pages, df := g.rows.pages, g.lossy.df
	least := leastPages(pages)
	pass := func(i int) bool { return df[i] >= least }
	if g.opt.MinSites > 1 {
		sites, err := g.siteFrequency(ctx, pages/g.opt.Folds)
		if err != nil {
			return nil, err
		}
		pass = func(i int) bool { return df[i] >= least && int(sites[i]) >= g.opt.MinSites }
	}
	number, n := numbered(len(df), pass)
	if room := g.opt.countedTerms(len(g.c.classes)); n > room {
		least = g.frequent(number, room)
		g.opt.log().Warn("too many terms to count by class: those on the fewest pages are left out; raise --memory to keep them",
			"terms", n, "room", room, "pages_at_least", least)
		number, _ = numbered(len(df), func(i int) bool { return number[i] >= 0 && df[i] >= least })
	}
	return number, nil
}

// frequent returns the least number of pages that no more than room of the
// numbered terms are on.
func (g *gatherer) frequent(number []int32, room int) int32 {
	var df []int32
	for i, n := range number {
		if n >= 0 {
			df = append(df, g.lossy.df[i])
		}
	}
	slices.Sort(df)
	return df[len(df)-1-room] + 1
}

// numbered numbers those of n things that pass, in their order.
func numbered(n int, pass func(i int) bool) (number []int32, passed int) {
	number = make([]int32, n)
	for i := range number {
		number[i] = -1
		if pass(i) {
			number[i] = int32(passed)
			passed++
		}
	}
	return number, passed
}

// siteFrequency returns on how many sites each term of the lexicon occurs, counted up
// to MinSites. A site is what stays together in folds, see units.
func (g *gatherer) siteFrequency(ctx context.Context, most int) ([]int32, error) {
	terms, least := g.lossy.lex.Len(), g.opt.MinSites
	unit := make([]int32, g.rows.pages)
	for u, pages := range g.c.units(most) {
		for _, p := range pages {
			unit[p] = int32(u)
		}
	}
	sites := make([]int32, terms)
	seen := make([]int32, terms*least) // the units of each term, sites[term] of them
	all, _ := numbered(terms, func(int) bool { return true })
	err := g.each(ctx, all, func(page int, v features.Vector) error {
		for _, i := range v.Index {
			n := int(sites[i])
			if known := seen[int(i)*least:][:n]; n < least && !slices.Contains(known, unit[page]) {
				seen[int(i)*least+n] = unit[page]
				sites[i]++
			}
		}
		return nil
	})
	return sites, err
}

// count returns the document frequencies over the pages that are not of a fold; none is left out
// when fold is nil.
func (g *gatherer) count(ctx context.Context, number []int32, fold []int, out int) (*features.Counts, error) {
	counts := features.NewCounts(len(g.c.classes))
	err := g.each(ctx, number, func(page int, v features.Vector) error {
		if fold == nil || fold[page] != out {
			counts.Add(g.c.y[page], v, g.lengths[page].most)
		}
		return nil
	})
	return counts, err
}

// candidates finds those words of all from which K may be chosen.
func (g *gatherer) candidates(ctx context.Context, number []int32) error {
	counts, err := g.count(ctx, number, nil, 0)
	if err != nil {
		return err
	}
	g.c.terms = g.names(number)
	g.c.candidates(counts, g.opt.Select)
	return nil
}
