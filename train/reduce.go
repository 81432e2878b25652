package train

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"fossick/models/features"
)

// reduce numbers only the terms that a learner could choose, from all pages or
// from those of a fold, as far as there is room. Choosing among these gives
// what choosing among all would have given.
func (g *gatherer) reduce(ctx context.Context, number []int32) ([]int32, error) {
	rankings, err := g.rankings(ctx, number)
	if err != nil {
		return nil, err
	}
	most, terms := g.opt.Words, len(g.names(number))
	cut := false // fewer than were asked for
	if most == 0 {
		most = terms
	}
	for {
		union := make([]bool, terms)
		for _, r := range rankings {
			for _, t := range r[:min(most, len(r))] {
				union[t] = true
			}
		}
		kept, _ := numbered(len(number), func(i int) bool { return number[i] >= 0 && union[number[i]] })
		if g.lossy.size(kept) <= g.opt.cells(1) || most == 1 {
			if g.opt.Words == 0 && most == terms {
				most = 0 // nothing was left out: only folds have no room beside each other
			}
			r := newRoom(most, g.opt)
			if cut {
				r.wanted()
			}
			g.c.room = r
			return kept, nil
		}
		if most = max(1, most*9/10); g.opt.Words > 0 || g.opt.Mu > 0 {
			cut = true
		}
	}
}

// rankings returns the numbered terms, best first, those that gain Options.Mu at
// least: over all pages, and over all but those of each fold.
func (g *gatherer) rankings(ctx context.Context, number []int32) ([][]int32, error) {
	var all [][]int32
	fold, n := g.c.folds(g.opt)
	for out := -1; out < n; out++ {
		counts, err := g.count(ctx, number, fold, out) // no page is in fold −1
		if err != nil {
			return nil, err
		}
		for _, by := range g.opt.measures(g.plain) {
			all = append(all, features.Select(counts.RankBy(by), g.opt.Mu, 0))
		}
	}
	return all, nil
}

// room is what a set that does not fit into memory leaves for words.
type room struct {
	most  int         // words; 0 is all
	short atomic.Bool // more were wanted
	warn  func()
}

func newRoom(most int, opt *Options) *room {
	return &room{most: most, warn: sync.OnceFunc(func() {
		opt.log().Warn("not all words fit into memory: those with the highest gain are kept; raise --memory for more", "words", most)
	})}
}

// wanted notes that a learner would have taken more words.
func (r *room) wanted() {
	r.short.Store(true)
	r.warn()
}

// folds is how many folds there is room to train at once.
func (r *room) folds() int {
	if r != nil {
		return 1
	}
	return runtime.GOMAXPROCS(0)
}
