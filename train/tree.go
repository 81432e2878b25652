package train

import (
	"fmt"
	"slices"
	"strconv"

	"fossick/models"
)

// branch is a part of a tree as a chain of tests, of which the first that holds
// decides:
//
//	mortgag > 0 → banking (37 of 39)
//	goal > 1    → six more tests, mostly sport
//	otherwise   → other (80 of 84)
//
// Trees of text lean to one side, a hundred levels deep. As chains they nest no
// deeper than log₂ of their leaves: the smaller side of a test becomes its own
// chain and the larger goes on.
type branch struct {
	Steps  []step
	Tests  int // in all of it
	Label  string
	Counts string // pages of Label, of all that reach it: "37 of 39"
	Top    bool   // the whole tree
}

type step struct {
	Condition string  // "" is otherwise
	Label     string  // of a leaf
	Counts    string  // of a leaf
	Below     *branch // nil at a leaf
}

// tree returns the chain of the model's tree, nil when it has none.
func tree(m *models.Model) *branch {
	if m.Tree == nil {
		return nil
	}
	g := gardener{m, make([]int, len(m.Tree.Term)), make([][]float32, len(m.Tree.Term))}
	for i := len(g.tests) - 1; i >= 0; i-- { // children stand after their parents
		g.sum(i)
	}
	b := g.chain(0)
	b.Top = true
	return b
}

// gardener knows of each node what is below it.
type gardener struct {
	*models.Model
	tests []int       // inner nodes, itself included
	pages [][]float32 // training pages by class
}

func (g *gardener) sum(i int) {
	t := g.Tree
	if t.Term[i] < 0 {
		g.pages[i] = t.LeafCounts(int32(i), len(g.Classes))
		return
	}
	low, high := t.Low[i], t.High[i]
	g.tests[i] = 1 + g.tests[low] + g.tests[high]
	g.pages[i] = make([]float32, len(g.Classes))
	for c := range g.Classes {
		g.pages[i][c] = g.pages[low][c] + g.pages[high][c]
	}
}

// chain returns the chain that starts at a node.
func (g *gardener) chain(node int32) *branch {
	b := &branch{Tests: g.tests[node]}
	b.Label, b.Counts = majority(g.Classes, g.pages[node])
	t := g.Tree
	for t.Term[node] >= 0 {
		low, high := t.Low[node], t.High[node]
		aside, on, above := high, low, true
		if g.tests[low] < g.tests[high] {
			aside, on, above = low, high, false
		}
		b.Steps = append(b.Steps, g.step(aside, conditionText(g.Terms[t.Term[node]], t.Threshold[node], above)))
		node = on
	}
	b.Steps = append(b.Steps, g.step(node, ""))
	return b
}

func (g *gardener) step(node int32, condition string) step {
	if g.tests[node] > 0 {
		return step{Condition: condition, Below: g.chain(node)}
	}
	s := step{Condition: condition}
	s.Label, s.Counts = majority(g.Classes, g.pages[node])
	if g.Tree.Shares != nil { // a leaf of few pages may say what the nodes above it do
		shares := g.Tree.LeafShares(node, len(g.Classes))
		s.Label, s.Counts = countsOf(g.Classes, g.pages[node], slices.Index(shares, slices.Max(shares)))
	}
	return s
}

// condition says that a term occurs more often than a threshold, or does not.
func conditionText(term string, threshold float32, above bool) string {
	count := strconv.FormatFloat(float64(threshold), 'g', 4, 32)
	switch {
	case above && threshold < 1:
		return term
	case above:
		return term + " > " + count
	case threshold < 1:
		return "no " + term
	}
	return term + " ≤ " + count
}

// majority returns the class with the most pages, of equal ones the first, and how
// many of all they are.
func majority(classes []string, counts []float32) (label, of string) {
	return countsOf(classes, counts, slices.Index(counts, slices.Max(counts)))
}

// countsOf returns a class and how many of the pages are of it.
func countsOf(classes []string, counts []float32, class int) (label, of string) {
	var total float32
	for _, n := range counts {
		total += n
	}
	return classes[class], fmt.Sprintf("%g of %g", counts[class], total)
}
