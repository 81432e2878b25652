package models

import "fmt"

// Rules is a set of rules in flat arrays. Rule r has the conditions
// Start[r] ≤ i < Start[r+1]: the count of Term[i] is above Threshold[i], or at
// most that where Above[i] is 0. All of them must hold.
//
// In an ordered list the first rule that holds decides (Clark & Niblett 1989). Else the
// class counts of all that hold are added (Clark & Boswell 1991) or, with Shares, the
// shares of what each covers. Where none holds, the default decides. A Matcher finds
// the rules that hold.
type Rules struct {
	Ordered   bool
	Shares    bool
	Start     []int32 // by rule, and the number of conditions
	Term      []int32
	Threshold []float32
	Above     []uint8   // 1: above; 0: at most
	Class     []int32   // by rule: what it concludes
	Counts    []float32 // a row of classes a rule, and the default's last: training pages covered
}

// Len returns the number of rules, without the default.
func (r *Rules) Len() int { return len(r.Class) }

func (r *Rules) check(terms, classes int) error {
	n, conds := len(r.Class), len(r.Term)
	if len(r.Start) != n+1 || r.Start[0] != 0 || int(r.Start[n]) != conds || len(r.Threshold) != conds ||
		len(r.Above) != conds || len(r.Counts) != (n+1)*classes || !finite(r.Threshold) || !finite(r.Counts) {
		return fmt.Errorf("model whose rules are incomplete")
	}
	for i, v := range r.Counts {
		if v < 0 {
			return fmt.Errorf("model whose rule %d covers a negative number of pages", i/classes)
		}
	}
	for k := range n {
		if r.Start[k] >= r.Start[k+1] || int(r.Start[k+1]) > conds || r.Class[k] < 0 || int(r.Class[k]) >= classes {
			return fmt.Errorf("model whose rule %d has no conditions or no class", k)
		}
	}
	for i := range conds {
		if r.Term[i] < 0 || int(r.Term[i]) >= terms || r.Above[i] > 1 {
			return fmt.Errorf("model whose rules ask for a word that it does not have")
		}
	}
	return nil
}

// Covered returns the training pages of each class that a rule covers; those of
// the default for rule Len().
func (r *Rules) Covered(rule, classes int) []float32 { return r.Counts[rule*classes:][:classes] }
