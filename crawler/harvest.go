package crawler

import (
	"fmt"
	"math"
)

// Marginal is the harvest that a crawl may expect of its next pages, estimated
// from its last ones. A best-first crawl spends its good links first, so the next
// pages are seldom better than the last.
type Marginal struct {
	Pages   int     // the last ones that it goes by; 0 at the start
	Harvest float64 // their share of relevant pages, in [0,1]
	Upper   float64 // upper end of the one-sided 99 % confidence interval of what is behind it
}

const (
	marginalMost   = 1000 // pages to go by
	marginalLeast  = 200  // before that nothing is said about the next pages
	marginalBlocks = 10   // of pages that go by
)

// window returns how many of the last pages the estimate goes by after n pages.
// It is half of a small crawl, so that what was good at its start does not
// count for ever.
func window(n int) int {
	w := min(marginalMost, max(marginalLeast, n/2), n)
	return w - w%marginalBlocks
}

// Watch keeps which of the last pages were relevant. It belongs to one goroutine.
type Watch struct {
	ring  [marginalMost]bool
	n     int     // pages so far
	least float64 // harvest that the next pages must have; 0 for any
	poor  bool    // once they were worth too little
}

// NewWatch returns a watch over a crawl that is to end when its next pages are surely worth
// less than a harvest; 0 for never.
func NewWatch(least float64) Watch { return Watch{least: least} }

func (m *Watch) add(relevant bool) {
	m.ring[m.n%marginalMost] = relevant
	m.n++
}

// Estimate returns what is to be expected of the next pages. Pages come in
// runs, a good site and then a bad one, so they tell less than as many
// independent draws. Hence the bound is the larger of two. One is that of
// Wilson's interval for independent draws. The other is that of batch means
// (Law & Kelton, Simulation Modeling and Analysis, 9.5.3). It is the mean of
// ten blocks and Student's t times its standard error, which runs longer than a
// draw widen. O(window).
func (m *Watch) Estimate() Marginal {
	w := window(m.n)
	if w == 0 {
		return Marginal{}
	}
	size := w / marginalBlocks
	hits, squares := 0.0, 0.0
	for b := range marginalBlocks {
		in := 0.0
		for i := range size {
			if m.ring[(m.n-1-b*size-i)%marginalMost] {
				in++
			}
		}
		hits += in
		squares += in * in
	}
	mean := hits / marginalBlocks // relevant pages a block
	variance := max(0, squares-hits*mean) / (marginalBlocks - 1)
	return Marginal{
		Pages: w, Harvest: hits / float64(w),
		Upper: min(1, max(wilsonUpper(hits/float64(w), float64(w)), (mean+studentT*math.Sqrt(variance/marginalBlocks))/float64(size))),
	}
}

// Of estimates what the next pages of a crawl are worth, from which of
// its pages were relevant, in their order.
func Of(relevant []bool) Marginal {
	var m Watch
	for _, r := range relevant {
		m.add(r)
	}
	return m.Estimate()
}

const (
	normalZ  = 2.3263 // one-sided 99 % quantile of the normal distribution
	studentT = 2.8214 // and of Student's t with marginalBlocks − 1 degrees of freedom
)

// wilsonUpper is the upper end of Wilson's score interval for a share p of n draws.
func wilsonUpper(p, n float64) float64 {
	z2 := normalZ * normalZ
	return (p + z2/(2*n) + normalZ*math.Sqrt(p*(1-p)/n+z2/(4*n*n))) / (1 + z2/n)
}

// tooPoor says whether the next pages are, beyond doubt, worth too little.
func (m *Watch) tooPoor() bool {
	return m.least > 0 && m.n >= marginalLeast && m.Estimate().Upper < m.least
}

// blockEnds says whether it is time to ask tooPoor: once a block, not at each
// page, for a question asked a thousand times gets a wrong answer once.
func (m *Watch) blockEnds() bool {
	size := window(m.n) / marginalBlocks
	return size > 0 && m.n%size == 0
}

// Count takes note of a page.
func (m *Watch) Count(relevant bool) {
	m.add(relevant)
	m.weigh()
}

// weigh asks whether the next pages are worth too little.
func (m *Watch) weigh() { m.poor = m.poor || m.blockEnds() && m.tooPoor() }

// Poor says whether the next pages are worth too little: the crawl is to end. It says so
// once and for all.
func (m *Watch) Poor() bool { return m.poor }

// restore asks which of the last of so many pages were relevant, by their numbers. It looks
// again where the last session did, at the ends of the last blocks. So a crawl that ended for
// its harvest ends at once, and any other goes on as if it had not been interrupted.
func (m *Watch) restore(pages int, relevant func(number uint64) (bool, error)) error {
	const looks = marginalMost / marginalBlocks
	m.n = max(0, pages-marginalMost-looks)
	for n := m.n + 1; n <= pages; n++ {
		is, err := relevant(uint64(n))
		if err != nil {
			return fmt.Errorf("page %d of the last ones: %w", n, err)
		}
		m.add(is)
		if n > pages-looks {
			m.weigh()
		}
	}
	return nil
}
