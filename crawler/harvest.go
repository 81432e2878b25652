package crawler

import (
	"fmt"
	"math"
)

// Marginal is an estimate of the harvest of a crawl's next pages from its last ones. A
// best-first crawl spends its good links first, so the next pages are seldom better than the
// last.
type Marginal struct {
	Pages   int     // number of last pages behind the estimate; 0 at the start
	Harvest float64 // their share of relevant pages, in [0,1]
	Upper   float64 // upper bound of the one-sided 99 % confidence interval
}

const (
	marginalMost   = 1000 // pages in the window
	marginalLeast  = 200  // pages before the first estimate counts
	marginalBlocks = 10   // blocks in the window
)

// window returns how many of n pages the estimate goes by: half of a small crawl, so that a
// good start does not count for ever.
func window(n int) int {
	w := min(marginalMost, max(marginalLeast, n/2), n)
	return w - w%marginalBlocks
}

// Watch records which of the last pages were relevant. It belongs to one goroutine.
type Watch struct {
	ring  [marginalMost]bool
	n     int     // pages so far
	least float64 // least harvest of the next pages; 0 for any
	poor  bool    // the harvest has fallen below least
}

// NewWatch returns a watch of a crawl that ends when the harvest of its next pages is surely
// below least; 0 for never.
func NewWatch(least float64) Watch { return Watch{least: least} }

func (m *Watch) add(relevant bool) {
	m.ring[m.n%marginalMost] = relevant
	m.n++
}

// Estimate returns the expected harvest of the next pages. Pages come in runs, so they tell
// less than independent draws. Hence the bound is the larger of two: Wilson's interval for
// independent draws, and batch means (Law & Kelton, Simulation Modeling and Analysis, 9.5.3),
// which is the mean of ten blocks plus Student's t times its standard error. O(window).
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
	mean := hits / marginalBlocks // relevant pages per block
	variance := max(0, squares-hits*mean) / (marginalBlocks - 1)
	return Marginal{
		Pages: w, Harvest: hits / float64(w),
		Upper: min(1, max(wilsonUpper(hits/float64(w), float64(w)), (mean+studentT*math.Sqrt(variance/marginalBlocks))/float64(size))),
	}
}

// Of estimates the harvest of a crawl's next pages from the relevance of its pages, in their
// order.
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

// tooPoor reports whether the harvest of the next pages is surely too low.
func (m *Watch) tooPoor() bool {
	return m.least > 0 && m.n >= marginalLeast && m.Estimate().Upper < m.least
}

// blockEnds reports whether a block is complete. Testing after every page would multiply the
// chance of a false alarm.
func (m *Watch) blockEnds() bool {
	size := window(m.n) / marginalBlocks
	return size > 0 && m.n%size == 0
}

// Count records a page.
func (m *Watch) Count(relevant bool) {
	m.add(relevant)
	m.weigh()
}

// weigh tests the harvest at the end of a block.
func (m *Watch) weigh() { m.poor = m.poor || m.blockEnds() && m.tooPoor() }

// Poor reports whether the crawl should end for its harvest. Once true, it stays true.
func (m *Watch) Poor() bool { return m.poor }

// restore reads the relevance of the last of so many pages, and repeats the tests at the ends
// of the last blocks. So a crawl that ended for its harvest ends at once, and any other goes
// on as if it had not been interrupted.
func (m *Watch) restore(pages int, relevant func(number uint64) (bool, error)) error {
	const looks = marginalMost / marginalBlocks
	m.n = max(0, pages-marginalMost-looks)
	for n := m.n + 1; n <= pages; n++ {
		is, err := relevant(uint64(n))
		if err != nil {
			return fmt.Errorf("page %d: %w", n, err)
		}
		m.add(is)
		if n > pages-looks {
			m.weigh()
		}
	}
	return nil
}
