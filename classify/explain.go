package classify

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fossick/models"
	"fossick/models/features"
)

// reasons is how many words an explanation names.
const reasons = 6

// ExplainFor says why a page has a label, even if another is more probable. Trees and rules give the rule that
// fired,
//
//	mortgag > 0 ∧ loan > 1 → banking (37/39)
//
// with how many of the training pages that it covers have the label. Other models give the words that
// spoke most for the label, each with what it added to the score beyond the mean of the classes (for
// networks, see models.Network.Relevance). A vote gives each member's reasons, with its share and its
// probability for the label. It returns "" if the model lacks the label.
func (c *Classifier) ExplainFor(d features.Doc, label string) string {
	class := c.model.Class(label)
	if class < 0 {
		return ""
	}
	s := c.look(d)
	defer c.spare.Put(s)
	return c.explain(s, class)
}

func (c *Classifier) explain(s *scratch, class int) string {
	if s.unknown != nil {
		return s.unknown.why(c.model.Domain) + " → " + c.model.Classes[c.class]
	}
	if c.members != nil {
		return c.explainVote(s, class)
	}
	return s.state.explain(class)
}

func (s *state) explain(class int) string {
	m := s.model
	switch {
	case m.Tree != nil:
		return rule(m, m.Tree, s.decided, class)
	case m.Forest != nil:
		tree, leaf, agree := s.scorer.Decided(class, s.terms)
		return fmt.Sprintf("%s by tree %d; %d of %d trees agree", rule(m, m.Forest[tree], leaf, class), tree+1, agree, len(m.Forest))
	case m.Rules != nil:
		return inducedRule(m, int(s.decided), class)
	}
	return s.words(class)
}

// mostLacked is how many absent words a rule names: the path to a leaf of an unsimplified tree has dozens.
const mostLacked = 8

// rule formats the simplified rule of a tree's leaf, with its pages of a class. Words that the page has come
// first, in the order of the tree, then those that it lacks.
func rule(m *models.Model, tree *models.Tree, leaf int32, class int) string {
	var has, lacks []string
	conditions, counts := tree.Simple(leaf, len(m.Classes))
	for _, cond := range conditions {
		term := m.Terms[cond.Term]
		lower, upper := cond.Bounded(), cond.Limited()
		switch {
		case lower && upper:
			has = append(has, fmt.Sprintf("%s < %s ≤ %s", number(cond.Over), term, number(cond.UpTo)))
		case lower:
			has = append(has, term+" > "+number(cond.Over))
		case cond.UpTo < 1:
			lacks = append(lacks, "no "+term)
		default:
			lacks = append(lacks, term+" ≤ "+number(cond.UpTo))
		}
	}
	if more := len(lacks) - mostLacked; more > 0 {
		lacks = append(lacks[:mostLacked], fmt.Sprintf("none of %d more", more))
	}
	parts := append(has, lacks...)
	var total float32
	for _, n := range counts {
		total += n
	}
	condition := "always"
	if len(parts) > 0 {
		condition = strings.Join(parts, " ∧ ")
	}
	return fmt.Sprintf("%s → %s (%s/%s)", condition, m.Classes[class], number(counts[class]), number(total))
}

// inducedRule formats one of the model's rules as
//
//	mortgag ∧ ¬goal ∧ loan > 1 → banking (37/39)
//
// with how many of the training pages that it covers are of the class. Rule Rules.Len() is the default.
func inducedRule(m *models.Model, rule, class int) string {
	r := m.Rules
	counts := r.Covered(rule, len(m.Classes))
	var total float32
	for _, n := range counts {
		total += n
	}
	if rule == r.Len() {
		return fmt.Sprintf("no rule → %s (%s/%s)", m.Classes[class], number(counts[class]), number(total))
	}
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

// said is what a term adds to a class's score beyond the mean of the classes.
type said struct {
	term  int32
	added float64
}

// said returns what each term of a page adds for a class.
func (s *state) said(class int) []said {
	m, x := s.model, s.terms
	all := make([]said, len(x.Index))
	if m.Network != nil {
		added := make([]float64, len(x.Index))
		m.Network.Relevance(added, x, class)
		for j, i := range x.Index {
			all[j] = said{i, added[j]}
		}
		return all
	}
	k := len(m.Classes)
	for j, i := range x.Index {
		row := m.Linear.Weights[int(i)*k:][:k]
		var mean float64
		for _, w := range row {
			mean += float64(w) / float64(k)
		}
		all[j] = said{i, float64(x.Value[j]) * (float64(row[class]) - mean)}
	}
	return all
}

func (s *state) words(class int) string {
	m := s.model
	var parts []string
	for _, w := range most(m, s.said(class)) {
		parts = append(parts, fmt.Sprintf("%s +%.2f", m.Terms[w.term], w.added))
	}
	switch {
	case len(s.terms.Index) == 0:
		return "no known word → " + m.Classes[class]
	case len(parts) == 0:
		return "no word speaks for it → " + m.Classes[class]
	}
	return strings.Join(parts, ", ") + " → " + m.Classes[class]
}

// most returns the terms that add most, largest first and ties by spelling, but none that adds nothing.
// Sorting all, hundreds on a page, would take a twentieth of the labelling time.
func most(m *models.Model, all []said) []said {
	compare := func(a, b said) int {
		if n := cmp.Compare(b.added, a.added); n != 0 {
			return n
		}
		return cmp.Compare(m.Terms[a.term], m.Terms[b.term])
	}
	top := make([]said, 0, reasons+1)
	for _, w := range all {
		if !(w.added > 0) || len(top) == reasons && compare(w, top[reasons-1]) >= 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(top, w, compare)
		top = slices.Insert(top, at, w)
		top = top[:min(len(top), reasons)]
	}
	return top
}
