package features

import (
	"math"
)

// Counts has what feature selection needs of a labelled set: on how many pages
// of each class a term occurs. Pages are added one by one and forgotten; memory is
// terms times classes.
type Counts struct {
	classes int
	pages   []int32 // by class
	df      []int32 // term·classes + class: pages of the class with the term
}

// NewCounts returns empty counts for a number of classes.
func NewCounts(classes int) *Counts {
	return &Counts{classes: classes, pages: make([]int32, classes)}
}

// Add counts a page of a class, given how often terms occur on it (see
// Extractor.Count).
func (c *Counts) Add(class int, tf Vector) {
	c.pages[class]++
	if len(tf.Index) == 0 {
		return
	}
	if need := (int(tf.Index[len(tf.Index)-1]) + 1) * c.classes; need > len(c.df) {
		c.df = append(c.df, make([]int32, need-len(c.df))...)
	}
	for _, i := range tf.Index {
		c.df[int(i)*c.classes+class]++
	}
}

// Pages returns the number of pages of a class.
func (c *Counts) Pages(class int) int { return int(c.pages[class]) }

// Terms returns the number of terms.
func (c *Counts) Terms() int { return len(c.df) / c.classes }

// DF returns on how many pages of all classes a term occurs.
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

// entropy returns E(S) = − Σ p_c ln p_c in nats (paper A eq. 3) of a set with
// counts[c] members of class c; 0 for an empty one.
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

// Gain returns the information gain of a term in nats (paper A eq. 4), the term
// being present on a page or not:
//
//	Gain(a) = E(S) − Σ_v |S_{a=v}|/|S| · E(S_{a=v})
func (c *Counts) Gain(term int32) float64 {
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

// LogOdds returns how strongly a term tells one class from the rest: the largest
// of the classes' absolute log odds ratios,
//
//	max_c |ln( p (1 − q) / (q (1 − p)) )|,  p = (DF_c + 1) / (n_c + 2),
//	q = (DF − DF_c + r) / (n − n_c + 2r),  r = (n − n_c) / n_c
//
// where r adds as large a share to the rest as 1 does to the class: a term of
// neither is worth nothing. In nats; 0 for a class without pages, or with all.
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

// Ranked is a term with what it gains, in the unit of the measure it is ranked by.
type Ranked struct {
	Term int32
	Gain float64
}

// Rank returns all terms that occur, by falling gain; equal ones by rising number.
func (c *Counts) Rank() []Ranked { return c.RankBy(ByGain) }

// Select returns the terms of H_μ = { a : Gain(a) ≥ μ } (paper A eq. 5) from a
// ranking; when words is not 0, at most that many.
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

// ClassGain returns the information gain of a term for one class against the rest, in
// nats. It is negative when the term is rarer on the class's pages than elsewhere.
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
