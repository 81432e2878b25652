package train

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fossick/models"
)

// branch is a subtree as a chain of tests, of which the first that holds decides:
//
//	mortgag > 0 → banking (37 of 39)
//	goal > 1    → six more tests, mostly sport
//	otherwise   → other (80 of 84)
//
// Trees of text lean to one side, a hundred levels deep. Chains nest no deeper than log₂ of the leaves: the
// smaller side of a test becomes its own chain and the larger continues this one.
type branch struct {
	Steps  []step
	Tests  int // in the whole subtree
	Label  string
	Counts string // training pages of Label among all that reach it: "37 of 39"
	Top    bool   // the whole tree
}

type step struct {
	Condition string  // "": otherwise
	Label     string  // of a leaf
	Counts    string  // of a leaf
	Below     *branch // nil at a leaf
}

// tree returns the chain of the model's tree, nil if it has none.
func tree(m *models.Model) *branch {
	if m.Tree == nil {
		return nil
	}
	g := gardener{m, make([]int, len(m.Tree.Term)), make([][]float32, len(m.Tree.Term))}
	for i := len(g.tests) - 1; i >= 0; i-- { // children follow their parents
		g.sum(i)
	}
	b := g.chain(0)
	b.Top = true
	return b
}

// gardener holds what is below each node.
type gardener struct {
	*models.Model
	tests []int       // inner nodes, including itself
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
	if g.Tree.Shares != nil { // a leaf of few pages may get the label of the nodes above it
		shares := g.Tree.LeafShares(node, len(g.Classes))
		s.Label, s.Counts = countsOf(g.Classes, g.pages[node], slices.Index(shares, slices.Max(shares)))
	}
	return s
}

// conditionText formats the test whether a term occurs more often than threshold, or its opposite.
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

// majority returns the class with the most pages, the first of ties, and its pages as "37 of 39".
func majority(classes []string, counts []float32) (label, of string) {
	return countsOf(classes, counts, slices.Index(counts, slices.Max(counts)))
}

// countsOf returns a class and its pages as "37 of 39".
func countsOf(classes []string, counts []float32, class int) (label, of string) {
	var total float32
	for _, n := range counts {
		total += n
	}
	return classes[class], fmt.Sprintf("%g of %g", counts[class], total)
}

// ruleView is a model's rules in the order in which they are tried.
type ruleView struct {
	Ordered bool
	Groups  []ruleGroup // one of all rules if ordered, else one per class
	Default ruleRow
}

type ruleGroup struct {
	Class string // "" if the rules are ordered
	Rules []ruleRow
}

type ruleRow struct {
	Condition string
	Label     string
	Counts    string // training pages of Label among all that it covers
}

func rules(m *models.Model) *ruleView {
	r := m.Rules
	if r == nil {
		return nil
	}
	v := &ruleView{Ordered: r.Ordered}
	groups := make([]ruleGroup, 1)
	if !r.Ordered {
		groups = make([]ruleGroup, len(m.Classes))
		for c, name := range m.Classes {
			groups[c].Class = name
		}
	}
	for i := range r.Len() {
		at, class := 0, int(r.Class[i])
		if !r.Ordered {
			at = class
		}
		groups[at].Rules = append(groups[at].Rules, ruleRow{conditions(m, i), m.Classes[class], covers(m, i, class)})
	}
	for _, g := range groups {
		if len(g.Rules) > 0 {
			v.Groups = append(v.Groups, g)
		}
	}
	v.Default.Label, v.Default.Counts = majority(m.Classes, r.Covered(r.Len(), len(m.Classes)))
	return v
}

func conditions(m *models.Model, rule int) string {
	r := m.Rules
	var parts []string
	for i := r.Start[rule]; i < r.Start[rule+1]; i++ {
		parts = append(parts, conditionText(m.Terms[r.Term[i]], r.Threshold[i], r.Above[i] == 1))
	}
	return strings.Join(parts, " ∧ ")
}

// covers formats how many of the training pages that a rule covers are of a class.
func covers(m *models.Model, rule, class int) string {
	var total float32
	counts := m.Rules.Covered(rule, len(m.Classes))
	for _, n := range counts {
		total += n
	}
	return fmt.Sprintf("%g of %g", counts[class], total)
}

// bestWords is how many words are shown for a class, and how many against it.
const bestWords = 25

// classWords are the words that speak most for and against a class.
type classWords struct {
	Class        string
	For, Against []word
}

type word struct {
	Term   string
	Weight string
	Width  int // of its bar, in per cent of the heaviest word's
}

// words returns the heaviest words of each class, nil for trees and rules. A word's weight is what one
// occurrence adds to the class's score beyond the mean of all classes, before the page is scaled to length
// 1:
//
//	(w_ic − mean_c w_ic) · IDF(i)
//
// A network's w_ic is the slope of its score at the empty page.
func words(m *models.Model) []classWords {
	weight := weights(m)
	if weight == nil {
		return nil
	}
	var out []classWords
	for class, name := range m.Classes {
		all := make([]weighed, len(m.Terms))
		for i := range m.Terms {
			all[i] = weighed{i, weight(i, class)}
		}
		slices.SortFunc(all, func(a, b weighed) int {
			return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.term, b.term))
		})
		cw := classWords{Class: name, For: heaviest(m, all, 1)}
		slices.Reverse(all)
		cw.Against = heaviest(m, all, -1)
		out = append(out, cw)
	}
	return out
}

type weighed struct {
	term   int
	weight float64
}

// heaviest returns the leading words whose weight has this sign.
func heaviest(m *models.Model, all []weighed, sign float64) []word {
	var out []word
	for _, w := range all[:min(bestWords, len(all))] {
		if w.weight*sign <= 0 {
			break
		}
		out = append(out, word{m.Terms[w.term], fmt.Sprintf("%+.2f", w.weight), max(1, int(100*w.weight/all[0].weight))})
	}
	return out
}

// weights returns the weight of a term for a class, nil if the model has no weights.
func weights(m *models.Model) func(term, class int) float64 {
	if m.Linear != nil {
		return linearWeights(m, m.Linear)
	}
	if m.Network != nil {
		return linearWeights(m, m.Network.Linearized())
	}
	return nil
}

func linearWeights(m *models.Model, l *models.Linear) func(term, class int) float64 {
	k := len(m.Classes)
	return func(term, class int) float64 {
		row := l.Weights[term*k:][:k]
		var mean float64
		for _, w := range row {
			mean += float64(w) / float64(k)
		}
		return (float64(row[class]) - mean) * once(m, term)
	}
}

// once returns the weight of a single occurrence of a term, before the page is scaled.
func once(m *models.Model, term int) float64 {
	if m.Weighting.IDF == nil {
		return 1
	}
	return float64(m.Weighting.IDF[term])
}
