package train

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"fossick/internal/testkit"
	"fossick/models"
	"fossick/models/features"
)

// TestExtraErrors: the worked example of Quinlan 1993, section 4.2: U(0,6) = 0.206, U(0,9) = 0.143,
// U(0,1) = 0.750, and U(1,16) = 0.157. Without errors U(0,n) = 1 − 0.25^(1/n). With one among 16, z =
// 0.6925 gives
//
//	U = (1.5 + z²/2 + √(z²·(1.5·(1 − 1.5/16) + z²/4))) / (16 + z²) = 2.582031/16.479556 = 0.156681
func TestExtraErrors(t *testing.T) {
	for _, c := range []struct{ n, e, want float64 }{
		{6, 0, 6 * 0.206299}, {9, 0, 9 * 0.142756}, {1, 0, 0.750}, {16, 1, 16*0.156681 - 1},
		{0, 0, 0}, {3, 3, 0}, // no page; no right page
	} {
		if got := extraErrors(c.n, c.e); !(math.Abs(got-c.want) < 2e-5) {
			t.Errorf("extraErrors(%v, %v) = %.6f, want %.6f", c.n, c.e, got, c.want)
		}
	}
}

// TestPrune: Quinlan's subtree of three leaves (6, 9 and 1 pages, no errors but one page of another
// class) is replaced, since 3.273 > 16 × 0.157 = 2.512.
func TestPrune(t *testing.T) {
	g := &grower{caution: cautious, classes: 2, terms: 2}
	g.page(6, 0, 1) // so that the branch is not raised
	g.page(9, 0, 0)
	g.page(1, 1, 0, 1)
	leaf := func(a, b float64) *node { return &node{term: -1, counts: []float64{a, b}} }
	inner := &node{term: 1, low: leaf(9, 0), high: leaf(0, 1), counts: []float64{9, 1}}
	root := &node{term: 0, low: leaf(6, 0), high: inner, counts: []float64{15, 1}}
	if g.prune(root, upTo(len(g.rows))); root.term != -1 {
		t.Error("the subtree stands")
	}
	g = &grower{caution: cautious, classes: 2, terms: 1}
	g.page(50, 0)
	g.page(50, 1, 0)
	solid := &node{term: 0, low: leaf(50, 0), high: leaf(0, 50), counts: []float64{50, 50}}
	if g.prune(solid, upTo(len(g.rows))); solid.term != 0 {
		t.Error("a split without errors was pruned")
	}
}

func (g *grower) page(n, class int, terms ...int32) {
	for range n {
		g.rows = append(g.rows, features.Vector{Index: terms, Value: slices.Repeat([]float32{1}, len(terms))})
		g.y = append(g.y, class)
	}
}

// TestRaise: the root separates 2 pages of class 1 from a subtree of 40 and 40 pages. If both pages are of
// class 1, its split saves 2 × 0.5 = 1.0 expected errors; else the subtree is raised.
func TestRaise(t *testing.T) {
	for _, c := range []struct {
		other int // class of the second of the two pages
		root  int // term of the root afterwards
	}{{1, 0}, {0, 1}} {
		g := &grower{caution: cautious, classes: 2, terms: 2}
		g.page(1, 1, 0)
		g.page(1, c.other, 0)
		g.page(40, 0)
		g.page(40, 1, 1)
		counts := []float64{41, 41}
		two := []float64{1, 1}
		if c.other == 1 {
			counts, two = []float64{40, 42}, []float64{0, 2}
		}
		leaf := func(n ...float64) *node { return &node{term: -1, counts: n} }
		inner := &node{term: 1, low: leaf(40, 0), high: leaf(0, 40), counts: []float64{40, 40}}
		root := &node{term: 0, low: inner, high: leaf(two...), counts: counts}
		g.prune(root, upTo(len(g.rows)))
		if root.term != c.root {
			t.Errorf("pages of classes 1 and %d: the root asks for term %d, want %d", c.other, root.term, c.root)
		}
		if got := root.pages(); got != 82 {
			t.Errorf("the root has %v pages, want 82", got)
		}
		if c.root == 1 && root.low.pages() != 42 {
			t.Errorf("the raised leaf has %v pages, want 42", root.low.pages())
		}
	}
}

func slowSplit(counts []float32, y []int, classes int) (threshold float32, gain float64) {
	gain = math.Inf(-1)
	entropy := func(keep func(float32) bool) (float64, int) {
		by, n := make([]int, classes), 0
		for i, v := range counts {
			if keep(v) {
				by[y[i]]++
				n++
			}
		}
		return bits(by, n), n
	}
	whole, all := entropy(func(float32) bool { return true })
	candidates := map[float32]bool{}
	largest := float32(0)
	for _, v := range counts {
		candidates[v] = true
		largest = max(largest, v)
	}
	delete(candidates, largest)
	eligible := 0
	for at := float32(0); at <= largest; at++ {
		if !candidates[at] {
			continue
		}
		eLow, nLow := entropy(func(v float32) bool { return v <= at })
		eHigh, nHigh := entropy(func(v float32) bool { return v > at })
		if min(nLow, nHigh) < cautious.least {
			continue
		}
		eligible++
		if g := whole - (float64(nLow)*eLow+float64(nHigh)*eHigh)/float64(all); g > gain {
			threshold, gain = at, g
		}
	}
	if eligible > 1 {
		gain -= math.Log2(float64(eligible)) / float64(all)
	}
	return threshold, gain
}

func TestBestThreshold(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for range 500 {
		n, classes := 4+rng.IntN(40), 2+rng.IntN(3)
		counts, y, total := make([]float32, n), make([]int, n), make([]int, classes)
		var values []value
		for i := range n {
			y[i] = rng.IntN(classes)
			total[y[i]]++
			if rng.IntN(3) > 0 {
				counts[i] = float32(1 + rng.IntN(4))
				values = append(values, value{counts[i], y[i]})
			}
		}
		if len(values) == 0 {
			continue
		}
		threshold, gain := slowSplit(counts, y, classes)
		got := bestThreshold(values, total, n, cautious.least)
		if math.IsInf(gain, -1) != math.IsInf(got.gain, -1) ||
			!math.IsInf(gain, -1) && (got.threshold != threshold || math.Abs(got.gain-gain) > 1e-9) {
			t.Fatalf("counts %v, classes %v: threshold %v gain %v, want %v, %v", counts, y, got.threshold, got.gain, threshold, gain)
		}
	}
}

// TestGrowIsDeep: the tree is deeper than golearn's levels. The class alternates along a chain of words.
func TestGrowIsDeep(t *testing.T) {
	g := &grower{caution: cautious, classes: 2, terms: 3 * levels}
	for term := range g.terms {
		for range 40 - term {
			g.rows = append(g.rows, features.Vector{Index: []int32{int32(term)}, Value: []float32{1}})
			g.y = append(g.y, term%2)
		}
	}
	root := testkit.Call(g.grow(context.Background(), upTo(len(g.rows)), quinlan{g})).Must(t)
	tree := compile(root, cautious.shrink)
	scorer := models.NewScorer(&models.Model{Classes: make([]string, 2), Terms: make([]string, g.terms), Tree: tree})
	for i, r := range g.rows {
		counts := tree.LeafCounts(scorer.Scores(make([]float64, 2), r), 2)
		if counts[g.y[i]] <= counts[1-g.y[i]] {
			t.Fatalf("word %d goes to a leaf with %v pages of the classes, want class %d", r.Index[0], counts, g.y[i])
		}
	}
	if depth(root) <= levels {
		t.Errorf("depth %d, want more than %d", depth(root), levels)
	}
}

func depth(n *node) int {
	if n.term < 0 {
		return 0
	}
	return 1 + max(depth(n.low), depth(n.high))
}

// TestGainRatio: of twelve pages, six of a class each, word 0 stands on six, five of them of class 0;
// word 1 on three, and word 2 on two, all of class 0. By hand, in bits: word 0 gains 1 − H(1/6) = 0.350
// and divides into halves (1 bit), ratio 0.350.
func TestGainRatio(t *testing.T) {
	g := &grower{caution: cautious, classes: 2, terms: 3}
	g.page(1, 0, 0, 1, 2)
	g.page(1, 0, 0, 1, 2)
	g.page(1, 0, 0, 1)
	g.page(2, 0, 0)
	g.page(1, 0)
	g.page(1, 1, 0)
	g.page(5, 1)
	pages := upTo(len(g.rows))
	want := map[int][2]float64{0: {0.350, 0.350}, 1: {0.311, 0.384}, 2: {0.191, 0.294}}
	for term, values := range g.columns(pages) {
		s := bestThreshold(values, []int{6, 6}, 12, g.least)
		if !(math.Abs(s.gain-want[term][0]) <= 5e-4) || !(math.Abs(s.ratio-want[term][1]) <= 5e-4) {
			t.Errorf("word %d: gain %.3f, ratio %.3f; want %.3f", term, s.gain, s.ratio, want[term])
		}
	}
	if s := g.split(pages); s.term != 1 || s.threshold != 0 {
		t.Errorf("split by word %d, want word 1, which has the best gain ratio; word 0 gains most", s.term)
	}
	if s := g.split(pages[:6]); s.term != -1 {
		t.Errorf("pages of one class are split by word %d", s.term)
	}
}

// TestGainOfMean: of forty pages, twenty of a class each, word 0 stands on twenty, fourteen of them of
// class 0, and word 1 on two of class 0. By hand, in bits: word 0 gains 1 − H(0.3) = 0.119 and divides
// into halves, ratio 0.119.
func TestGainOfMean(t *testing.T) {
	g := &grower{caution: cautious, classes: 2, terms: 2}
	g.page(2, 0, 0, 1)
	g.page(12, 0, 0)
	g.page(6, 0)
	g.page(6, 1, 0)
	g.page(14, 1)
	if s := g.split(upTo(len(g.rows))); s.term != 0 || !(math.Abs(s.ratio-0.1187) <= 5e-5) {
		t.Errorf("split by word %d with ratio %.4f, want word 0 with 0.1187: word 1 gains less than the mean", s.term, s.ratio)
	}
}

// TestThresholdCosts: a word is twice on four pages of class 0, and on four of class 1 once, once, never and
// never. Of its two thresholds the better, 1, gains 1 bit and splits into halves; the choice costs
// log2(2)/8, also in the ratio (Quinlan 1996).
func TestThresholdCosts(t *testing.T) {
	values := []value{{2, 0}, {2, 0}, {2, 0}, {2, 0}, {1, 1}, {1, 1}}
	if s := bestThreshold(values, []int{4, 4}, 8, cautious.least); s.threshold != 1 || s.gain != 0.875 || s.ratio != 0.875 {
		t.Errorf("threshold %v, gain %v, ratio %v; want 1 with 0.875 and 0.875", s.threshold, s.gain, s.ratio)
	}
}

func slowShorten(g *grower, rule []models.Condition, class int) []models.Condition {
	expect := func(rule []models.Condition) float64 {
		n, hits := 0, 0
		for row := range g.rows {
			if meets(g, row, rule) {
				if n++; g.y[row] == class {
					hits++
				}
			}
		}
		return rate(n, hits)
	}
	for len(rule) > 1 {
		least, at := expect(rule), -1
		for i := range rule {
			if r := expect(slices.Delete(slices.Clone(rule), i, i+1)); r < least || r == least && at < 0 {
				least, at = r, i
			}
		}
		if at < 0 {
			break
		}
		rule = slices.Delete(slices.Clone(rule), at, at+1)
	}
	return rule
}

func meets(g *grower, row int, rule []models.Condition) bool {
	return !slices.ContainsFunc(rule, func(c models.Condition) bool {
		n := g.count(row, int(c.Term))
		return n <= c.Over || n > c.UpTo
	})
}

// TestSimplify: on random sets the rules equal those of a plain version, hold on their leaves' pages, and
// count the pages that they cover. Counts are 0 or 1, so that no path has two conditions on a term.
func TestSimplify(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	shorter := 0
	for range 60 {
		g := &grower{caution: cautious, classes: 3, terms: 8}
		for range 30 + rng.IntN(120) {
			class := rng.IntN(3)
			var terms []int32
			for i := range int32(8) {
				if rng.IntN(6) < 1+(int(i)+class)%3 {
					terms = append(terms, i)
				}
			}
			g.page(1, class, terms...)
		}
		root := testkit.Call(g.grow(context.Background(), upTo(len(g.rows)), quinlan{g})).Must(t)
		tree := compile(root, cautious.shrink)
		tree.Rules = g.simplify(tree)
		for leaf := int32(0); int(leaf) < len(tree.Term); leaf++ {
			if tree.Term[leaf] >= 0 || tree.Rules == nil {
				continue
			}
			way := tree.Rule(leaf)
			shares := tree.LeafShares(leaf, 3)
			rule, counts := tree.Simple(leaf, 3)
			if want := slowShorten(g, way, slices.Index(shares, slices.Max(shares))); !slices.Equal(rule, want) {
				t.Fatalf("%v became %v, want %v", way, rule, want)
			}
			if len(rule) < len(way) {
				shorter++
			}
			covered := make([]float32, 3)
			for row := range g.rows {
				if meets(g, row, rule) {
					covered[g.y[row]]++
				} else if meets(g, row, way) {
					t.Fatalf("page %d reaches a leaf whose rule %v it does not meet", row, rule)
				}
			}
			if !slices.Equal(counts, covered) {
				t.Fatalf("%v says that it covers %v pages; it covers %v", rule, counts, covered)
			}
		}
	}
	if shorter < 100 {
		t.Errorf("%d rules became shorter, want more", shorter)
	}
}

// TestSimplifyInterval: an interval may keep both ends, or one.
func TestSimplifyInterval(t *testing.T) {
	g := &grower{caution: cautious, classes: 2, terms: 1}
	for count, class := range []int{1, 0, 1} {
		for range 20 {
			g.rows = append(g.rows, features.Vector{Index: []int32{0}, Value: []float32{float32(count)}})
			g.y = append(g.y, class)
		}
	}
	tree := &models.Tree{
		Term: []int32{0, -1, 0, -1, -1}, Threshold: []float32{0, 0, 1, 0, 0},
		Low: []int32{1, -1, 3, -1, -1}, High: []int32{2, -1, 4, -1, -1}, Leaf: []int32{-1, 0, -1, 2, 4},
		Counts: []float32{0, 20, 20, 0, 0, 20}, Shares: []float32{0, 1, 1, 0, 0, 1},
	}
	tree.Rules = g.simplify(tree)
	if rule, _ := tree.Simple(3, 2); len(rule) != 1 || rule[0] != (models.Condition{Term: 0, Over: 0, UpTo: 1}) {
		t.Errorf("rule %v, want 0 < term 0 ≤ 1", rule)
	}
	if rule, counts := tree.Simple(4, 2); len(rule) != 1 || rule[0].Over != 1 || counts[1] != 20 {
		t.Errorf("rule %v of %v pages, want term 0 > 1 of 20", rule, counts)
	}
}
