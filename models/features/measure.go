package features

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"fossick/internal/printable"
)

// Measure says how well a term's presence on a page tells classes apart. Each is
// computed from document frequencies alone, so one pass over a set serves all.
type Measure string

// The measures. Yang & Pedersen 1997 compare the second, third and fifth, Forman
// 2003 the second to the fourth.
const (
	ByTFDFGain Measure = "tfdf+gain" // two steps (paper A, section 3): gain, of words that represent a class
	ByGain     Measure = "gain"      // information gain (paper A eq. 4), in nats
	ByChi2     Measure = "chi2"      // χ² statistic of presence × class
	ByBNS      Measure = "bns"       // bi-normal separation, of the class that it is largest for
	ByMI       Measure = "mi"        // mutual information of presence and a class, in nats, of the class that it is largest for
)

// Measures returns all measures.
func Measures() []Measure { return []Measure{ByTFDFGain, ByGain, ByChi2, ByBNS, ByMI} }

// ParseMeasure returns the measure of a name; "" stays, for the caller's default.
func ParseMeasure(name string) (Measure, error) {
	if name == "" {
		return "", nil
	}
	if m := Measure(name); slices.Contains(Measures(), m) {
		return m, nil
	}
	var names []string
	for _, m := range Measures() {
		names = append(names, string(m))
	}
	return "", fmt.Errorf("no measure %q of words; choose one of %s", name, printable.SomeNames(name, names))
}

// Of returns the measure of a term; 0 for one that is on no page.
func (m Measure) Of(c *Counts, term int32) float64 {
	if c.DF(term) == 0 {
		return 0
	}
	switch m {
	case ByTFDFGain:
		if c.best(term, c.share) < leastShare {
			return 0
		}
	case ByChi2:
		return c.chi2(term)
	case ByBNS:
		return c.best(term, c.bns)
	case ByMI:
		return c.best(term, c.mi)
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

// chi2 returns the χ² statistic of a term's presence against the classes: over the
// 2·k cells of the table of pages,
//
//	χ² = Σ (O − E)² / E,   E = row sum · column sum / n
//
// 0 when presence and class are independent, and for a term of all pages or none;
// at most n.
func (c *Counts) chi2(term int32) float64 {
	with := c.row(term)
	n, df := sum(c.pages), sum(with)
	if df == 0 || df == n {
		return 0
	}
	var chi2 float64
	for class, k := range with {
		if c.pages[class] == 0 {
			continue
		}
		// Both cells of a class are off by the same number of pages.
		e := float64(c.pages[class]) * df / n
		d := float64(k) - e
		chi2 += d * d * (1/e + 1/(float64(c.pages[class])-e))
	}
	return chi2
}

// bnsLeast keeps rates away from 0 and 1, where the normal quantile is infinite
// (Forman 2003, section 2.3).
const bnsLeast = 0.0005

// bns returns the bi-normal separation of a term for one class against the rest
// (Forman 2003):
//
//	|F⁻¹(tpr) − F⁻¹(fpr)|
//
// F⁻¹ is the standard normal quantile, tpr the share of the class's pages that
// have the term, fpr that of the others; both are held in [0.0005, 0.9995]. 0 for
// a term that is as frequent in the class as elsewhere; at most 6.58.
func (c *Counts) bns(term int32, class int) float64 {
	pages, df := float64(c.pages[class]), float64(c.ClassDF(term, class))
	rest, dfRest := sum(c.pages)-pages, float64(c.DF(term))-df
	if pages == 0 || rest == 0 {
		return 0
	}
	return math.Abs(quantile(df/pages) - quantile(dfRest/rest))
}

func quantile(p float64) float64 {
	return distuv.UnitNormal.Quantile(min(1-bnsLeast, max(bnsLeast, p)))
}

// mi returns the (pointwise) mutual information of a term and a class (Yang &
// Pedersen 1997, section 2.3), in nats:
//
//	I(t, c) = ln( P(t ∧ c) / (P(t) · P(c)) )
//
// 0 when they are independent, −∞ when no page of the class has the term. A term
// of one page has as much as one of all pages of its class: rare words win, which
// is what that paper found against it.
func (c *Counts) mi(term int32, class int) float64 {
	n := sum(c.pages)
	both, df := float64(c.ClassDF(term, class)), float64(c.DF(term))
	return math.Log(both * n / (df * float64(c.pages[class])))
}

// RankBy returns all terms that occur, by falling measure; equal ones by rising
// number, and by ByTFDFGain first by how well they represent a class: if more words are
// wanted than represent one, the next best come. Ranked.Gain holds the measure.
func (c *Counts) RankBy(m Measure) []Ranked {
	var r []Ranked
	next := make([]float64, c.Terms()) // by term, what orders equal measures
	for i := range int32(c.Terms()) {
		if c.DF(i) > 0 {
			r = append(r, Ranked{i, m.Of(c, i)})
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
