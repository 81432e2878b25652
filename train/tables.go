package train

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fossick/models"
)

// branch is a part of a tree as a chain of tests, of which the first that holds decides:
//
//	mortgag > 0 → banking (37 of 39)
//	goal > 1    → six more tests, mostly sport
//	otherwise   → other (80 of 84)
//
// Trees of text lean to one side, a hundred levels deep. As chains they nest no deeper than log₂ of
// their leaves: the smaller side of a test becomes its own chain and the larger goes on.
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

// majority returns the class with the most pages, of equal ones the first, and how many of all they
// are.
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

// ruleView is a model's rules, as they are asked.
type ruleView struct {
	Ordered bool
	Groups  []ruleGroup // one of all rules when ordered, else one a class
	Default ruleRow
}

type ruleGroup struct {
	Class string // "" when the rules are ordered
	Rules []ruleRow
}

type ruleRow struct {
	Condition string
	Label     string
	Counts    string // pages of Label, of all that it covers
}

// rules returns the model's rules, nil when it has none.
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

// covers says how many of the training pages that a rule covers are of a class.
func covers(m *models.Model, rule, class int) string {
	var total float32
	counts := m.Rules.Covered(rule, len(m.Classes))
	for _, n := range counts {
		total += n
	}
	return fmt.Sprintf("%g of %g", counts[class], total)
}

// bestWords is how many words a class shows on either side.
const bestWords = 25

// classWords are the words that speak most for a class, and against it.
type classWords struct {
	Class        string
	For, Against []word
}

type word struct {
	Term   string
	Weight string
	Width  int // of its bar, percent of the class's heaviest
}

// words returns the heaviest words of each class; nil for trees and rules.
//
// A word's weight is what one occurrence adds to the score of the class beyond the mean of all classes,
// before the page is scaled to length 1:
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

// heaviest returns the first words whose weight has the sign.
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

// weights returns the weight of a term for a class, nil when the model has no such thing.
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

// once is the weight of a single occurrence of a term, before the page is scaled.
func once(m *models.Model, term int) float64 {
	if m.Weighting.IDF == nil {
		return 1
	}
	return float64(m.Weighting.IDF[term])
}
