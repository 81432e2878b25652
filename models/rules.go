package models

import (
	"fmt"
	"math"

	"fossick/features"
)

// Rules is a set of rules in flat arrays. Rule r has the conditions
// Start[r] ≤ i < Start[r+1]: the count of Term[i] is above Threshold[i], or at
// most that where Above[i] is 0. All of them must hold.
//
// In an ordered list the first rule that holds decides (Clark & Niblett 1989);
// else the class counts of all that hold are added (Clark & Boswell 1991). Where
// none holds, the default decides.
type Rules struct {
	Ordered   bool
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
		return fmt.Errorf("model whose rules are not whole")
	}
	for i, v := range r.Counts {
		if v < 0 {
			return fmt.Errorf("model whose rule %d covers fewer than no pages", i/classes)
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

// Find returns the first rule from number from on that holds, Len() if none
// does. x has the counts of all terms.
func (r *Rules) Find(from int, x []float32) int {
	n := len(r.Class)
	term, threshold, above := r.Term, r.Threshold[:len(r.Term)], r.Above[:len(r.Term)]
	end := int(r.Start[from])
next:
	for rule := from; rule < n; rule++ {
		i := end
		end = int(r.Start[rule+1])
		for ; i < end; i++ {
			if (x[term[i]] > threshold[i]) != (above[i] == 1) {
				continue next
			}
		}
		return rule
	}
	return n
}

// Covered returns the training pages of each class that a rule covers; those of
// the default for rule Len().
func (r *Rules) Covered(rule, classes int) []float32 { return r.Counts[rule*classes:][:classes] }

// Scores sets dst to the logarithm of the class probabilities, with Laplace's
// correction: ln (n_c + 1) / (n + k), where n_c are the counts of the rule that
// fires, or the sums of those that do. dense is zero for all terms, before and
// after. It returns the rule that decides: the first that holds of an ordered
// list, else that of the winning class with the best share of it (of equal ones
// the first); Len() is the default.
func (r *Rules) Scores(dst []float64, x features.Vector, dense []float32) (rule int32) {
	for j, i := range x.Index {
		dense[i] = x.Value[j]
	}
	defer func() {
		for _, i := range x.Index {
			dense[i] = 0
		}
	}()
	clear(dst)
	k := len(dst)
	first := r.Find(0, dense)
	for at := first; ; at = r.Find(at+1, dense) {
		if at == r.Len() && at != first {
			break
		}
		for c, n := range r.Covered(at, k) {
			dst[c] += float64(n)
		}
		if r.Ordered || at == r.Len() {
			break
		}
	}
	best, total := 0, float64(k)
	for c, n := range dst {
		total += n
		if n > dst[best] {
			best = c
		}
	}
	for c, n := range dst {
		dst[c] = math.Log((n + 1) / total)
	}
	if r.Ordered {
		return int32(first)
	}
	return int32(r.spokesman(first, best, k, dense))
}

// spokesman returns the rule that speaks best for a class among those that hold.
func (r *Rules) spokesman(first, class, k int, dense []float32) int {
	rule, most := first, math.Inf(-1)
	for at := first; at < r.Len(); at = r.Find(at+1, dense) {
		total := float64(k)
		row := r.Covered(at, k)
		for _, n := range row {
			total += float64(n)
		}
		if share := float64(row[class]+1) / total; share > most {
			rule, most = at, share
		}
	}
	return rule
}
