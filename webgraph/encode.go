package webgraph

// Parameters of the code of successors. Larger windows and longer chains gain
// little and cost time (Boldi & Vigna 2004, table 2); 3 is their ζ too.
const (
	defaultWindow = 7 // nodes before, whose lists may be copied from
	defaultChain  = 3 // references in a row, hence lists decoded for one
	defaultZeta   = 3
	minInterval   = 4 // consecutive successors that make an interval
)

// params stand in a file's header.
type params struct{ window, chain, zeta int }

// encoder codes the successors of one node after the other. A node v with
// d successors s₁ < … < s_d is:
//
//	γ(d); the rest only when d > 0
//	unary(r)   v−r is the reference, 0 for none; only when the window is not 0
//	when r > 0: γ(number of blocks), then blocks of the reference's list, copied
//	           and left out in turns, the first copied: γ(length) for the first,
//	           γ(length−1) for others. One more block, of which nothing is said,
//	           goes to the list's end.
//	of successors that were not copied, when there are any:
//	γ(number of intervals); for each γ(folded start−v), later γ(start−end before−1),
//	           and γ(length−minInterval)
//	ζ(folded s−v) for the first that is left, ζ(gap−1) for others
type encoder struct {
	params
	w     bitWriter
	ring  [][]uint32 // the lists of the window: node v's at v % len
	depth []int      // references in a row from there
	plans [2]plan    // the best so far, and the one that is tried
}

// plan is one way to code a list.
type plan struct {
	ref       int // 0 for none
	bits      int
	blocks    []int
	intervals []interval
	rest      []uint32
}

type interval struct {
	start uint32
	n     int
}

func newEncoder(p params) *encoder {
	return &encoder{params: p, ring: make([][]uint32, p.window+1), depth: make([]int, p.window+1)}
}

// add codes the successors of node v, sorted and without repetition.
func (e *encoder) add(v uint32, list []uint32) {
	slot := int(v) % len(e.ring)
	e.ring[slot] = append(e.ring[slot][:0], list...)
	e.depth[slot] = 0
	e.w.gamma(uint64(len(list)))
	if len(list) == 0 {
		return
	}
	best, try := &e.plans[0], &e.plans[1]
	best.make(e.params, v, 0, nil, list)
	for r := 1; r <= e.window && r <= int(v); r++ {
		from := (int(v) - r) % len(e.ring)
		if len(e.ring[from]) == 0 || e.depth[from] >= e.chain {
			continue
		}
		try.make(e.params, v, r, e.ring[from], list)
		if try.bits < best.bits {
			best, try = try, best
		}
	}
	if best.ref > 0 {
		e.depth[slot] = e.depth[(int(v)-best.ref)%len(e.ring)] + 1
	}
	e.write(v, best)
}

func (e *encoder) write(v uint32, p *plan) {
	if e.window > 0 {
		e.w.unary(p.ref)
	}
	if p.ref > 0 {
		e.w.gamma(uint64(len(p.blocks)))
		for i, n := range p.blocks {
			if i > 0 {
				n--
			}
			e.w.gamma(uint64(n))
		}
	}
	if len(p.intervals) == 0 && len(p.rest) == 0 {
		return
	}
	e.w.gamma(uint64(len(p.intervals)))
	before := int64(v)
	for i, in := range p.intervals {
		if i == 0 {
			e.w.gamma(fold(int64(in.start) - before))
		} else {
			e.w.gamma(uint64(int64(in.start) - before - 1))
		}
		e.w.gamma(uint64(in.n - minInterval))
		before = int64(in.start) + int64(in.n)
	}
	for i, s := range p.rest {
		if i == 0 {
			e.w.zeta(fold(int64(s)-int64(v)), e.zeta)
		} else {
			e.w.zeta(uint64(s-p.rest[i-1]-1), e.zeta)
		}
	}
}

// make plans to code a list with the reference v−r, and counts the bits after the
// number of successors.
func (p *plan) make(par params, v uint32, r int, ref, list []uint32) {
	p.ref, p.bits = r, 0
	p.blocks, p.intervals, p.rest = p.blocks[:0], p.intervals[:0], p.rest[:0]
	if par.window > 0 {
		p.bits = r + 1
	}
	if r > 0 {
		p.copyBlocks(ref, list)
		p.bits += gammaLen(uint64(len(p.blocks)))
		for i, n := range p.blocks {
			if i > 0 {
				n--
			}
			p.bits += gammaLen(uint64(n))
		}
	} else {
		p.rest = append(p.rest, list...)
	}
	if len(p.rest) == 0 {
		return
	}
	p.takeIntervals()
	p.count(par, v)
}

// copyBlocks finds the blocks that list shares with ref; rest gets what it does
// not.
func (p *plan) copyBlocks(ref, list []uint32) {
	copying, n := true, 0
	j := 0
	for _, s := range ref {
		for j < len(list) && list[j] < s {
			p.rest = append(p.rest, list[j])
			j++
		}
		same := j < len(list) && list[j] == s
		if same {
			j++
		}
		if same != copying {
			p.blocks = append(p.blocks, n)
			copying, n = same, 0
		}
		n++
	}
	p.rest = append(p.rest, list[j:]...)
	// The last block needs no length: it goes to the end of ref.
}

// takeIntervals moves runs of consecutive numbers out of rest.
func (p *plan) takeIntervals() {
	left := p.rest[:0]
	for i := 0; i < len(p.rest); {
		j := i + 1
		for j < len(p.rest) && p.rest[j] == p.rest[j-1]+1 {
			j++
		}
		if j-i >= minInterval {
			p.intervals = append(p.intervals, interval{p.rest[i], j - i})
		} else {
			left = append(left, p.rest[i:j]...)
		}
		i = j
	}
	p.rest = left
}

func (p *plan) count(par params, v uint32) {
	p.bits += gammaLen(uint64(len(p.intervals)))
	before := int64(v)
	for i, in := range p.intervals {
		if i == 0 {
			p.bits += gammaLen(fold(int64(in.start) - before))
		} else {
			p.bits += gammaLen(uint64(int64(in.start) - before - 1))
		}
		p.bits += gammaLen(uint64(in.n - minInterval))
		before = int64(in.start) + int64(in.n)
	}
	for i, s := range p.rest {
		if i == 0 {
			p.bits += zetaLen(fold(int64(s)-int64(v)), par.zeta)
		} else {
			p.bits += zetaLen(uint64(s-p.rest[i-1]-1), par.zeta)
		}
	}
}
