package train

import (
	"context"
	"math"
	"math/rand/v2"

	"fossick/models/features"
)

// svmOptions tune linear support vector machines.
type svmOptions struct {
	c       float64 // penalty of an error
	eps     float64 // stop when no projected gradient differs by more
	maxIter int
}

// lanes is how many machines are trained side by side: the rows, which are too many
// for the processor's caches, are read once for all of them.
const lanes = 4

// lane has a number for each machine of a group.
type lane [lanes]float64

// svm trains machines that tell one class each from the rest: those of the classes
// first, first+1 … before end, four at most. Machine c minimises
//
//	½‖w‖² + C Σ_i max(0, 1 − y_i (w·x_i + b))²,  y_i = +1 on rows of class c, else −1
//
// by coordinate descent on the dual (Hsieh, Chang, Lin, Keerthi, Sundararajan
// 2008, algorithm 1 and its shrinking, as in LIBLINEAR): each step solves for one
// row's α exactly. The bias is the weight of a feature that is 1 everywhere: w has
// a place a term, and one more for it. It is O(non-zeros) an iteration, and stops
// early, with what it has, when ctx ends.
//
// alpha is where it starts, by row and class, all ≥ 0, and then holds the
// solution. It starts at zeros, or at the solution of nearly the same problem,
// from which it takes fewer steps. Only places of its own classes are touched.
func svm(ctx context.Context, rows []features.Vector, y []int, first, end, terms int, alpha [][]float32, opt svmOptions, rng *rand.Rand) (w []lane) {
	s := newSVM(rows, y, first, min(end, first+lanes), terms, opt)
	s.begin(alpha)
	for range opt.maxIter {
		if ctx.Err() != nil || s.pass(rng) {
			break
		}
	}
	for i, a := range s.alpha {
		for c := range s.machines {
			alpha[i][first+c] = float32(a[c])
		}
	}
	return s.w
}

type svmState struct {
	rows     []features.Vector
	y        []int
	first    int // class of machine 0
	machines int
	w        []lane // the last is the bias
	alpha    []lane // by row
	norm     []float64
	diag     float64
	eps      float64

	// Shrinking: a row that is far on the right side for a machine is left out by
	// it, and by all when no machine has it in.
	in     []uint8 // by row: which machines have it in, a bit each
	active []int32 // rows that a machine has in, in front
	live   int     // how many
	has    [lanes]int
	done   uint8 // machines whose solution stands, a bit each
	hi, lo lane  // range of the projected gradient in the pass before
}

func newSVM(rows []features.Vector, y []int, first, end, terms int, opt svmOptions) *svmState {
	s := &svmState{
		rows: rows, y: y, first: first, machines: end - first, w: make([]lane, terms+1),
		alpha: make([]lane, len(rows)), norm: make([]float64, len(rows)), diag: 0.5 / opt.c, eps: opt.eps,
		in: make([]uint8, len(rows)), active: make([]int32, len(rows)),
	}
	for i, r := range rows {
		s.active[i] = int32(i)
		s.norm[i] = 1 + s.diag
		for _, v := range r.Value {
			s.norm[i] += float64(v) * float64(v)
		}
	}
	for c := range s.machines {
		s.all(c)
	}
	return s
}

// all has machine c look at all rows.
func (s *svmState) all(c int) {
	for i := range s.in {
		s.in[i] |= 1 << c
	}
	s.live, s.has[c] = len(s.rows), len(s.rows)
	s.hi[c], s.lo[c] = math.Inf(1), math.Inf(-1)
}

// begin sets α, and w to what follows from it.
func (s *svmState) begin(alpha [][]float32) {
	for i := range s.rows {
		var d lane
		for c := range s.machines {
			s.alpha[i][c] = float64(alpha[i][s.first+c])
			d[c] = s.alpha[i][c] * s.sign(i, c)
		}
		if d != (lane{}) {
			s.add(i, &d)
		}
	}
}

// sign returns y of row i for machine c.
func (s *svmState) sign(i, c int) float64 {
	if s.y[i] == s.first+c {
		return 1
	}
	return -1
}

// pass goes once over the live rows in random order and reports whether all
// solutions stand.
func (s *svmState) pass(rng *rand.Rand) bool {
	rng.Shuffle(s.live, func(a, b int) { s.active[a], s.active[b] = s.active[b], s.active[a] })
	var hi, lo lane
	for c := range hi {
		hi[c], lo[c] = math.Inf(-1), math.Inf(1)
	}
	for k := 0; k < s.live; k++ {
		i := int(s.active[k])
		if s.in[i] != 0 { // else its last machine is done
			s.step(i, &hi, &lo)
		}
		if s.in[i] == 0 {
			s.live--
			s.active[k], s.active[s.live] = s.active[s.live], s.active[k]
			k--
		}
	}
	for c := range s.machines {
		if s.done&(1<<c) == 0 {
			s.close(c, hi[c], lo[c])
		}
	}
	return s.done == 1<<s.machines-1
}

// step solves for the αs of row i, and widens the ranges of projected gradients.
func (s *svmState) step(i int, hi, lo *lane) {
	score := s.dot(i)
	alpha := &s.alpha[i]
	var d lane
	moved := false
	for c := range s.machines {
		if s.in[i]&(1<<c) == 0 {
			continue
		}
		y := s.sign(i, c)
		g := y*score[c] - 1 + alpha[c]*s.diag
		pg := g
		if alpha[c] == 0 {
			if g > s.hi[c] { // far on the right side: leave the row out
				s.in[i] &^= 1 << c
				s.has[c]--
				continue
			}
			pg = min(g, 0)
		}
		hi[c], lo[c] = max(hi[c], pg), min(lo[c], pg)
		if math.Abs(pg) > 1e-12 {
			old := alpha[c]
			alpha[c] = max(old-g/s.norm[i], 0)
			d[c] = (alpha[c] - old) * y
			moved = true
		}
	}
	if moved {
		s.add(i, &d)
	}
}

// close ends a pass for machine c, given the range of its projected gradients.
func (s *svmState) close(c int, hi, lo float64) {
	switch {
	case hi-lo > s.eps && s.has[c] > 0:
		s.hi[c], s.lo[c] = hi, lo
		if hi <= 0 {
			s.hi[c] = math.Inf(1)
		}
	case s.has[c] < len(s.rows):
		s.all(c) // rows left out get another look before it ends
	default:
		s.done |= 1 << c
		s.has[c] = 0
		for i := range s.in {
			s.in[i] &^= 1 << c
		}
	}
}

// dot returns w·x_i + b of each machine.
func (s *svmState) dot(i int) lane {
	r := s.rows[i]
	value := r.Value[:len(r.Index)]
	sum := s.w[len(s.w)-1]
	s0, s1, s2, s3 := sum[0], sum[1], sum[2], sum[3]
	for k, t := range r.Index {
		w, v := &s.w[t], float64(value[k])
		s0 += w[0] * v
		s1 += w[1] * v
		s2 += w[2] * v
		s3 += w[3] * v
	}
	return lane{s0, s1, s2, s3}
}

// add moves each machine's w by its d·x_i.
func (s *svmState) add(i int, d *lane) {
	bias := &s.w[len(s.w)-1]
	for c := range bias {
		bias[c] += d[c]
	}
	r := s.rows[i]
	value := r.Value[:len(r.Index)]
	d0, d1, d2, d3 := d[0], d[1], d[2], d[3]
	for k, t := range r.Index {
		w, v := &s.w[t], float64(value[k])
		w[0] += d0 * v
		w[1] += d1 * v
		w[2] += d2 * v
		w[3] += d3 * v
	}
}
