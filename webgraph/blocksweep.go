package webgraph

import (
	"math"
	"sync"
)

// sweep goes through the core once, block by block. With o(j) what page j of block J
// has from elsewhere, personal share and outer links, and k(i) the share of page i that
// its links keep in J, pages of J hold in the end
//
//	Σ y(j) = Σ o(j) + Σ k(i)·y(i)
//
// So when a block's turn comes its pages are first scaled by
//
//	t = Σ o(j) / Σ (1 − k(j))·y(j)
//
// that is, J gets the rank that the block graph gives it, by what the other blocks hold
// and give by now and with the ranks within J as they are by now: a step of BlockRank's
// rank of the blocks. Then its pages are swept through by their inner links: a step of
// its ranks within blocks. Sweeps alone even out what is wrong near a page, and take
// long for what is wrong between hosts.
//
// left is at least the L1 norm of what the equations then miss, held the sum of y.
// Without scaling left falls by d a sweep at least; with it that is what is seen, not a
// law, so scaling ends for good where left is more than that would make of four times
// what the first sweep left (the second may leave more than the first).
func (c *blockCore) sweep(d float64) (left, held float64) {
	parts := len(c.parts) - 1
	for p := 0; p < parts; p += atOnce {
		to := min(parts, p+atOnce)
		c.each(p, to)
		from, end := c.first[c.parts[p]], c.first[c.parts[to]]
		copy(c.share[c.n+int(from):], c.share[from:end])
	}
	for p := range parts {
		left, held = left+c.left[p], held+c.held[p]
	}
	if c.swept++; c.swept == 1 {
		c.most = 4 * left
	}
	if c.most *= d; left > c.most {
		c.scaling = false
	}
	return left, held
}

// each sweeps through parts at the same time, by several workers.
func (c *blockCore) each(from, to int) {
	if c.work == 1 || to == from+1 {
		for p := from; p < to; p++ {
			c.part(p)
		}
		return
	}
	var workers sync.WaitGroup
	for w := range min(c.work, to-from) {
		workers.Go(func() {
			for p := from + w; p < to; p += c.work {
				c.part(p)
			}
		})
	}
	workers.Wait()
}

// part sweeps through one part.
func (c *blockCore) part(p int) {
	var have []float64 // by page of a block: what it has from elsewhere
	left, held := 0.0, 0.0
	for b := c.parts[p]; b < c.parts[p+1]; b++ {
		from, to := c.first[b], c.first[b+1]
		have = append(have[:0], c.base[from:to]...)
		c.elsewhere(b, have)
		all, was := 0.0, 1.0
		for _, x := range have {
			all += x
		}
		if t := all / (c.holds[b] - c.keeps[b]); c.scaling && t > 1e-99 && t < 1e99 {
			was = 1 / t
			for i := range c.share[from:to] {
				c.share[int(from)+i] *= t
			}
		}
		left += c.within(b, have, was)
		held += c.holds[b]
	}
	c.left[p], c.held[p] = left, held
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

// within sweeps through the inner links of a block, and returns its part of left. was
// times a share is what it was before it was scaled.
func (c *blockCore) within(b int, have []float64, was float64) (left float64) {
	holds, keeps, at := 0.0, 0.0, c.start[b].inner
	from, to := c.first[b], c.first[b+1]
	share := c.share[from:to]
	for i, node := range c.node[from:to] {
		sum, end := have[i], at+int64(node.inner)
		for _, j := range c.to[at:end] {
			sum += c.share[j]
		}
		at = end
		old, now := share[i], sum*node.give
		left += math.Abs(now-old)*float64(node.late) + math.Abs(now-old*was)*float64(node.back)
		holds += sum
		keeps += now * float64(node.stay)
		share[i] = now
	}
	c.holds[b], c.keeps[b] = holds, keeps
	return left
}
