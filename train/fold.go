package train

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// folds assigns every page to one of n folds, each class evenly. The same
// arguments give the same folds.
func folds(c *corpus, n int, seed int64) []int {
	rng := rand.New(rand.NewPCG(uint64(seed), 0xf01d))
	byClass := make([][]int, len(c.classes))
	for p, class := range c.y {
		byClass[class] = append(byClass[class], p)
	}
	fold := make([]int, len(c.y))
	next := 0 // goes on from class to class, so that folds are even in all
	for _, pages := range byClass {
		rng.Shuffle(len(pages), func(a, b int) { pages[a], pages[b] = pages[b], pages[a] })
		for _, p := range pages {
			fold[p] = next % n
			next++
		}
	}
	return fold
}

// heldOut is what a learner says of pages that it was not trained on.
type heldOut struct {
	learner learner
	scores  [][]float64 // by page, a score a class
	score   float64     // accuracy
}

// crossValidate trains on all folds but one and scores that one, for each.
func crossValidate(ctx context.Context, c *corpus, l learner, fold []int, n int, opt *Options) (*heldOut, error) {
	h := &heldOut{learner: l, scores: make([][]float64, len(c.y))}
	for p := range h.scores {
		h.scores[p] = make([]float64, len(c.classes))
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for k := range n {
		g.Go(func() error {
			var in, out []int
			for p, f := range fold {
				if f == k {
					out = append(out, p)
				} else {
					in = append(in, p)
				}
			}
			f, err := l.fit(ctx, c, in, opt)
			if err != nil {
				return fmt.Errorf("fold %d of %d: %w", k+1, n, err)
			}
			for _, p := range out {
				f.scores(h.scores[p], c, p) // each page is in one fold only
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	hit := 0
	for p, s := range h.scores {
		if best(s) == c.y[p] {
			hit++
		}
	}
	h.score = float64(hit) / float64(len(c.y))
	return h, nil
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
