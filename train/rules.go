package train

import (
	"fmt"
	"strings"

	"fossick/models"
)

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
