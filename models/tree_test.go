package models

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"fossick/internal/testkit"
	"fossick/models/features"
)

func TestTreeScores(t *testing.T) {
	w, s := NewScorer(treeModel()), make([]float64, 2)
	for _, c := range []struct {
		count float32
		leaf  int32
		want  float64 // of banking
	}{{0, 1, 1. / 5}, {1, 3, 2. / 4}, {2, 3, 2. / 4}, {3, 4, 5. / 6}} {
		v := features.Vector{Index: []int32{0}, Value: []float32{c.count}}
		leaf := w.Scores(s, v)
		if p := math.Exp(s[0]); leaf != c.leaf || math.Abs(p-c.want) > 1e-6 {
			t.Errorf("count %v: leaf %d, probability %v; want %d, %v", c.count, leaf, p, c.leaf, c.want)
		}
	}
	// Both tests are on one term: one condition.
	if rule := treeModel().Tree.Rule(3); len(rule) != 1 || rule[0] != (Condition{0, 0, 2}) {
		t.Errorf("rule %v, want 0 < term 0 ≤ 2", rule)
	}
}

// TestTreeShares: a tree's shares are its probabilities.
func TestTreeShares(t *testing.T) {
	m, s := treeModel(), make([]float64, 2)
	tree := m.Tree
	tree.Shares = []float32{0.25, 0.75, 0.5, 0.5, 1, 0}
	NewScorer(m).Scores(s, features.Vector{})
	if s[0] != math.Log(0.25) || s[1] != math.Log(0.75) {
		t.Errorf("scores %v, want the logarithms of 0.25 and 0.75", s)
	}
	m = simpleTree()
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

// TestForest: by hand. Tree 1 has 3 of 8 pages of a, so its high leaf (0, 4) says (0 + 3/8) / 5 =
// .075 of a; tree 2 has 4 of 8, so its low leaf (3, 2) says (3 + 1/2) / 6 = .5833. The mean is .3292.
func TestForest(t *testing.T) {
	m := forestModel()
	r, s := NewScorer(m), make([]float64, 2)
	x := features.Vector{Index: []int32{0}, Value: []float32{2}}
	r.Scores(s, x)
	if math.Abs(math.Exp(s[0])-(0.075+3.5/6)/2) > 1e-6 || math.Abs(math.Exp(s[0])+math.Exp(s[1])-1) > 1e-6 {
		t.Errorf("probabilities %.4f, %.4f; want .3292 of a, and 1 together", math.Exp(s[0]), math.Exp(s[1]))
	}
	if tree, leaf, agree := r.Decided(1, x); tree != 0 || leaf != 2 || agree != 1 {
		t.Errorf("for b decided leaf %d of tree %d, and %d trees agree; want leaf 2 of tree 0, and one", leaf, tree, agree)
	}
	if r.dense[0] != 0 {
		t.Error("the page's counts stay")
	}
}

func TestForestFile(t *testing.T) {
	var file bytes.Buffer
	testkit.Must(t, forestModel().Write(&file))
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
		if err := m.Check(); err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, errFormat) {
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
		m := rulesModel()
		m.Rules.Ordered, m.Rules.Shares = c.ordered, c.shares
		rule := NewScorer(m).Scores(s, c.x)
		if rule != c.rule || math.Abs(math.Exp(s[0])-c.want) > 1e-6 {
			t.Errorf("%+v: rule %d, probability %v", c, rule, math.Exp(s[0]))
		}
	}
}
