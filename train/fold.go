package train

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
)

// folds returns the folds of a corpus and their number. It is less than 2 when a class
// has a single page, which would have no test.
func (c *corpus) folds(opt *Options) (fold []int, n int) {
	if n = min(opt.Folds, slices.Min(c.classRows(c.all()))); n < 2 {
		return nil, 0
	}
	return folds(c, n, opt), n
}

// folds assigns every page to one of n folds, each class evenly. The same
// arguments give the same folds.
//
// With BySite a site's pages stay together, for they share menus, names and
// authors. Judged on a site that it was trained on, a classifier looks better
// than it is on the next one. A site that has more pages than a fold, and what
// has no site, is dealt out page by page.
func folds(c *corpus, n int, opt *Options) []int {
	rng := rand.New(rand.NewPCG(uint64(opt.Seed), 0xf01d))
	if opt.BySite {
		return c.deal(c.units(len(c.y)/n), n, rng)
	}
	return dealEvenly(c.y, len(c.classes), n, rng)
}

// dealEvenly gives every row one of n parts, each class evenly, in random order.
func dealEvenly(y []int, classes, n int, rng *rand.Rand) []int {
	byClass := make([][]int, classes)
	for i, class := range y {
		byClass[class] = append(byClass[class], i)
	}
	part := make([]int, len(y))
	next := 0 // goes on from class to class, so that parts are even in all
	for _, rows := range byClass {
		rng.Shuffle(len(rows), func(a, b int) { rows[a], rows[b] = rows[b], rows[a] })
		for _, i := range rows {
			part[i] = next % n
			next++
		}
	}
	return part
}

// units returns the pages that must stay together: those of each site with at most
// most pages, all others singly.
func (c *corpus) units(most int) [][]int {
	bySite := map[string][]int{}
	for p, site := range c.sites {
		bySite[site] = append(bySite[site], p)
	}
	var units [][]int
	for _, site := range slices.Sorted(maps.Keys(bySite)) {
		pages := bySite[site]
		if site != "" && len(pages) <= most {
			units = append(units, pages)
			continue
		}
		for i := range pages {
			units = append(units, pages[i:i+1])
		}
	}
	return units
}

// deal gives each unit to the fold that has the smallest shares of its classes, of
// equals to the first. The largest come first, equal ones in random order.
func (c *corpus) deal(units [][]int, n int, rng *rand.Rand) []int {
	rng.Shuffle(len(units), func(a, b int) { units[a], units[b] = units[b], units[a] })
	slices.SortStableFunc(units, func(a, b []int) int { return cmp.Compare(len(b), len(a)) })
	total := c.classRows(c.all())
	has := make([][]int, n) // fold → class → pages
	for f := range has {
		has[f] = make([]int, len(c.classes))
	}
	fold := make([]int, len(c.y))
	for _, pages := range units {
		to, least := 0, math.Inf(1)
		for f := range has {
			var cost float64
			for _, p := range pages {
				cost += float64(has[f][c.y[p]]) / float64(total[c.y[p]])
			}
			if cost < least {
				to, least = f, cost
			}
		}
		for _, p := range pages {
			fold[p] = to
			has[to][c.y[p]]++
		}
	}
	return fold
}

// heldOut is what a learner says of pages that it was not trained on.
type heldOut struct {
	learner learner
	scores  [][]float64 // by page, a score a class; nil for pages not judged
	score   float64     // accuracy
	dual    *dual       // of a fold's linear machine
	ins     [][]int     // the pages that each judged fold was trained on, and
	outs    [][]int     // those that it was judged on
	rounds  []*heldOut  // all cross-validations of a topic's model, itself the first; nil for others
}

// parts returns the pages to train on and the pages to judge of the folds that were
// judged.
func (h *heldOut) parts(fold []int, n int) (ins, outs [][]int) {
	allIns, allOuts := parts(fold, n)
	for k, out := range allOuts {
		if len(out) > 0 && h.scores[out[0]] != nil {
			ins, outs = append(ins, allIns[k]), append(outs, out)
		}
	}
	return ins, outs
}

// parts returns the pages to train on and the pages to judge, by fold.
func parts(fold []int, n int) (ins, outs [][]int) {
	ins, outs = make([][]int, n), make([][]int, n)
	for p, f := range fold {
		for k := range n {
			if f == k {
				outs[k] = append(outs[k], p)
			} else {
				ins[k] = append(ins[k], p)
			}
		}
	}
	return ins, outs
}

// judged returns the pages of held-out folds, with their classes.
func (h *heldOut) judged(y []int) (scores [][]float64, class []int) {
	for p, s := range h.scores {
		if s != nil {
			scores, class = append(scores, s), append(class, y[p])
		}
	}
	return scores, class
}

func newHeldOut(l learner, pages int) *heldOut {
	return &heldOut{learner: l, scores: make([][]float64, pages)}
}

// crossValidate trains on all folds but one and scores that one, for each of the
// given folds.
func crossValidate(ctx context.Context, c *corpus, l learner, fold, which []int, by fitting) (*heldOut, error) {
	h := newHeldOut(l, len(c.y))
	if err := h.judge(ctx, c, fold, which, by); err != nil {
		return nil, err
	}
	return h, nil
}

// judge adds folds to those that h has judged.
func (h *heldOut) judge(ctx context.Context, c *corpus, fold, which []int, by fitting) error {
	ins, outs := parts(fold, 1+max(slices.Max(fold), slices.Max(which)))
	err := parallel(ctx, c.room.folds(), len(which), func(ctx context.Context, i int) error {
		k := which[i]
		f, err := h.learner.fit(ctx, c, ins[k], by)
		if err != nil {
			return fmt.Errorf("fold %d: %w", k+1, err)
		}
		if i == 0 {
			h.dual = f.dual
		}
		for _, p := range outs[k] {
			h.scores[p] = make([]float64, len(c.classes))
			f.scores(h.scores[p], c, p) // each page is in one fold only
		}
		return nil
	})
	if err == nil {
		h.score = accuracy(h.scores, c.y)
	}
	return err
}

// best returns the place of the largest value, the first of equal ones.
func best(s []float64) int {
	at := 0
	for i, v := range s {
		if v > s[at] {
			at = i
		}
	}
	return at
}
