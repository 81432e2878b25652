package train

import (
	"context"
	"math"
	"math/rand/v2"

	"fossick/features"
)

// svmOptions tune one linear support vector machine.
type svmOptions struct {
	c       float64 // penalty of an error
	eps     float64 // stop when no projected gradient differs by more
	maxIter int
}

// svm learns to tell the rows with y = +1 from those with −1: it minimises
//
//	½‖w‖² + C Σ_i max(0, 1 − y_i (w·x_i + b))²
//
// by coordinate descent on the dual (Hsieh, Chang, Lin, Keerthi, Sundararajan
// 2008, algorithm 1 and its shrinking, as in LIBLINEAR): each step solves for one
// row's α exactly. The bias is the weight of a feature that is 1 everywhere. w has
// a place a term. It is O(non-zeros) an iteration, and stops early, with what it
// has, when ctx ends.
func svm(ctx context.Context, rows []features.Vector, y []int8, terms int, opt svmOptions, rng *rand.Rand) (w []float64, b float64) {
	s := newSVM(rows, y, terms, opt)
	for range opt.maxIter {
		if ctx.Err() != nil || s.pass(rng) {
			break
		}
	}
	return s.w[:terms], s.w[terms]
}

type svmState struct {
	rows   []features.Vector
	y      []int8
	w      []float64 // the last is the bias
	alpha  []float64
	norm   []float64 // x·x + 1/(2C)
	diag   float64
	active []int // rows that still move, in front; shrunk ones behind
	live   int
	eps    float64
	hi, lo float64 // range of the projected gradient in the pass before
}

func newSVM(rows []features.Vector, y []int8, terms int, opt svmOptions) *svmState {
	s := &svmState{
		rows: rows, y: y, w: make([]float64, terms+1),
		alpha: make([]float64, len(rows)), norm: make([]float64, len(rows)),
		diag: 0.5 / opt.c, active: make([]int, len(rows)), live: len(rows),
		eps: opt.eps, hi: math.Inf(1), lo: math.Inf(-1),
	}
	for i, r := range rows {
		s.active[i] = i
		s.norm[i] = 1 + s.diag
		for _, v := range r.Value {
			s.norm[i] += float64(v) * float64(v)
		}
	}
	return s
}

// pass goes once over the live rows in random order and reports whether the
// solution stands.
func (s *svmState) pass(rng *rand.Rand) bool {
	rng.Shuffle(s.live, func(a, b int) { s.active[a], s.active[b] = s.active[b], s.active[a] })
	hi, lo := math.Inf(-1), math.Inf(1)
	for k := 0; k < s.live; k++ {
		i := s.active[k]
		g := float64(s.y[i])*s.dot(i) - 1 + s.alpha[i]*s.diag
		pg := g
		if s.alpha[i] == 0 {
			if g > s.hi { // far on the right side: leave the row out
				s.live--
				s.active[k], s.active[s.live] = s.active[s.live], s.active[k]
				k--
				continue
			}
			pg = min(g, 0)
		}
		hi, lo = max(hi, pg), min(lo, pg)
		if math.Abs(pg) > 1e-12 {
			old := s.alpha[i]
			s.alpha[i] = max(old-g/s.norm[i], 0)
			s.add(i, (s.alpha[i]-old)*float64(s.y[i]))
		}
	}
	if hi-lo <= s.eps || s.live == 0 {
		if s.live == len(s.active) {
			return true
		}
		// Rows left out get another look before it ends.
		s.live, s.hi, s.lo = len(s.active), math.Inf(1), math.Inf(-1)
		return false
	}
	s.hi, s.lo = hi, lo
	if hi <= 0 {
		s.hi = math.Inf(1)
	}
	return false
}

// dot returns w·x_i + b.
func (s *svmState) dot(i int) float64 {
	sum := s.w[len(s.w)-1]
	r := s.rows[i]
	value := r.Value[:len(r.Index)]
	for k, t := range r.Index {
		sum += s.w[t] * float64(value[k])
	}
	return sum
}

// add moves w by d·x_i.
func (s *svmState) add(i int, d float64) {
	s.w[len(s.w)-1] += d
	r := s.rows[i]
	value := r.Value[:len(r.Index)]
	for k, t := range r.Index {
		s.w[t] += d * float64(value[k])
	}
}
