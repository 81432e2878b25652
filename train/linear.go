package train

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"fossick/models"
	"fossick/models/features"
)

// linear trains one support vector machine per class, against the rest, on weights of all terms.
// Cross-validation chooses the weights (see tune) and may add naive Bayes (see blend).
type linear struct {
	odds   bool  // weigh terms by log odds instead of idf
	passes int   // most passes over the rows, converged or not; 0 is svmDefaults.maxIter
	warm   *dual // solution to start from, on some of the pages; nil for none
}

// dual is the solution of the dual problems: page → class → α; nil for a page not trained on.
type dual struct{ alpha [][]float32 }

func (d *dual) page(p, k int) []float32 {
	alpha := make([]float32, k)
	if d != nil {
		copy(alpha, d.alpha[p])
	}
	return alpha
}

func (linear) name() string { return models.LinearSVM }

// svmDefaults suit unit vectors, for which C matters little. Cross-validation on training parts of WebKB
// and Wikispeedia chose them (docs/classifiers.md).
var svmDefaults = svmOptions{c: 3, eps: 0.2, maxIter: 200}

func (l linear) fit(ctx context.Context, c *corpus, pages []int, by fitting) (*fitted, error) {
	return l.solve(ctx, c, c.weighed(pages, by.selection, l.odds), pages, by)
}

func (l linear) solve(ctx context.Context, c *corpus, f *fitted, pages []int, by fitting) (*fitted, error) {
	k := len(c.classes)
	f.linear = &models.Linear{Weights: make([]float32, len(f.kept)*k), Bias: make([]float32, k)}
	f.dual = &dual{make([][]float32, len(c.y))}
	y, alpha := c.classesOf(pages), make([][]float32, len(pages))
	for i, p := range pages {
		alpha[i] = l.warm.page(p, k)
		f.dual.alpha[p] = alpha[i]
	}
	f.settings["svm_c"] = fmt.Sprint(svmDefaults.c)
	if err := l.machines(ctx, f.linear, f.vectors(c, pages), y, alpha, by.seed); err != nil {
		return nil, fmt.Errorf("training %s: %w", models.LinearSVM, err)
	}
	return f, nil
}

// machines trains one machine per class into m and alpha, in groups that share a pass over the rows.
func (l linear) machines(ctx context.Context, m *models.Linear, rows []features.Vector, y []int, alpha [][]float32, seed int64) error {
	k := len(m.Bias)
	n, end := len(m.Weights)/k, k
	if k == 2 {
		end = 1 // the other is its mirror image
	}
	opt := svmDefaults
	opt.maxIter = cmp.Or(l.passes, opt.maxIter)
	err := parallel(ctx, runtime.GOMAXPROCS(0), (end+lanes-1)/lanes, func(ctx context.Context, i int) error {
		first := i * lanes
		w := svm(ctx, rows, y, first, end, n, alpha, opt, rand.New(rand.NewPCG(uint64(seed), uint64(first))))
		for class := first; class < min(first+lanes, end); class++ { // no race: each group has its own classes
			m.Bias[class] = float32(w[n][class-first])
			for i := range n {
				m.Weights[i*k+class] = float32(w[i][class-first])
			}
		}
		return ctx.Err()
	})
	if k == 2 {
		mirror(m)
	}
	return err
}

// mirror gives class 1 the negative weights of class 0.
func mirror(l *models.Linear) {
	l.Bias[1] = -l.Bias[0]
	for i := 0; i < len(l.Weights); i += 2 {
		l.Weights[i+1] = -l.Weights[i]
	}
}

type svmOptions struct {
	c       float64 // penalty of an error
	eps     float64 // stop when the projected gradients differ by no more
	maxIter int
}

// lanes is how many machines train together: the rows exceed the processor's caches, and one read serves
// all machines.
const lanes = 4

type lane [lanes]float64

// svm trains up to four machines, one for each of the classes first, first+1 … before end. Machine c
// minimises
//
//	½‖w‖² + C Σ_i max(0, 1 − y_i (w·x_i + b))²,  y_i = +1 on rows of class c, else −1
//
// by coordinate descent on the dual with shrinking (Hsieh, Chang, Lin, Keerthi, Sundararajan 2008,
// algorithm 1, as in LIBLINEAR): each step solves for one row's α exactly. The bias is the weight of a
// feature that is 1 everywhere, so w has one place per term and one more. An iteration costs
// O(non-zeros). When ctx ends, svm returns what it has.
//
// alpha, by row and class and all ≥ 0, is the start and receives the solution. A solution of nearly the
// same problem needs fewer steps than zeros. Only the entries of these classes change.
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
	w        []lane // the last entry is the bias
	alpha    []lane // by row
	norm     []float64
	diag     float64
	eps      float64

	// Shrinking: a machine skips rows that are far on its right side.
	in     []uint8 // by row: bit set of the machines that use it
	active []int32 // row numbers, those in use first
	live   int     // number of rows in use
	has    [lanes]int
	done   uint8 // bit set of the converged machines
	hi, lo lane  // range of the projected gradient in the last pass
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

// all makes machine c use all rows again.
func (s *svmState) all(c int) {
	for i := range s.in {
		s.in[i] |= 1 << c
	}
	s.live, s.has[c] = len(s.rows), len(s.rows)
	s.hi[c], s.lo[c] = math.Inf(1), math.Inf(-1)
}

// begin sets α and computes w from it.
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

func (s *svmState) sign(i, c int) float64 {
	if s.y[i] == s.first+c {
		return 1
	}
	return -1
}

// pass visits the live rows in random order, and reports whether all machines have converged.
func (s *svmState) pass(rng *rand.Rand) bool {
	rng.Shuffle(s.live, func(a, b int) { s.active[a], s.active[b] = s.active[b], s.active[a] })
	var hi, lo lane
	for c := range hi {
		hi[c], lo[c] = math.Inf(-1), math.Inf(1)
	}
	for k := 0; k < s.live; k++ {
		i := int(s.active[k])
		if s.in[i] != 0 { // else its last machine has converged
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
			if g > s.hi[c] { // far on the right side: skip the row
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

// close ends a pass of machine c, given the range of its projected gradients.
func (s *svmState) close(c int, hi, lo float64) {
	switch {
	case hi-lo > s.eps && s.has[c] > 0:
		s.hi[c], s.lo[c] = hi, lo
		if hi <= 0 {
			s.hi[c] = math.Inf(1)
		}
	case s.has[c] < len(s.rows):
		s.all(c) // look at the skipped rows again before it ends
	default:
		s.done |= 1 << c
		s.has[c] = 0
		for i := range s.in {
			s.in[i] &^= 1 << c
		}
	}
}

// dot returns w·x_i + b for each machine.
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

// add adds d·x_i to the w of each machine.
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

// bayes is naive Bayes on tf-idf weights. The complement kind (Rennie, Shih, Teevan, Karger 2003) takes a
// class's weights from the pages of all other classes, which are more and more even in number:
//
//	w_ic = −ln( (α + Σ_{j∉c} x_ij) / (α n + Σ_{j∉c} Σ_i x_ij) )
//
// The multinomial kind uses the class's own pages and a prior. It wins where classes are many and even.
type bayes struct {
	complement bool
	odds       bool // weigh terms by log odds instead of idf, as in linear
}

func (bayes) name() string { return models.NaiveBayes }

// smoothing is α, chosen by cross-validation like svmDefaults.
const smoothing = 0.1

func (b bayes) fit(_ context.Context, c *corpus, pages []int, by fitting) (*fitted, error) {
	f := c.weighed(pages, by.selection, b.odds)
	k, n := len(c.classes), len(f.kept)
	own := make([]float64, n*k) // Σ x over a class's pages
	all := make([]float64, n)
	for i, v := range f.vectors(c, pages) {
		class := c.y[pages[i]]
		for j, t := range v.Index {
			own[int(t)*k+class] += float64(v.Value[j])
			all[t] += float64(v.Value[j])
		}
	}
	f.linear = &models.Linear{Weights: make([]float32, n*k), Bias: make([]float32, k)}
	f.settings["nb"] = "multinomial"
	if b.complement {
		f.settings["nb"] = "complement"
	}
	rows := c.classRows(pages)
	for class := range k {
		b.class(f.linear, own, all, class, k)
		if !b.complement {
			f.linear.Bias[class] = float32(math.Log(float64(rows[class]+1) / float64(len(pages)+k)))
		}
	}
	return f, nil
}

func (b bayes) class(l *models.Linear, own, all []float64, class, k int) {
	mass := func(t int) float64 {
		if b.complement {
			return max(0, all[t]-own[t*k+class])
		}
		return own[t*k+class]
	}
	total := smoothing * float64(len(all))
	for t := range all {
		total += mass(t)
	}
	var length float64
	for t := range all {
		w := math.Log((smoothing + mass(t)) / total)
		if b.complement {
			w = -w
		}
		length += math.Abs(w)
		l.Weights[t*k+class] = float32(w)
	}
	if !b.complement {
		return
	}
	// Scale each class to the same sum (their step 8), or long, repetitive complements would dominate.
	for t := range all {
		l.Weights[t*k+class] *= float32(float64(len(all)) / length)
	}
}

// blend adds complement naive Bayes to a linear support vector machine. Both are weight tables of the
// same terms, so the sum is one table, and a page costs no more. Bayes uses every page, the machine only
// those near a border: with many classes and noisy pages they err on different pages (Wang and Manning
// 2012 interpolate the two as well).
type blend struct {
	linear
	share float64 // of naive Bayes, in [0, 1), with its scores scaled to the spread of the machine's
	ratio float64 // spread of the machine's scores over that of naive Bayes's
}

// shares are the shares of naive Bayes that cross-validation tries.
var shares = [...]float64{0.1, 0.2, 0.3, 0.4, 0.5}

func (blend) name() string { return models.LinearSVM }

// factor returns the multiplier of naive Bayes's weights.
func (b blend) factor() float64 { return b.share / (1 - b.share) * b.ratio }

func (b blend) fit(ctx context.Context, c *corpus, pages []int, by fitting) (*fitted, error) {
	f, err := b.linear.fit(ctx, c, pages, by)
	if err != nil {
		return nil, err
	}
	nb, err := bayes{complement: true, odds: b.odds}.fit(ctx, c, pages, by)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(f.kept, nb.kept) {
		return nil, fmt.Errorf("blending %s of %d terms with %s of %d: not the same terms", models.LinearSVM, len(f.kept), models.NaiveBayes, len(nb.kept))
	}
	share := float32(b.factor())
	for i, w := range nb.linear.Weights {
		f.linear.Weights[i] += share * w
	}
	for i, w := range nb.linear.Bias {
		f.linear.Bias[i] += share * w
	}
	f.settings["nb_share"] = fmt.Sprint(b.share)
	return f, nil
}

// blended returns the blend with the best held-out accuracy, or machine if no share is better.
func blended(machine, nb *heldOut, y []int) *heldOut {
	top := machine
	ratio := spread(machine.scores) / spread(nb.scores)
	if math.IsNaN(ratio) || math.IsInf(ratio, 0) {
		return top // no words: all scores are equal
	}
	for _, share := range shares {
		b := blend{machine.learner.(linear), share, ratio}
		if h := b.of(machine, nb, y); h.score > top.score {
			top = h
		}
	}
	return top
}

// of computes the blend's held-out scores from those of its two learners.
func (b blend) of(machine, nb *heldOut, y []int) *heldOut {
	h := newHeldOut(b, len(y))
	for p, s := range machine.scores {
		if s == nil {
			continue
		}
		h.scores[p] = make([]float64, len(s))
		for class, v := range s {
			h.scores[p][class] = v + b.factor()*nb.scores[p][class]
		}
	}
	h.score = accuracy(h.scores, y)
	return h
}

// spread returns the standard deviation of scores about their page's mean.
func spread(scores [][]float64) float64 {
	var squares float64
	n := 0
	for _, s := range scores {
		if s == nil {
			continue
		}
		var mean float64
		for _, v := range s {
			mean += v / float64(len(s))
		}
		for _, v := range s {
			squares += (v - mean) * (v - mean)
		}
		n += len(s)
	}
	return math.Sqrt(squares / float64(n))
}

// accuracy returns the share of judged pages whose best score is that of their class.
func accuracy(scores [][]float64, y []int) float64 {
	hit, judged := 0, 0
	for p, s := range scores {
		if s == nil {
			continue
		}
		judged++
		if best(s) == y[p] {
			hit++
		}
	}
	return float64(hit) / float64(max(1, judged))
}
