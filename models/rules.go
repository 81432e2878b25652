package models

import (
	"fmt"
	"math"
	"slices"
)

// Rules is a set of rules in flat arrays. Rule r holds if all its conditions Start[r] ≤ i < Start[r+1] do:
// the count of Term[i] is above Threshold[i] or, if Above[i] is 0, at most that. In an ordered list the
// first rule that holds decides (Clark & Niblett 1989).
type Rules struct {
	Ordered   bool    `cbor:"ordered"`
	Shares    bool    `cbor:"shares"`
	Start     []int32 `cbor:"start"` // by rule, then the number of conditions
	Term      []int32 `cbor:"term"`
	Threshold floats  `cbor:"threshold"`
	Above     []uint8 `cbor:"above"`  // 1: above; 0: at most
	Class     []int32 `cbor:"class"`  // by rule: its conclusion
	Counts    floats  `cbor:"counts"` // by rule and class, the default last: training pages covered
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

// Covered returns the training pages of each class that a rule covers; rule Len() is the default.
func (r *Rules) Covered(rule, classes int) []float32 { return r.Counts[rule*classes:][:classes] }

// shares returns, by rule and class, the default last, shares with Laplace's correction (n_c + 1) / (n + k).
// Rules that vote by their shares have (n_c + p_c) / (n + 1), where p_c is the default's share.
func (r *Rules) shares(classes int) []float32 {
	shares := laplace(r.Counts, classes)
	if !r.Shares {
		return shares
	}
	last := r.Len() * classes
	for at := 0; at < last; at += classes {
		total := float32(1)
		for _, n := range r.Counts[at:][:classes] {
			total += n
		}
		for c, n := range r.Counts[at:][:classes] {
			shares[at+c] = (n + shares[last+c]) / total
		}
	}
	return shares
}

// holds reports whether a rule's conditions hold on a page, whose counts dense has by term.
func (r *Rules) holds(rule int, dense []float32) bool {
	for i := r.Start[rule]; i < r.Start[rule+1]; i++ {
		if (dense[r.Term[i]] > r.Threshold[i]) != (r.Above[i] == 1) {
			return false
		}
	}
	return true
}

// on appends the rules that decide a page: the first that holds in a list, else all that hold; the default
// if none does.
func (r *Rules) on(rules []int32, dense []float32) []int32 {
	for rule := range r.Len() {
		if r.holds(rule, dense) {
			if rules = append(rules, int32(rule)); r.Ordered {
				break
			}
		}
	}
	if len(rules) == 0 {
		rules = append(rules, int32(r.Len()))
	}
	return rules
}

// decide sets dst to the logarithms of a page's class probabilities, given the rules that decide it, and
// returns the rule that speaks best for the best class. The probabilities are the mean shares of the rules.
// Without Rules.Shares, unless ordered, they are (n_c + 1) / (n + k) of the added counts of these rules.
func (r *Rules) decide(dst []float64, rules []int32, shares []float32) int32 {
	clear(dst)
	k := len(dst)
	if r.Shares || r.Ordered {
		for _, rule := range rules {
			for c, p := range shares[int(rule)*k:][:k] {
				dst[c] += float64(p)
			}
		}
		for c := range dst {
			dst[c] /= float64(len(rules))
		}
	} else {
		total := float64(k)
		for _, rule := range rules {
			for c, n := range r.Covered(int(rule), k) {
				dst[c] += float64(n)
				total += float64(n)
			}
		}
		for c, n := range dst {
			dst[c] = (n + 1) / total
		}
	}
	class := slices.Index(dst, slices.Max(dst))
	best, most := rules[0], float32(-1)
	for _, rule := range rules {
		if share := shares[int(rule)*k+class]; share > most {
			best, most = rule, share
		}
	}
	for c, p := range dst {
		dst[c] = math.Log(p)
	}
	return best
}
