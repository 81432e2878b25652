package features

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Counts holds what feature selection needs of a labelled set: on how many pages of each class a term occurs,
// and how strongly. It keeps no pages; memory is terms times classes.
type Counts struct {
	classes int
	pages   []int32   // by class
	once    []float64 // by class: Σ over its pages of 1 / max_k TF(k,j)
	df      []int32   // term·classes + class: pages of the class with the term
	tf      []float32 // likewise: Σ over these pages of TF(i,j) / max_k TF(k,j)
}

// NewCounts returns empty counts for a number of classes.
func NewCounts(classes int) *Counts {
	return &Counts{classes: classes, pages: make([]int32, classes), once: make([]float64, classes)}
}

// Add counts a page of a class. tf counts some or all of its terms; most is its most frequent term's count.
func (c *Counts) Add(class int, tf Vector, most float32) {
	c.pages[class]++
	if most > 0 {
		c.once[class] += 1 / float64(most)
	}
	if len(tf.Index) == 0 {
		return
	}
	if need := (int(tf.Index[len(tf.Index)-1]) + 1) * c.classes; need > len(c.df) {
		c.df = append(c.df, make([]int32, need-len(c.df))...)
		c.tf = append(c.tf, make([]float32, need-len(c.tf))...)
	}
	for k, i := range tf.Index {
		at := int(i)*c.classes + class
		c.df[at]++
		c.tf[at] += tf.Value[k] / most
	}
}

// Pages returns the number of pages of a class.
func (c *Counts) Pages(class int) int { return int(c.pages[class]) }

// Terms returns the number of terms.
func (c *Counts) Terms() int { return len(c.df) / c.classes }

// DF returns on how many pages a term occurs.
func (c *Counts) DF(term int32) (n int32) {
	for _, d := range c.row(term) {
		n += d
	}
	return n
}

// ClassDF returns on how many pages of a class a term occurs.
func (c *Counts) ClassDF(term int32, class int) int32 { return c.row(term)[class] }

func (c *Counts) row(term int32) []int32 {
	at := int(term) * c.classes
	return c.df[at : at+c.classes]
}

// Weight returns how well a term represents a class: the mean over the class's n pages of the term's
// weight on each (paper A eq. 2),
//
//	W(i,j) = TF(i,j) / max_k TF(k,j) · DF(i) / n
//
// TF counts the term on page j, k runs over all terms of that page, and DF counts the pages of the
// class that have the term. In [0,1]; 0 for a class without pages. It is the mean, not the sum, so that
// classes of any size compare.
func (c *Counts) Weight(term int32, class int) float64 {
	n := float64(c.pages[class])
	if n == 0 {
		return 0
	}
	at := int(term)*c.classes + class
	return float64(c.tf[at]) / n * float64(c.df[at]) / n
}

// share returns on what share of a class's pages a word that occurs once per page would weigh as much as the
// term: the root of the term's weight over the mean of 1 / max_k TF(k,j). It does not depend on the length
// of pages or on how frequent their commonest words are.
func (c *Counts) share(term int32, class int) float64 {
	w := c.Weight(term, class)
	if w == 0 {
		return 0
	}
	return math.Sqrt(w * float64(c.pages[class]) / c.once[class])
}

// leastShare is the share from which on a term represents a class: the highest one tried that costs no
// accuracy in cross-validation (docs/classifiers.md).
const leastShare = 0.05

// Represents reports whether a term represents a class: the first of paper A's two steps to choose words.
func (c *Counts) Represents(term int32, class int) bool { return c.share(term, class) >= leastShare }

// entropy returns E(S) = − Σ p_c ln p_c in nats (paper A eq. 3) of a set with counts[c] members of
// class c; 0 for an empty one.
func entropy(counts []int32) float64 {
	var n, sum float64
	for _, k := range counts {
		if k > 0 {
			n += float64(k)
			sum += float64(k) * math.Log(float64(k))
		}
	}
	if n == 0 {
		return 0
	}
	return max(0, math.Log(n)-sum/n)
}

// gain returns the information gain in nats (paper A eq. 4) of whether a term is on a page:
//
//	Gain(a) = E(S) − Σ_v |S_{a=v}|/|S| · E(S_{a=v})
func (c *Counts) gain(term int32) float64 {
	with := c.row(term)
	without := make([]int32, c.classes)
	for k, n := range with {
		without[k] = c.pages[k] - n
	}
	nWith, nWithout := sum(with), sum(without)
	if n := nWith + nWithout; n > 0 {
		return max(0, entropy(c.pages)-nWith/n*entropy(with)-nWithout/n*entropy(without))
	}
	return 0
}

// LogOdds returns how strongly a term separates a class from the rest: the largest of the classes' absolute
// log odds ratios,
//
//	max_c |ln( p (1 − q) / (q (1 − p)) )|,  p = (DF_c + 1) / (n_c + 2),
//	q = (DF − DF_c + r) / (n − n_c + 2r),  r = (n − n_c) / n_c
//
// where r adds as large a share to the rest as 1 does to the class, so that a term on no page gets 0. In
// nats; 0 for a class without pages, or with all.
func (c *Counts) LogOdds(term int32) float64 {
	row := c.row(term)
	df, all, most := sum(row), sum(c.pages), 0.0
	for k, n := range row {
		own := float64(c.pages[k])
		rest := all - own
		if own == 0 || rest == 0 {
			continue
		}
		r := rest / own
		p, q := (float64(n)+1)/(own+2), (df-float64(n)+r)/(rest+2*r)
		most = max(most, math.Abs(math.Log(p*(1-q)/(q*(1-p)))))
	}
	return most
}

func sum(counts []int32) (n float64) {
	for _, k := range counts {
		n += float64(k)
	}
	return n
}

// Ranked is a term with its value by the measure that ranks it.
type Ranked struct {
	Term int32
	Gain float64
}

// Select returns the terms of H_μ = { a : Gain(a) ≥ μ } (paper A eq. 5) from a ranking, at most words of
// them unless words is 0.
func Select(ranking []Ranked, mu float64, words int) []int32 {
	var terms []int32
	for _, r := range ranking {
		if r.Gain < mu || words > 0 && len(terms) == words {
			break
		}
		terms = append(terms, r.Term)
	}
	return terms
}

// ClassGain returns the information gain of a term for one class against the rest, in nats. It is negative
// if the term is rarer on the class's pages than elsewhere.
func (c *Counts) ClassGain(term int32, class int) float64 {
	pages, df := float64(c.pages[class]), float64(c.ClassDF(term, class))
	all := sum(c.pages)
	rest, dfRest := all-pages, float64(c.DF(term))-df
	two := func(a, b float64) float64 { return entropy([]int32{int32(a), int32(b)}) }
	with := df + dfRest
	gain := two(pages, rest) - with/all*two(df, dfRest) - (all-with)/all*two(pages-df, rest-dfRest)
	if df*rest < dfRest*pages {
		return -max(0, gain)
	}
	return max(0, gain)
}

// Measure says how well a term's presence separates classes. One Counts serves all measures.
type Measure string

const (
	ByTFDFGain Measure = "tfdf+gain" // two steps (paper A, section 3): gain, of words that represent a class
	ByGain     Measure = "gain"      // information gain (paper A eq. 4), in nats
)

// ParseMeasure returns the measure of a name; "" stays "", for the caller's default.
func ParseMeasure(name string) (Measure, error) {
	if name == "" {
		return "", nil
	}
	if m := Measure(name); m == ByTFDFGain || m == ByGain {
		return m, nil
	}
	return "", fmt.Errorf("no measure %q of words; choose %s or %s", name, ByTFDFGain, ByGain)
}

// of returns the measure of a term, 0 if it is on no page.
func (m Measure) of(c *Counts, term int32) float64 {
	if c.DF(term) == 0 || m == ByTFDFGain && c.best(term, c.share) < leastShare {
		return 0
	}
	return c.gain(term)
}

// best returns the largest value of f over the classes.
func (c *Counts) best(term int32, f func(term int32, class int) float64) float64 {
	top := math.Inf(-1)
	for class := range c.classes {
		if c.pages[class] > 0 {
			top = max(top, f(term, class))
		}
	}
	return top
}

// RankBy returns all terms that occur, by falling measure. ByTFDFGain breaks ties by how well terms represent
// a class, so that the next best follow if too few do; then lower numbers come first. Ranked.Gain holds the
// measure.
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
