package rank

import (
	"math"
	"sync"
)

// swept is what a sweep came to.
type swept struct {
	left   float64 // at least the L1 norm of what the equations miss after it
	held   float64 // the sum of y
	visits int64   // of edges
}

// sweep goes through the core once, block by block. Let o(j) be what page j of
// block J has from elsewhere: personal share and outer links. Let k(i) be the
// share of page i that its links keep in J. Then J's pages hold in the end
//
//	Σ y(j) = Σ o(j) + Σ k(i)·y(i)
//
// So when a block's turn comes its pages are first scaled by
//
//	t = Σ o(j) / Σ (1 − k(j))·y(j)
//
// that is, J gets the rank that the block graph gives it. It counts what the
// other blocks hold and give by now, with the ranks within J as they are by
// now. This is a step of BlockRank's rank of the blocks. It is iterative
// aggregation and disaggregation (Koury, McAllister and Stewart, SIAM Journal
// on Algebraic and Discrete Methods 5, 1984), but block by block. Then its
// pages are swept through by their inner links, a step of its ranks within
// blocks. That is done once, or twice where these still miss more than the core
// does on average. Sweeps alone even out what is wrong near a page, and take
// long for what is wrong between hosts. Before all, the core as a whole is
// scaled likewise.
//
// d is the damping. Without scaling left falls by d a sweep at least; with it
// that is what is seen, not a law. So scaling ends for good where left is more
// than that would make of four times what the first sweep left. The second may
// leave more than the first.
func (c *blockCore) sweep(d float64) swept {
	c.whole()
	parts := len(c.parts) - 1
	for p := 0; p < parts; p += atOnce {
		to := min(parts, p+atOnce)
		c.each(p, to)
		from, end := c.first[c.parts[p]], c.first[c.parts[to]]
		copy(c.share[c.n+int(from):], c.share[from:end])
	}
	all := swept{visits: c.links}
	for _, p := range c.sums {
		all.left, all.held, all.visits = all.left+p.left, all.held+p.held, all.visits+p.visits
	}
	if c.most *= d; math.IsInf(c.mean, 1) {
		c.most = 4 * all.left
	}
	if all.left > c.most {
		c.scaling = false
	}
	c.mean = all.left / all.held
	return all
}

// whole scales all pages so that the core holds what it should, as a whole, if that
// matters against what the sweep before left.
func (c *blockCore) whole() {
	held, lost := 0.0, 0.0 // lost is held and not led back to the core
	for _, b := range c.block {
		held += b.holds
		lost += b.holds - b.keeps - b.gives
	}
	t := c.anew / lost
	if math.Abs(c.anew-lost) < c.mean*held/10 || !c.may(t) {
		return
	}
	for i := range c.share {
		c.share[i] *= t
	}
	for i := range c.block {
		c.block[i].holds *= t
		c.block[i].keeps *= t
	}
}

// may says whether pages may be scaled by t; it is no number where surfers never came.
func (c *blockCore) may(t float64) bool { return c.scaling && t > 1e-99 && t < 1e99 }

// each sweeps through parts at the same time, by several workers.
func (c *blockCore) each(from, to int) {
	var workers sync.WaitGroup
	count := min(c.work, to-from)
	for w := range count {
		workers.Go(func() {
			for p := from + w; p < to; p += count {
				c.sums[p] = c.part(p)
			}
		})
	}
	workers.Wait()
}

// part sweeps through one part. Of visits it counts those beyond one a link.
func (c *blockCore) part(p int) (all swept) {
	var have []float64 // by page of a block: what it has from elsewhere
	for b := c.parts[p]; b < c.parts[p+1]; b++ {
		have = append(have[:0], c.base[c.first[b]:c.first[b+1]]...)
		c.elsewhere(b, have)
		late, back := c.within(b, have, c.scaled(b, have))
		all.left += back
		if late > c.mean*c.block[b].holds {
			late, back = c.within(b, have, 1)
			all.left += back
			all.visits += c.start[b+1].inner - c.start[b].inner
		}
		all.left += late
		all.held += c.block[b].holds
	}
	return all
}

// elsewhere adds what the outer links of a block bring to what its pages have.
func (c *blockCore) elsewhere(b int, have []float64) {
	first, end := c.first[b], c.start[b].outer
	for _, row := range c.rows[c.start[b].row:c.start[b+1].row] {
		sum, at := have[row.node-first], end-int64(row.links)
		for _, j := range c.to[at:end] {
			sum += c.share[j]
		}
		have[row.node-first], end = sum, at
	}
}

// scaled scales a block, and returns by what its pages would have to be multiplied to
// be what they were.
func (c *blockCore) scaled(b int, have []float64) float64 {
	all := 0.0
	for _, x := range have {
		all += x
	}
	t := all / (c.block[b].holds - c.block[b].keeps)
	if !c.may(t) {
		return 1
	}
	share := c.share[c.first[b]:c.first[b+1]]
	for i := range share {
		share[i] *= t
	}
	return 1 / t
}

// within sweeps through the inner links of a block, and returns what pages that were
// swept before then miss, at most: those of the block, and others. was times a share is
// what it was before it was scaled.
func (c *blockCore) within(b int, have []float64, was float64) (late, back float64) {
	var sums blockSums
	at := c.start[b].inner
	from, to := c.first[b], c.first[b+1]
	share := c.share[from:to]
	for i, node := range c.node[from:to] {
		sum, end := have[i], at+int64(node.inner)
		for _, j := range c.to[at:end] {
			sum += c.share[j]
		}
		at = end
		old, now := share[i], sum*node.give
		late += math.Abs(now-old) * float64(node.late)
		back += math.Abs(now-old*was) * float64(node.back)
		sums.holds += sum
		sums.keeps += now * float64(node.stay)
		sums.gives += now * float64(node.out)
		share[i] = now
	}
	c.block[b] = sums
	return late, back
}
