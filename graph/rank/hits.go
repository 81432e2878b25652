package rank

import (
	"context"
	"errors"
	"fmt"
	"fossick/graph"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// hits computes hub and authority scores (Kleinberg, Journal of the ACM 46, 1999):
//
//	a = Aᵀh,  h = Aa,  both scaled to sum to 1
//
// a is the dominant eigenvector of AᵀA, found by locally optimal conjugate gradients (Knyazev, SIAM Journal on
// Scientific Computing 23, 2001). They need far fewer steps than the power iteration if the two largest
// eigenvalues are close. If eigenvectors share the largest eigenvalue, a is the limit of the power iteration
// from equal scores. Without links all scores are 0. Damping and vectors of opt have no effect.
func hits(ctx context.Context, out, in graph.Lists, opt Options) (*Result, error) {
	opt, err := opt.filled(out.Nodes())
	if err != nil {
		return nil, err
	}
	n := out.Nodes()
	if in.Nodes() != n {
		return nil, fmt.Errorf("HITS of %d nodes with a transposed graph of %d", n, in.Nodes())
	}
	e := &eigen{out: out, in: in, workers: opt.Workers, hub: make([]float64, n)}
	h := &Result{Score: make([]float64, n), Hub: e.hub}
	if err := e.begin(); err != nil || e.x == nil {
		return h, err
	}
	for h.Iterations = 2; ; h.Iterations++ {
		if err := ctx.Err(); err != nil {
			return h, err
		}
		if h.Residual = e.change(); h.Residual <= opt.Epsilon {
			// ax was only updated by sums: check for accumulated rounding errors.
			if err := e.times(e.ax, e.x); err != nil {
				return h, err
			}
			if h.Iterations++; e.change() <= opt.Epsilon {
				break
			}
		}
		if h.Iterations >= opt.MaxIterations {
			return h, tooFew(h.Residual, h.Iterations, opt)
		}
		if err := e.step(); err != nil {
			return h, err
		}
	}
	h.Residual = e.change()
	copy(h.Score, e.ax)
	toShares(h.Score)
	toShares(h.Hub)
	return h, nil
}

// toShares scales x to sum to 1. AᵀA is non-negative, so negative values are rounding errors.
func toShares(x []float64) {
	sum := 0.0
	for v := range x {
		x[v] = math.Max(0, x[v])
		sum += x[v]
	}
	scale(x, 1/sum)
}

// eigen searches for the dominant eigenvector x of AᵀA. x, r and p have length 1; ax, ar and ap are their
// products with AᵀA.
type eigen struct {
	out, in graph.Lists
	workers int
	x, ax   []float64 // x is nil if there is nothing to find
	r, ar   []float64 // residual of ax against a multiple of x
	p, ap   []float64 // direction of the last step; 0 before the first
	hub     []float64 // A times the last multiplied vector
}

// begin starts from equal scores, multiplied once, so that they lie in the range of AᵀA.
func (e *eigen) begin() error {
	n := len(e.hub)
	x := make([]float64, n)
	e.ax, e.r, e.ar, e.p, e.ap = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for v := range e.r {
		e.r[v] = 1
	}
	if err := e.times(x, e.r); err != nil {
		return err
	}
	length := math.Sqrt(floats.Dot(x, x))
	if length == 0 {
		return nil
	}
	scale(x, 1/length)
	e.x = x
	return e.times(e.ax, e.x)
}

// change is the L1 change of one step of the power iteration, between scores that sum to 1.
func (e *eigen) change() float64 {
	before, after, change := floats.Sum(e.x), floats.Sum(e.ax), 0.0
	for v, x := range e.x {
		change += math.Abs(e.ax[v]/after - x/before)
	}
	return change
}

// step moves to the best vector in the span of x, r and p.
func (e *eigen) step() error {
	copy(e.r, e.ax)
	against(e.r, nil, e.x, nil)
	unit(e.r, nil)
	against(e.r, nil, e.x, nil) // twice: a small remainder keeps much of x after the first time
	unit(e.r, nil)
	if err := e.times(e.ar, e.r); err != nil {
		return err
	}
	against(e.p, e.ap, e.x, e.ax)
	against(e.p, e.ap, e.r, e.ar)
	if floats.Dot(e.p, e.p) < 1e-12 { // relative to 1: only rounding errors remain
		clear(e.p)
		clear(e.ap)
	}
	unit(e.p, e.ap)
	s, as := [3][]float64{e.x, e.r, e.p}, [3][]float64{e.ax, e.ar, e.ap}
	small := mat.NewSymDense(3, nil)
	for i := range 3 {
		for j := i; j < 3; j++ {
			small.SetSym(i, j, floats.Dot(s[i], as[j]))
		}
	}
	var values mat.EigenSym
	if !values.Factorize(small, true) {
		return errors.New("HITS: the eigenvectors of a 3 by 3 matrix cannot be found; ask for a larger epsilon")
	}
	var c mat.Dense
	values.VectorsTo(&c) // eigenvalues increase: the last is the largest
	best := [3]float64{c.At(0, 2), c.At(1, 2), c.At(2, 2)}
	if best[0] < 0 {
		best = [3]float64{-best[0], -best[1], -best[2]}
	}
	combine(e.x, e.r, e.p, best)
	combine(e.ax, e.ar, e.ap, best)
	unit(e.x, e.ax)
	unit(e.p, e.ap)
	return nil
}

// combine sets x to the new combination, and p to its part outside the old x.
func combine(x, r, p []float64, c [3]float64) {
	for v := range x {
		p[v] = c[1]*r[v] + c[2]*p[v]
		x[v] = c[0]*x[v] + p[v]
	}
}

// against removes from x its component along q, of length 1; ax and aq, if not nil, follow.
func against(x, ax, q, aq []float64) {
	along := floats.Dot(x, q)
	floats.AddScaled(x, -along, q)
	if ax != nil {
		floats.AddScaled(ax, -along, aq)
	}
}

// unit scales x and ax so that x has length 1; 0 stays.
func unit(x, ax []float64) {
	length := math.Sqrt(floats.Dot(x, x))
	if length == 0 {
		return
	}
	scale(x, 1/length)
	scale(ax, 1/length)
}

func scale(x []float64, by float64) {
	for v := range x {
		x[v] *= by
	}
}

func (e *eigen) times(y, x []float64) error {
	if err := e.pull(e.out, e.hub, x); err != nil {
		return err
	}
	return e.pull(e.in, y, e.hub)
}

func (e *eigen) pull(g graph.Lists, y, x []float64) error {
	_, err := blocks(len(y), e.workers, func(from, to int) (float64, error) {
		return 0, g.Scan(from, to, func(v uint32, list []uint32) error {
			sum := 0.0
			for _, w := range list {
				sum += x[w]
			}
			y[v] = sum
			return nil
		})
	})
	return err
}
