package models

import (
	"fmt"
	"math"
	"slices"

	"fossick/models/features"
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

// Matcher finds the rules that hold on a page without trying all: it tries a rule that requires words only
// on pages with the first of them. It never changes, so goroutines may share it.
type Matcher struct {
	rules  *Rules
	byTerm [][]entry // by term: rules that require it first, rising
	always []entry   // rules that require no word, rising
	shares []float32 // by rule and class, the default last; see share
}

// entry is a rule with what remains to be checked on a page with its first word.
type entry struct {
	rule       int32
	over       float32 // lower bound of the first word's count
	start, end int32   // the other conditions
}

// NewMatcher prepares rules of a model that passes Check. The rules must not change afterwards.
func NewMatcher(r *Rules, terms, classes int) *Matcher {
	m := &Matcher{rules: r, byTerm: make([][]entry, terms), shares: make([]float32, len(r.Counts))}
	for rule := range r.Len() {
		e := entry{int32(rule), 0, r.Start[rule], r.Start[rule+1]}
		at := r.asks(rule)
		if at < 0 {
			m.always = append(m.always, e)
			continue
		}
		// Training writes required words first, the rarest before the others.
		if e.over = r.Threshold[at]; at == e.start {
			e.start++
		}
		m.byTerm[r.Term[at]] = append(m.byTerm[r.Term[at]], e)
	}
	m.share(classes)
	return m
}

// share computes shares with Laplace's correction (n_c + 1) / (n + k). Rules that vote by their shares have
// (n_c + p_c) / (n + 1), where p_c is the default's share.
func (m *Matcher) share(classes int) {
	r := m.rules
	corrected := func(at int, add float32, p func(c int) float32) {
		total := add
		for _, n := range r.Counts[at:][:classes] {
			total += n
		}
		for c, n := range r.Counts[at:][:classes] {
			m.shares[at+c] = (n + p(c)) / total
		}
	}
	laplace := func(int) float32 { return 1 }
	last := r.Len() * classes
	corrected(last, float32(classes), laplace)
	for at := 0; at < last; at += classes {
		if r.Shares {
			corrected(at, 1, func(c int) float32 { return m.shares[last+c] })
		} else {
			corrected(at, float32(classes), laplace)
		}
	}
}

// asks returns the first condition of a rule that requires its word, or −1.
func (r *Rules) asks(rule int) int32 {
	for i := r.Start[rule]; i < r.Start[rule+1]; i++ {
		if r.Above[i] == 1 && r.Threshold[i] >= 0 {
			return i
		}
	}
	return -1
}

// holds reports whether the conditions of e after its first word hold.
func (m *Matcher) holds(e *entry, dense []float32) bool {
	r := m.rules
	for i := e.start; i < e.end; i++ {
		if (dense[r.Term[i]] > r.Threshold[i]) != (r.Above[i] == 1) {
			return false
		}
	}
	return true
}

// First returns the first rule that holds, else Len(). dense has the counts x by term, 0 elsewhere.
func (m *Matcher) First(x features.Vector, dense []float32) int32 {
	first := int32(m.rules.Len())
	for j, t := range x.Index {
		for i := range m.byTerm[t] {
			e := &m.byTerm[t][i]
			if e.rule >= first {
				break
			}
			if x.Value[j] > e.over && m.holds(e, dense) {
				first = e.rule
				break
			}
		}
	}
	for i := range m.always {
		e := &m.always[i]
		if e.rule >= first {
			break
		}
		if m.holds(e, dense) {
			return e.rule
		}
	}
	return first
}

// All appends the rules that hold to dst, in no stated order.
func (m *Matcher) All(dst []int32, x features.Vector, dense []float32) []int32 {
	for j, t := range x.Index {
		for i := range m.byTerm[t] {
			if e := &m.byTerm[t][i]; x.Value[j] > e.over && m.holds(e, dense) {
				dst = append(dst, e.rule)
			}
		}
	}
	for i := range m.always {
		if e := &m.always[i]; m.holds(e, dense) {
			dst = append(dst, e.rule)
		}
	}
	return dst
}

// RuleScratch is reusable space for scoring. Dense has a place for each term, and is zero before and after.
type RuleScratch struct {
	Dense []float32
	hold  []int32
}

// Scores sets dst to the logarithms of a page's class probabilities, given its counts x, and returns the
// rule that speaks best for the best class. The probabilities are the shares of the rule that fires in a
// list, else the mean shares of all rules that hold. Without Rules.Shares they are
// (n_c + 1) / (n + k) of the added counts of these rules.
func (m *Matcher) Scores(dst []float64, x features.Vector, s *RuleScratch) (rule int32) {
	for j, i := range x.Index {
		s.Dense[i] = x.Value[j]
	}
	s.hold = s.hold[:0]
	if m.rules.Ordered {
		rule = m.First(x, s.Dense)
		s.hold = append(s.hold, rule)
	} else if s.hold = m.All(s.hold, x, s.Dense); len(s.hold) == 0 {
		s.hold = append(s.hold, int32(m.rules.Len()))
	}
	for _, i := range x.Index {
		s.Dense[i] = 0
	}
	if m.rules.Shares || m.rules.Ordered {
		m.addShares(dst, s.hold)
	} else {
		m.addCounts(dst, s.hold)
	}
	rule = m.spokesman(s.hold, dst)
	for c, p := range dst {
		dst[c] = math.Log(p)
	}
	return rule
}

func (m *Matcher) addShares(dst []float64, rules []int32) {
	clear(dst)
	for _, rule := range rules {
		for c, p := range m.shares[int(rule)*len(dst):][:len(dst)] {
			dst[c] += float64(p)
		}
	}
	for c := range dst {
		dst[c] /= float64(len(rules))
	}
}

// addCounts sets dst to the shares of the rules' added counts, with Laplace's correction.
func (m *Matcher) addCounts(dst []float64, rules []int32) {
	clear(dst)
	total := float64(len(dst))
	for _, rule := range rules {
		for c, n := range m.rules.Covered(int(rule), len(dst)) {
			dst[c] += float64(n)
			total += float64(n)
		}
	}
	for c, n := range dst {
		dst[c] = (n + 1) / total
	}
}

// spokesman returns the rule with the largest share of the best class.
func (m *Matcher) spokesman(rules []int32, p []float64) int32 {
	class := slices.Index(p, slices.Max(p))
	best, most := rules[0], float32(-1)
	for _, rule := range rules {
		if share := m.shares[int(rule)*len(p)+class]; share > most || share == most && rule < best {
			best, most = rule, share
		}
	}
	return best
}
