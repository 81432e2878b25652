package train

import (
	"cmp"
	"math"
	"slices"

	"github.com/sjwhitworth/golearn/base"
)

// epsilon is C4.5's slack where gains are compared.
const epsilon = 1e-3

// split is a test "count of term ≤ threshold?"; term −1 is none.
type split struct {
	term        int
	threshold   float32
	gain, ratio float64 // in bits
}

// value is a count above 0 on one page.
type value struct {
	count float32
	class int
}

// split chooses the test for a node as C4.5 Release 8 does (Quinlan 1996). Each
// term's threshold is by gain, less log2(candidates)/|S| for the choice among
// them. Then, of the terms whose gain is at least average, it takes the one
// with the best ratio of gain to split information. Equals go to the lower
// term. It looks only at counts above 0, the rest of a column being known from
// the totals.
func (g *grower) split(pages []int) split {
	none := split{term: -1}
	total := make([]int, g.classes)
	for _, p := range pages {
		total[g.y[p]]++
	}
	if len(pages) < 2*g.least || slices.Max(total) == len(pages) {
		return none
	}
	var splits []split
	var sum float64
	for t, values := range g.columns(pages) {
		if len(values) == 0 {
			continue
		}
		if s := bestThreshold(values, total, len(pages), g.least); s.gain > 0 {
			s.term = t
			splits = append(splits, s)
			sum += s.gain
		}
	}
	top := none
	for _, s := range splits {
		if s.gain >= sum/float64(len(splits))-epsilon && s.ratio > top.ratio {
			top = s
		}
	}
	return top
}

// columns returns the counts above 0 on the pages, by term.
func (g *grower) columns(pages []int) [][]value {
	columns := make([][]value, g.terms)
	for _, p := range pages {
		for k, t := range g.rows[p].Index {
			columns[t] = append(columns[t], value{g.rows[p].Value[k], g.y[p]})
		}
	}
	return columns
}

// bestThreshold returns the best threshold of one term: values has its counts above
// 0, total the pages of each class, n their sum. Both sides have at least least pages.
// (C4.5 asks for a tenth of the mean class where a value is continuous, but a word that
// a page has or lacks is not.)
func bestThreshold(values []value, total []int, n, least int) split {
	slices.SortFunc(values, func(a, b value) int {
		return cmp.Or(cmp.Compare(a.count, b.count), cmp.Compare(a.class, b.class))
	})
	high := make([]int, len(total))
	for _, v := range values {
		high[v.class]++
	}
	low := make([]int, len(total))
	for c := range low {
		low[c] = total[c] - high[c]
	}
	whole := bits(total, n)
	best := split{gain: math.Inf(-1)}
	candidates, below := 0, float32(0)
	for i, nLow := 0, n-len(values); i < len(values); {
		if nHigh := n - nLow; nLow >= least && nHigh >= least {
			candidates++ // others are no choice, and cost nothing
			gain := whole - (float64(nLow)*bits(low, nLow)+float64(nHigh)*bits(high, nHigh))/float64(n)
			if gain > best.gain {
				best.gain, best.threshold = gain, below
				best.ratio = gain / bits([]int{nLow, nHigh}, n)
			}
		}
		for below = values[i].count; i < len(values) && values[i].count == below; i++ {
			low[values[i].class]++
			high[values[i].class]--
			nLow++
		}
	}
	if candidates > 1 {
		ratio := best.ratio / best.gain
		best.gain -= math.Log2(float64(candidates)) / float64(n)
		best.ratio = best.gain * ratio
	}
	return best
}

// bits returns the entropy of class counts with sum n, in bits.
func bits(counts []int, n int) float64 {
	var e float64
	for _, c := range counts {
		if c > 0 {
			p := float64(c) / float64(n)
			e -= p * math.Log2(p)
		}
	}
	return e
}

// quinlan chooses tests as C4.5 does.
type quinlan struct{ *grower }

func (quinlan) columns() []base.Attribute { return nil }

func (q quinlan) choose(_ *grid, _ base.FixedDataGrid, _, pages []int) split { return q.split(pages) }
