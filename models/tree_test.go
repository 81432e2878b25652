package models

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fossick/models/features"
)

func TestTreeScores(t *testing.T) {
	w := NewWalker(treeModel().Tree, 3, 2)
	dense, probs := make([]float32, 3), make([]float64, 2)
	for _, c := range []struct {
		count float32
		leaf  int32
		want  float64 // of banking
	}{{0, 1, 1. / 5}, {1, 3, 2. / 4}, {2, 3, 2. / 4}, {3, 4, 5. / 6}} {
		v := features.Vector{Index: []int32{0}, Value: []float32{c.count}}
		leaf := w.Scores(probs, v, dense)
		if leaf != c.leaf || math.Abs(probs[0]-c.want) > 1e-6 {
			t.Errorf("count %v: leaf %d, probability %v; want %d, %v", c.count, leaf, probs[0], c.leaf, c.want)
		}
		if dense[0] != 0 {
			t.Error("scratch is not zero again")
		}
	}
	// Both tests are on one term: one condition.
	if rule := treeModel().Tree.Rule(3); len(rule) != 1 || rule[0] != (Condition{0, 0, 2}) {
		t.Errorf("rule %v, want 0 < term 0 ≤ 2", rule)
	}
}

func randomTree(rng *rand.Rand, t *Tree, depth, terms int) int32 {
	at := int32(len(t.Term))
	t.Term, t.Threshold = append(t.Term, -1), append(t.Threshold, 0)
	t.Low, t.High, t.Leaf = append(t.Low, -1), append(t.High, -1), append(t.Leaf, -1)
	if depth == 0 || rng.IntN(8) == 0 {
		t.Leaf[at] = int32(len(t.Counts))
		t.Counts = append(t.Counts, float32(rng.IntN(9)), float32(rng.IntN(9)))
		return at
	}
	t.Term[at], t.Threshold[at] = int32(rng.IntN(terms)), float32(rng.IntN(12))/4-0.25
	if rng.IntN(4) == 0 {
		t.High[at] = randomTree(rng, t, depth/3, terms)
		t.Low[at] = randomTree(rng, t, depth-1, terms)
	} else {
		t.Low[at] = randomTree(rng, t, depth-1, terms)
		t.High[at] = randomTree(rng, t, depth/3, terms)
	}
	return at
}

func TestWalker(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		terms := 1 + rng.IntN(9)
		tree := &Tree{}
		randomTree(rng, tree, rng.IntN(20), terms)
		if err := tree.check(terms, 2); err != nil {
			t.Fatal(err)
		}
		w := NewWalker(tree, terms, 2)
		for range 20 {
			var x features.Vector
			dense := make([]float32, terms)
			for _, i := range rng.Perm(terms)[:rng.IntN(terms+1)] { // in any order
				dense[i] = float32(1 + rng.IntN(3))
				x.Index, x.Value = append(x.Index, int32(i)), append(x.Value, dense[i])
			}
			want := int32(0)
			for tree.Term[want] >= 0 {
				if dense[tree.Term[want]] > tree.Threshold[want] {
					want = tree.High[want]
				} else {
					want = tree.Low[want]
				}
			}
			if got := w.Find(x, dense); got != want {
				t.Fatalf("page %v reaches leaf %d, want %d of %+v", x, got, want, tree)
			}
		}
	}
}

// TestTreeShares: a tree's shares are its probabilities.
func TestTreeShares(t *testing.T) {
	tree := treeModel().Tree
	tree.Shares = []float32{0.25, 0.75, 0.5, 0.5, 1, 0}
	probs := make([]float64, 2)
	NewWalker(tree, 3, 2).Scores(probs, features.Vector{}, make([]float32, 3))
	if probs[0] != 0.25 || probs[1] != 0.75 {
		t.Errorf("probabilities %v, want 0.25 and 0.75", probs)
	}
	m := simpleTree()
	if rule, counts := m.Tree.Simple(3, 2); len(rule) != 1 || rule[0].Bounded() || rule[0].UpTo != 2 || counts[1] != 4 {
		t.Errorf("rule %v of %v pages, want term 0 ≤ 2 of 1 and 4", rule, counts)
	}
	m.Tree.Rules = rulesModel().Rules // two for three leaves
	if m.Check() == nil {
		t.Error("a leaf without a rule passes")
	}
	for _, bad := range [][]float32{{1}, {0.25, 0.75, 0.5, 0.5, float32(math.NaN()), 0}} {
		tree.Shares = bad
		if tree.check(3, 2) == nil {
			t.Errorf("shares %v pass", bad)
		}
	}
}

// forestModel has two trees of two words and two classes. Tree 1 asks for word 0, tree 2 for word 1.
func forestModel() *Model {
	tree := func(term int32, counts ...float32) *Tree {
		return &Tree{Term: []int32{term, -1, -1}, Threshold: []float32{0, 0, 0}, Low: []int32{1, -1, -1}, High: []int32{2, -1, -1},
			Leaf: []int32{-1, 0, 2}, Counts: counts}
	}
	return &Model{
		Classifier: Trees, Classes: []string{"a", "b"}, Terms: []string{"x", "y"}, Thresholds: []float64{0.5, 0.5},
		Calibration: Calibration{Scale: 1}, Forest: Forest{tree(0, 3, 1, 0, 4), tree(1, 3, 2, 1, 2)},
	}
}

// TestRanger: by hand. Tree 1 has 3 of 8 pages of a, so its high leaf (0, 4) says (0 + 3/8) / 5 =
// .075 of a; tree 2 has 4 of 8, so its low leaf (3, 2) says (3 + 1/2) / 6 = .5833. The mean is .3292.
func TestRanger(t *testing.T) {
	m := forestModel()
	r, dense, s := NewRanger(m.Forest, 2, 2), make([]float32, 2), make([]float64, 2)
	x := features.Vector{Index: []int32{0}, Value: []float32{2}}
	r.Scores(s, x, dense)
	if math.Abs(math.Exp(s[0])-(0.075+3.5/6)/2) > 1e-6 || math.Abs(math.Exp(s[0])+math.Exp(s[1])-1) > 1e-6 {
		t.Errorf("probabilities %.4f, %.4f; want .3292 of a, and 1 together", math.Exp(s[0]), math.Exp(s[1]))
	}
	if d := r.Decided(1, 2, x, dense); d != (Deciding{Tree: 0, Leaf: 2, For: 1}) {
		t.Errorf("for b decided %+v; want leaf 2 of tree 0, and one tree for it", d)
	}
	if dense[0] != 0 {
		t.Error("dense is not zero afterwards")
	}
}

func TestForestFile(t *testing.T) {
	var file bytes.Buffer
	if err := forestModel().Write(&file); err != nil {
		t.Fatal(err)
	}
	m, err := Read(&file)
	if err != nil || len(m.Forest) != 2 || m.Forest[1].Counts[3] != 2 {
		t.Fatalf("read %+v, %v", m, err)
	}
	for want, change := range map[string]func(*Model){
		"0 trees":           func(m *Model) { m.Forest = Forest{} },
		"is missing":        func(m *Model) { m.Forest[1] = nil },
		"leads nowhere":     func(m *Model) { m.Forest[1].Low[0] = 0 },
		"a negative number": func(m *Model) { m.Forest[0].Counts[0] = -1 },
	} {
		m := forestModel()
		change(m)
		if err := m.Check(); err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestRulesScores(t *testing.T) {
	s := make([]float64, 2)
	for _, c := range []struct {
		ordered, shares bool
		x               features.Vector
		rule            int32
		want            float64 // of banking
	}{
		{false, false, features.Vector{Index: []int32{0}, Value: []float32{1}}, 0, 5. / 6},
		{false, false, features.Vector{Index: []int32{0, 2}, Value: []float32{1, 3}}, 0, 6. / 9}, // 4+1 and 0+2
		{false, true, features.Vector{Index: []int32{0, 2}, Value: []float32{1, 3}}, 0, ((4+0.5)/5 + (1+0.5)/4) / 2},
		{true, false, features.Vector{Index: []int32{0, 2}, Value: []float32{1, 3}}, 0, 5. / 6},
		{true, false, features.Vector{Index: []int32{0, 1, 2}, Value: []float32{1, 1, 3}}, 1, 2. / 5},
		{false, false, features.Vector{}, 2, 0.5},
		{false, true, features.Vector{}, 2, 0.5},
	} {
		r := rulesModel().Rules
		r.Ordered, r.Shares = c.ordered, c.shares
		rule := NewMatcher(r, 3, 2).Scores(s, c.x, &RuleScratch{Dense: make([]float32, 3)})
		if rule != c.rule || math.Abs(math.Exp(s[0])-c.want) > 1e-6 {
			t.Errorf("%+v: rule %d, probability %v", c, rule, math.Exp(s[0]))
		}
	}
}

// randomRules makes rules of one to four conditions; some do not begin with a required word.
func randomRules(rng *rand.Rand, rules, terms, classes int) *Rules {
	r := &Rules{Start: []int32{0}}
	for range rules {
		for range 1 + rng.IntN(4) {
			r.Term = append(r.Term, int32(rng.IntN(terms)))
			r.Threshold = append(r.Threshold, float32(rng.IntN(4)-1))
			r.Above = append(r.Above, uint8(rng.IntN(2)))
		}
		r.Start, r.Class = append(r.Start, int32(len(r.Term))), append(r.Class, int32(rng.IntN(classes)))
	}
	for range (rules + 1) * classes {
		r.Counts = append(r.Counts, float32(rng.IntN(9)))
	}
	return r
}

func TestMatcher(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		terms := 1 + rng.IntN(12)
		r := randomRules(rng, rng.IntN(30), terms, 3)
		m := NewMatcher(r, terms, 3)
		for range 20 {
			var x features.Vector
			dense := make([]float32, terms)
			for i := range dense {
				if rng.IntN(3) == 0 {
					dense[i] = float32(1 + rng.IntN(3))
					x.Index, x.Value = append(x.Index, int32(i)), append(x.Value, dense[i])
				}
			}
			var want []int32
			for rule := range r.Len() {
				holds := true
				for i := r.Start[rule]; i < r.Start[rule+1]; i++ {
					if r.Above[i] == 1 {
						holds = holds && dense[r.Term[i]] > r.Threshold[i]
					} else {
						holds = holds && dense[r.Term[i]] <= r.Threshold[i]
					}
				}
				if holds {
					want = append(want, int32(rule))
				}
			}
			got := m.All(nil, x, dense)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Fatalf("rules %v hold, want %v", got, want)
			}
			first := slices.Concat(want, []int32{int32(r.Len())})[0]
			if got := m.First(x, dense); got != first {
				t.Fatalf("rule %d is the first, want %d", got, first)
			}
		}
	}
}
