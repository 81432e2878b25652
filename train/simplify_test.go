package train

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"fossick/models"
	"fossick/models/features"
)

// slowShorten is shorten the obvious way.
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

// TestSimplify: on random sets the rules are those of the obvious version, hold on
// the pages of their leaves, and say how many pages they cover. Counts are 0 or 1,
// so that no way has two conditions on a term.
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
		root, err := g.grow(context.Background(), upTo(len(g.rows)), quinlan{g})
		if err != nil {
			t.Fatal(err)
		}
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

// TestSimplifyInterval: both ends of an interval can stay, and only one can.
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
