package webgraph

import "math"

// aggregation scales the blocks of a component between sweeps: sweeps even out what
// is wrong within blocks and near them, and take long for what is wrong between far
// blocks. With Y(J) what block J holds, F(I,J) what I gives to J and b(J) what J has
// from elsewhere, the factors t solve
//
//	t(J)·Y(J) = b(J) + Σ_I t(I)·F(I,J)
//
// after which each block as a whole has what its equations say. This is BlockRank's
// block graph with the ranks within blocks as they are by now (iterative aggregation
// and disaggregation: Koury, McAllister and Stewart, SIAM Journal on Algebraic and
// Discrete Methods 5, 1984).
type aggregation struct {
	groups *Components
	of     []uint32 // group of each node
	edge   []uint32 // which edge of blocks each edge is of
	start  []uint32 // first edge that leads to each block
	from   []uint32
	flow   []float64 // F of each edge, but 0 from a block to itself
	base   []float64 // b
	own    []float64 // Y(J) − F(J,J)
	scale  []float64 // t
}

// aggregateEvery is how many sweeps are made between two aggregations, chosen on synthetic
// webs: of 1 to 5, visits were the fewest with 3 to 5.
const aggregateEvery = 4

// aggregation lays out the block graph of a component.
func (c *component) aggregation(block []uint32) (*aggregation, error) {
	groups, err := groupsOf(block)
	if err != nil {
		return nil, err
	}
	k := groups.Len()
	a := &aggregation{groups: groups, of: make([]uint32, c.n), edge: make([]uint32, len(c.to)), start: make([]uint32, 1, k+1)}
	for j := range k {
		for _, i := range groups.Node[groups.First[j]:groups.First[j+1]] {
			a.of[i] = uint32(j)
		}
	}
	at, last := make([]uint32, k), make([]uint32, k) // edge from a block, to the block last+1
	for j := range k {
		for _, i := range groups.Node[groups.First[j]:groups.First[j+1]] {
			for e := c.start[i]; e < c.start[i+1]; e++ {
				b := a.of[c.source(e)]
				if last[b] != uint32(j)+1 {
					last[b], at[b] = uint32(j)+1, uint32(len(a.from))
					a.from = append(a.from, b)
				}
				a.edge[e] = at[b]
			}
		}
		a.start = append(a.start, uint32(len(a.from)))
	}
	a.flow, a.base, a.own, a.scale = make([]float64, len(a.from)), make([]float64, k), make([]float64, k), make([]float64, k)
	return a, nil
}

// source is where an edge comes from.
func (c *component) source(e int64) uint32 {
	j := c.to[e]
	if int(j) >= c.n {
		j -= uint32(c.n)
	}
	return j
}

// aggregate scales the blocks. left is what the equations missed before; solving
// for the factors much more exactly than that would be in vain. It returns how
// many edges it visited.
func (c *component) aggregate(a *aggregation, left float64) int64 {
	_, _ = blocks(a.groups.Len(), c.work, func(from, to int) (float64, error) { // gives no error
		for j := from; j < to; j++ {
			c.flows(a, j)
		}
		return 0, nil
	})
	visits := int64(len(c.to))
	for j := range a.scale {
		a.scale[j] = 1
	}
	for range 100 {
		change := 0.0
		for j, base := range a.base {
			sum := base
			for e := a.start[j]; e < a.start[j+1]; e++ {
				sum += a.scale[a.from[e]] * a.flow[e]
			}
			if own := a.own[j]; own > 0 {
				change += math.Abs(sum - a.scale[j]*own)
				a.scale[j] = sum / own
			}
		}
		if visits += int64(len(a.from)); change <= left/50 {
			break
		}
	}
	for i := range c.y {
		t := a.scale[a.of[i]]
		c.y[i] *= t
		c.share[i] *= t
	}
	if len(c.parts) > 2 {
		copy(c.share[c.n:], c.share[:c.n])
	}
	return visits
}

// flows adds up what leads to block j.
func (c *component) flows(a *aggregation, j int) {
	clear(a.flow[a.start[j]:a.start[j+1]])
	a.base[j], a.own[j] = 0, 0
	for _, i := range a.groups.Node[a.groups.First[j]:a.groups.First[j+1]] {
		a.base[j] += c.base[i]
		a.own[j] += c.y[i]
		for e := c.start[i]; e < c.start[i+1]; e++ {
			a.flow[a.edge[e]] += c.share[c.source(e)]
		}
	}
	for e := a.start[j]; e < a.start[j+1]; e++ {
		if int(a.from[e]) == j {
			a.own[j] -= a.flow[e]
			a.flow[e] = 0
		}
	}
}
