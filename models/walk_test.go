package models

import (
	"math"
	"math/rand/v2"
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

// randomTree grows a tree of random tests, low branches first and most.
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

// TestWalker: it finds the leaf that going down finds, and gives its shares.
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

// TestTreeShares: where a tree has shares, they are the probabilities.
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
