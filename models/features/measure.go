package features

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Measure says how well a term's presence on a page tells classes apart. Each is
// computed from document frequencies alone, so one pass over a set serves all.
type Measure string

const (
	ByTFDFGain Measure = "tfdf+gain" // two steps (paper A, section 3): gain, of words that represent a class
	ByGain     Measure = "gain"      // information gain (paper A eq. 4), in nats
)

// ParseMeasure returns the measure of a name; "" stays, for the caller's default.
func ParseMeasure(name string) (Measure, error) {
	if name == "" {
		return "", nil
	}
	if m := Measure(name); m == ByTFDFGain || m == ByGain {
		return m, nil
	}
	return "", fmt.Errorf("no measure %q of words; choose %s or %s", name, ByTFDFGain, ByGain)
}

// of returns the measure of a term; 0 for one that is on no page.
func (m Measure) of(c *Counts, term int32) float64 {
	if c.DF(term) == 0 || m == ByTFDFGain && c.best(term, c.share) < leastShare {
		return 0
	}
	return c.Gain(term)
}

// best returns the largest value that f has for a class.
func (c *Counts) best(term int32, f func(term int32, class int) float64) float64 {
	top := math.Inf(-1)
	for class := range c.classes {
		if c.pages[class] > 0 {
			top = max(top, f(term, class))
		}
	}
	return top
}

// RankBy returns all terms that occur, by falling measure; equal ones by rising
// number, and by ByTFDFGain first by how well they represent a class: if more words are
// wanted than represent one, the next best come. Ranked.Gain holds the measure.
func (c *Counts) RankBy(m Measure) []Ranked {
	var r []Ranked
	next := make([]float64, c.Terms()) // by term, what orders equal measures
	for i := range int32(c.Terms()) {
		if c.DF(i) > 0 {
			r = append(r, Ranked{i, m.of(c, i)})
		}
		if m == ByTFDFGain {
			next[i] = c.best(i, c.share)
		}
	}
	slices.SortFunc(r, func(a, b Ranked) int {
		return cmp.Or(cmp.Compare(b.Gain, a.Gain), cmp.Compare(next[b.Term], next[a.Term]), cmp.Compare(a.Term, b.Term))
	})
	return r
}
