package train

import (
	"context"
	"fmt"
	"math/rand/v2"

	"fossick/internal/stats"
)

// CurvePoint is a point of the learning curve: what the classifier reaches with
// less to learn from.
type CurvePoint struct {
	Pages    int        `json:"pages"`    // it was trained on, the mean of the folds
	Accuracy float64    `json:"accuracy"` // on held-out pages, before calibration
	CI       [2]float64 `json:"ci"`       // 95 %, Wilson's
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
func learningCurve(ctx context.Context, c *corpus, held *heldOut, by fitting) ([]CurvePoint, error) {
	n, judged := len(held.ins), 0
	for _, out := range held.outs {
		judged += len(out)
	}
	order := rand.New(rand.NewPCG(uint64(by.seed), 0xc04e)).Perm(len(c.y))
	var shares []float64
	for _, s := range curveShares {
		if s*float64(len(held.ins[0])) >= float64(leastPerClass*len(c.classes)) {
			shares = append(shares, s)
		}
	}
	hits, pages := make([][]int, len(shares)), make([][]int, len(shares)) // by share and fold
	for i := range shares {
		hits[i], pages[i] = make([]int, n), make([]int, n)
	}
	if err := parallel(ctx, c.room.folds(), len(shares)*n, func(ctx context.Context, at int) error {
		i, k := at/n, at%n
		in := c.part(order, held.ins[k], shares[i])
		f, err := held.learner.fit(ctx, c, in, by)
		if err != nil {
			return fmt.Errorf("learning curve, %d pages: %w", len(in), err)
		}
		hits[i][k], pages[i][k] = f.hits(c, held.outs[k]), len(in)
		return nil
	}); err != nil {
		return nil, err
	}
	var curve []CurvePoint
	add := func(pages, right int) {
		p := CurvePoint{Pages: pages / n, Accuracy: float64(right) / float64(judged), CI: stats.Wilson(right, judged)}
		curve = append(curve, p)
	}
	for i := range shares {
		add(sum(pages[i]), sum(hits[i]))
	}
	all := 0
	for _, in := range held.ins {
		all += len(in)
	}
	add(all, int(held.score*float64(judged)+0.5))
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

// hits counts the pages whose best score is their class's.
func (f *fitted) hits(c *corpus, pages []int) (n int) {
	s := make([]float64, len(c.classes))
	for _, p := range pages {
		f.scores(s, c, p)
		if best(s) == c.y[p] {
			n++
		}
	}
	return n
}

func sum(values []int) (total int) {
	for _, v := range values {
		total += v
	}
	return total
}
