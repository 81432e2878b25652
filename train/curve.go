package train

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
)

// CurvePoint is a point of the learning curve: what the classifier reaches with
// less to learn from.
type CurvePoint struct {
	Pages    int        `json:"pages"`    // it was trained on, the mean of the folds
	Accuracy float64    `json:"accuracy"` // on held-out pages, before calibration
	CI       [2]float64 `json:"ci"`       // 95 %
}

// curveShares are the shares of the training pages that a learning curve tries,
// before all of them.
var curveShares = [...]float64{1. / 32, 1. / 16, 1. / 8, 1. / 4, 1. / 2}

// leastPerClass is how many pages a class has in the mean at the curve's first point.
const leastPerClass = 3

// learningCurve trains the chosen learner on growing parts of the pages, and judges
// each on the same held-out folds; the last point is held itself. Each part holds
// those before it, and every class has a page at least. It takes about as
// long as the cross-validation of the learner.
func learningCurve(ctx context.Context, c *corpus, held *heldOut, bySite bool, by fitting) ([]CurvePoint, error) {
	n := len(held.ins)
	judged := slices.Concat(held.outs...)
	order := rand.New(rand.NewPCG(uint64(by.seed), 0xc04e)).Perm(len(c.y))
	var shares []float64
	for _, s := range curveShares {
		if s*float64(len(held.ins[0])) >= float64(leastPerClass*len(c.classes)) {
			shares = append(shares, s)
		}
	}
	right, pages := make([][]bool, len(shares)), make([][]int, len(shares)) // by share, and page or fold
	for i := range shares {
		right[i], pages[i] = make([]bool, len(c.y)), make([]int, n)
	}
	if err := parallel(ctx, c.room.folds(), len(shares)*n, func(ctx context.Context, at int) error {
		i, k := at/n, at%n
		in := c.part(order, held.ins[k], shares[i])
		f, err := held.learner.fit(ctx, c, in, by)
		if err != nil {
			return fmt.Errorf("learning curve, %d pages: %w", len(in), err)
		}
		f.hits(right[i], c, held.outs[k]) // each page is in one fold only
		pages[i][k] = len(in)
		return nil
	}); err != nil {
		return nil, err
	}
	var curve []CurvePoint
	add := func(pages int, right []bool) {
		hits := 0
		for _, p := range judged {
			if right[p] {
				hits++
			}
		}
		ci := rightCI(len(judged), func(i int) string { return c.apart(judged[i], bySite) }, func(i int) bool { return right[judged[i]] })
		curve = append(curve, CurvePoint{Pages: pages / n, Accuracy: float64(hits) / float64(len(judged)), CI: ci})
	}
	for i := range shares {
		add(sum(pages[i]), right[i])
	}
	all, last := 0, make([]bool, len(c.y))
	for _, in := range held.ins {
		all += len(in)
	}
	for _, p := range judged {
		last[p] = best(held.scores[p]) == c.y[p]
	}
	add(all, last)
	return curve, nil
}

// part returns a share of each class of the pages, at least a page each, in the
// given order of all pages.
func (c *corpus) part(order, pages []int, share float64) []int {
	among := make([]bool, len(c.y))
	left := make([]float64, len(c.classes)) // of each class, still to take
	for _, p := range pages {
		among[p] = true
		left[c.y[p]] += share
	}
	var part []int
	for _, p := range order {
		if class := c.y[p]; among[p] && left[class] > 0 {
			left[class]--
			part = append(part, p)
		}
	}
	return part
}

// hits notes the pages whose best score is their class's.
func (f *fitted) hits(right []bool, c *corpus, pages []int) {
	s := make([]float64, len(c.classes))
	for _, p := range pages {
		f.scores(s, c, p)
		right[p] = best(s) == c.y[p]
	}
}

func sum(values []int) (total int) {
	for _, v := range values {
		total += v
	}
	return total
}
