package train

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"fossick/internal/stats"
)

// measures compare predictions with the true classes.
type measures struct {
	Pages     int
	Accuracy  float64
	CI        [2]float64 // 95 % interval of the accuracy; see Interval
	Units     int        // distinct pages, or sites if whole sites were held out
	MacroF1   float64    // mean of F1 over the classes that have pages
	PerClass  []classMeasures
	Confusion [][]int // [true class][predicted class]
}

// classMeasures are the measures of one class. Precision is NaN if the class was never predicted, Recall
// if it has no page.
type classMeasures struct {
	Precision, Recall, F1 float64
	Support               int // pages of the class
}

// measure compares predicted with true classes, numbered below classes. A page with a negative true or
// predicted class counts as an error and is left out of Confusion. F1 is 0 for a class that is never right.
func measure(classes int, truth, predicted []int) measures {
	m := measures{Pages: len(truth), Units: len(truth), Confusion: make([][]int, classes), PerClass: make([]classMeasures, classes)}
	for c := range m.Confusion {
		m.Confusion[c] = make([]int, classes)
	}
	named := make([]int, classes) // pages by predicted class
	for i, t := range truth {
		p := predicted[i]
		if t >= 0 {
			m.PerClass[t].Support++
		}
		if p >= 0 {
			named[p]++
		}
		if t >= 0 && p >= 0 {
			m.Confusion[t][p]++
		}
	}
	hits, present := 0, 0
	for c := range m.PerClass {
		k, right := &m.PerClass[c], m.Confusion[c][c]
		hits += right
		k.Precision, k.Recall = float64(right)/float64(named[c]), float64(right)/float64(k.Support)
		if n := named[c] + k.Support; n > 0 {
			k.F1 = 2 * float64(right) / float64(n)
		}
		if k.Support > 0 {
			present++
			m.MacroF1 += k.F1
		}
	}
	m.Accuracy = float64(hits) / float64(max(1, len(truth)))
	m.CI = stats.Wilson(hits, len(truth))
	m.MacroF1 /= float64(max(1, present))
	return m
}

// majority returns the most frequent class and its share, the accuracy that any model must beat.
func (m *measures) majority() (class int, accuracy float64) {
	for c := range m.PerClass {
		if m.PerClass[c].Support > m.PerClass[class].Support {
			class = c
		}
	}
	if len(m.PerClass) == 0 || m.Pages == 0 {
		return 0, 0
	}
	return class, float64(m.PerClass[class].Support) / float64(m.Pages)
}

// Interval returns CI, or nil if there are too few units to judge other pages by.
func (m *measures) Interval() *[2]float64 {
	if m.Units < stats.Fewest {
		return nil
	}
	return &m.CI
}

// Spread formats the interval in per cent, or says why there is none.
func (m *measures) Spread() string {
	if ci := m.Interval(); ci != nil {
		return fmt.Sprintf("95 %% interval %.1f to %.1f", 100*ci[0], 100*ci[1])
	}
	return fmt.Sprintf("no interval: it needs %d different pages or sites, here: %d", stats.Fewest, m.Units)
}

// crossValidated widens the interval as if only this share of the pages had been judged: the folds'
// models share most of their training pages, and none of them is the finished model.
func (m *measures) crossValidated(share float64) {
	pages := math.Round(float64(m.Pages) * share)
	m.CI = stats.Wilson(int(math.Round(m.Accuracy*pages)), int(pages))
}

// judgedPage is a labelled page with the label of a model that was not trained on it.
type judgedPage struct {
	URL, File    string
	Line         int // in File, from 1; 0 if it has no lines
	Truth, Label int // classes; −1 for a label that the model lacks
	Score        float64
	Site         string // held out whole with the page; "" if pages were held out singly
	Mark         uint64 // of its text, see models.Mark; 0 if unknown
}

func (j judgedPage) right() bool { return j.Truth == j.Label }

type source struct {
	url, file string
	line      int
}

// judged lists the pages that have held-out scores, with their best label.
func (c *corpus) judged(probs [][]float64, bySite bool) []judgedPage {
	out := make([]judgedPage, 0, len(c.y))
	for p, s := range probs {
		if s == nil {
			continue
		}
		label := best(s)
		j := judgedPage{Truth: c.y[p], Label: label, Score: s[label], Site: c.apart(p, bySite)}
		if c.texts != nil {
			j.Mark = c.texts[p]
		}
		if c.from != nil {
			j.URL, j.File, j.Line = c.from[p].url, c.from[p].file, c.from[p].line
		}
		out = append(out, j)
	}
	return out
}

func measureJudged(classes int, pages []judgedPage) (measures, reliabilityFigures) {
	truth, predicted := make([]int, len(pages)), make([]int, len(pages))
	for i, p := range pages {
		truth[i], predicted[i] = p.Truth, p.Label
	}
	m := measure(classes, truth, predicted)
	m.CI, m.Units = rightCI(len(pages), func(i int) string { return pages[i].Site }, func(i int) bool { return pages[i].right() }), units(pages)
	return m, measureReliability(pages)
}

// units counts independent pages: copies of a text, and pages of a site held out whole, are one.
func units(pages []judgedPage) (n int) {
	seen := map[any]bool{}
	for _, p := range pages {
		switch {
		case p.Site != "":
			seen[p.Site] = true
		case p.Mark != 0:
			seen[p.Mark] = true
		default:
			n++
		}
	}
	return n + len(seen)
}

// rightCI returns the 95 % interval of the share of n pages that are right. Sites that were held out whole
// count as units, because their pages are right or wrong together.
func rightCI(n int, site func(int) string, right func(int) bool) [2]float64 {
	var units []stats.Cluster
	at := map[string]int{}
	hits, alone := 0, 0
	for i := range n {
		if right(i) {
			hits++
		}
		if site(i) == "" {
			alone++
		}
	}
	if alone == n {
		return stats.Wilson(hits, n)
	}
	for i := range n {
		s := site(i)
		k, known := at[s]
		if !known || s == "" {
			k = len(units)
			units, at[s] = append(units, stats.Cluster{}), k
		}
		if units[k].Of++; right(i) {
			units[k].Hits++
		}
	}
	return stats.Clustered(units)
}

// apart returns the site that a page was held out with, "" if pages are held out singly.
func (c *corpus) apart(page int, bySite bool) string {
	if !bySite {
		return ""
	}
	return c.sites[page]
}

// bins is the number of equal parts of [0,1] in a reliability curve.
const bins = 10

// reliabilityFigures compares probabilities with accuracy: are 80 % of the pages right that are 80 % sure?
type reliabilityFigures struct {
	// ECE is the expected calibration error (Naeini et al. 2015; Guo et al. 2017), a share in [0,1]:
	// Σ_b n_b/n · |right_b − mean_b|.
	ECE float64 `json:"ece"`

	// Over is the mean probability less the accuracy; negative if the model is not sure enough.
	Over float64 `json:"over"`

	Bins []bin `json:"bins"` // bins that have pages, rising
}

// bin holds the pages whose label has a probability in [From, To).
type bin struct {
	From  float64    `json:"from"`
	To    float64    `json:"to"`
	Pages int        `json:"pages"`
	Mean  float64    `json:"mean"`  // of the probabilities
	Right float64    `json:"right"` // share of right labels
	CI    [2]float64 `json:"ci"`    // of Right, 95 %
}

// measureReliability compares the labels' probabilities with accuracy; without pages all is 0.
func measureReliability(pages []judgedPage) reliabilityFigures {
	in := func(p judgedPage) int { return min(bins-1, max(0, int(p.Score*bins))) }
	var count [bins]int
	for _, p := range pages {
		count[in(p)]++
	}
	// Page numbers, not pages: a large set's last bin holds nearly all of them.
	inside := make([]int32, 0, slices.Max(count[:]))
	var r reliabilityFigures
	for b := range bins {
		if count[b] == 0 {
			continue
		}
		inside = inside[:0]
		for i, p := range pages {
			if in(p) == b {
				inside = append(inside, int32(i))
			}
		}
		n := float64(len(inside))
		bin := bin{From: float64(b) / bins, To: float64(b+1) / bins, Pages: len(inside)}
		bin.CI = rightCI(len(inside), func(i int) string { return pages[inside[i]].Site }, func(i int) bool { return pages[inside[i]].right() })
		for _, i := range inside {
			if bin.Mean += pages[i].Score / n; pages[i].right() {
				bin.Right += 1 / n
			}
		}
		share := n / float64(len(pages))
		r.ECE += share * math.Abs(bin.Right-bin.Mean)
		r.Over += share * (bin.Mean - bin.Right)
		r.Bins = append(r.Bins, bin)
	}
	return r
}

// exactBelow disagreements suffice for χ², which is then less than .005 off the exact binomial.
const exactBelow = 25

// paired is a comparison of two models on the same pages.
type paired struct {
	AOnly, BOnly int     // pages that A alone, or B alone, labels right
	Statistic    float64 // McNemar's χ² with continuity correction; 0 when neither leads
	P            float64 // two-sided, in (0,1]: chance that equal models differ as much
	Exact        bool    // P is from the binomial, not from χ²
}

// mcNemar tests two models on the same pages (McNemar 1947, with the correction of Edwards 1948):
//
//	χ² = max(0, |b − c| − 1)² / (b + c)
//
// with b and c, both ≥ 0, the pages that only A and only B have right. Other pages say nothing of the
// difference. Below 25 pages b + c, P is the binomial's: twice the chance of at most min(b,c) heads in
// b + c throws, and at most 1. From 25 on it is the chance of a larger χ² with one degree of freedom.
// With b = c = 0, P is 1.
//
// Pages count as independent draws: many pages of one site, right or wrong together, make P too small.
func mcNemar(b, c int) paired {
	r := paired{AOnly: b, BOnly: c, P: 1, Exact: b+c < exactBelow}
	n := float64(b + c)
	if n == 0 {
		return r
	}
	lead := max(0, math.Abs(float64(b-c))-1)
	r.Statistic = lead * lead / n
	if r.Exact {
		r.P = signTest(min(b, c), b+c)
	} else {
		p := math.Erfc(math.Sqrt(r.Statistic / 2)) // χ² of one degree is a squared normal
		r.P = max(p, math.SmallestNonzeroFloat64)  // from χ² 1,500 on it is too small for a float64
	}
	return r
}

// signTest returns min(1, 2 · Σ_{i≤k} C(n,i) / 2ⁿ). Exact while 2ⁿ is, n ≤ 52.
func signTest(k, n int) float64 {
	ways, sum := 1.0, 1.0
	for i := range k {
		ways = ways * float64(n-i) / float64(i+1)
		sum += ways
	}
	return min(1, math.Ldexp(sum, 1-n))
}

// CurvePoint is a point of the learning curve: the accuracy with fewer training pages.
type CurvePoint struct {
	Pages    int        `json:"pages"`    // trained on, as a mean over the folds
	Accuracy float64    `json:"accuracy"` // on held-out pages, before calibration
	CI       [2]float64 `json:"ci"`       // 95 %
}

// curveShares are the shares of the training pages at the points before the last of a learning curve.
var curveShares = [...]float64{1. / 32, 1. / 16, 1. / 8, 1. / 4, 1. / 2}

// leastPerClass is the least mean number of pages per class at the curve's first point.
const leastPerClass = 3

// learningCurve trains the chosen learner on growing parts of the pages and judges each on the same
// held-out folds; the last point is held itself. A part contains the smaller ones, and at least a page of
// every class.
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
		f.hits(right[i], c, held.outs[k]) // no race: each page is in one fold
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

// part returns a share of each class of pages, at least one page each, taken in the given order.
func (c *corpus) part(order, pages []int, share float64) []int {
	among := make([]bool, len(c.y))
	left := make([]float64, len(c.classes)) // by class: pages still to take
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

// hits sets which pages f labels right.
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
