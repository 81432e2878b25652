package classify

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"fossick/features"
	"fossick/models"
)

// reasons is how many words Explain names.
const reasons = 6

// Explain says why a page gets its label: of a tree the rule that fired,
//
//	mortgag > 0 ∧ loan > 1 → banking (37/39)
//
// with how many of the training pages that it covers are of the class; of the
// others the words that spoke most for the label, with what each added to its
// score beyond the mean of the classes.
func (c *Classifier) Explain(d features.Doc) string {
	s := c.score(d)
	defer c.pool.Put(s)
	best := 0
	for i, p := range s.probs {
		if p > s.probs[best] {
			best = i
		}
	}
	if c.model.Tree != nil {
		return Rule(c.model, s.leaf)
	}
	if c.model.Rules != nil {
		return InducedRule(c.model, int(s.rule))
	}
	return c.words(s.terms, best)
}

// Rule writes the rule of a leaf of the model's tree.
func Rule(m *models.Model, leaf int32) string {
	var parts []string
	for _, cond := range m.Tree.Rule(leaf) {
		term := m.Terms[cond.Term]
		lower, upper := !math.IsInf(float64(cond.Over), -1), !math.IsInf(float64(cond.UpTo), 1)
		switch {
		case lower && upper:
			parts = append(parts, fmt.Sprintf("%s < %s ≤ %s", number(cond.Over), term, number(cond.UpTo)))
		case lower:
			parts = append(parts, term+" > "+number(cond.Over))
		case cond.UpTo < 1:
			parts = append(parts, "no "+term)
		default:
			parts = append(parts, term+" ≤ "+number(cond.UpTo))
		}
	}
	counts := m.Tree.LeafCounts(leaf, len(m.Classes))
	best, total := 0, float32(0)
	for i, n := range counts {
		total += n
		if n > counts[best] {
			best = i
		}
	}
	condition := "always"
	if len(parts) > 0 {
		condition = strings.Join(parts, " ∧ ")
	}
	return fmt.Sprintf("%s → %s (%s/%s)", condition, m.Classes[best], number(counts[best]), number(total))
}

// InducedRule writes a rule of the model's rules as
//
//	mortgag ∧ ¬goal ∧ loan > 1 → banking (37/39)
//
// with how many of the training pages that it covers are of its class; rule
// Rules.Len() is the default.
func InducedRule(m *models.Model, rule int) string {
	r := m.Rules
	counts := r.Covered(rule, len(m.Classes))
	class, total := 0, float32(0)
	for i, n := range counts {
		total += n
		if n > counts[class] {
			class = i
		}
	}
	if rule == r.Len() {
		return fmt.Sprintf("no rule → %s (%s/%s)", m.Classes[class], number(counts[class]), number(total))
	}
	class = int(r.Class[rule])
	var parts []string
	for i := r.Start[rule]; i < r.Start[rule+1]; i++ {
		term, above := m.Terms[r.Term[i]], r.Above[i] == 1
		switch {
		case r.Threshold[i] == 0 && above:
			parts = append(parts, term)
		case r.Threshold[i] == 0:
			parts = append(parts, "¬"+term)
		case above:
			parts = append(parts, term+" > "+number(r.Threshold[i]))
		default:
			parts = append(parts, term+" ≤ "+number(r.Threshold[i]))
		}
	}
	return fmt.Sprintf("%s → %s (%s/%s)", strings.Join(parts, " ∧ "), m.Classes[class], number(counts[class]), number(total))
}

func number(v float32) string { return strconv.FormatFloat(float64(v), 'g', 4, 32) }

// words names the terms that spoke most for a class.
func (c *Classifier) words(x features.Vector, class int) string {
	m := c.model
	k := len(m.Classes)
	type said struct {
		term  int32
		added float64
	}
	var all []said
	for j, i := range x.Index {
		row := m.Linear.Weights[int(i)*k:][:k]
		var mean float64
		for _, w := range row {
			mean += float64(w) / float64(k)
		}
		if added := float64(x.Value[j]) * (float64(row[class]) - mean); added > 0 {
			all = append(all, said{i, added})
		}
	}
	slices.SortFunc(all, func(a, b said) int {
		return cmp.Or(cmp.Compare(b.added, a.added), cmp.Compare(m.Terms[a.term], m.Terms[b.term]))
	})
	var parts []string
	for _, s := range all[:min(reasons, len(all))] {
		parts = append(parts, fmt.Sprintf("%s +%.2f", m.Terms[s.term], s.added))
	}
	if len(parts) == 0 {
		return "no known word → " + m.Classes[class]
	}
	return strings.Join(parts, ", ") + " → " + m.Classes[class]
}
