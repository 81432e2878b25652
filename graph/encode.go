package graph

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
	plan  plan       // of the list that is coded
	lens  *codeLens
}

// plan is one way to code a list.
type plan struct {
	ref       int // 0 for none
	blocks    []int
	intervals []interval
	rest      []uint32
}

type interval struct {
	start uint32
	n     int
}

func newEncoder(p params) *encoder {
	return &encoder{params: p, ring: make([][]uint32, p.window+1), depth: make([]int, p.window+1), lens: newCodeLens(p.zeta)}
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
	best, bits := 0, e.cost(v, 0, nil, list, 0)
	for r := 1; r <= e.window && r <= int(v); r++ {
		from := (int(v) - r) % len(e.ring)
		if len(e.ring[from]) == 0 || e.depth[from] >= e.chain {
			continue
		}
		if n := e.cost(v, r, e.ring[from], list, bits); n < bits {
			best, bits = r, n
		}
	}
	var ref []uint32
	if best > 0 {
		from := (int(v) - best) % len(e.ring)
		e.depth[slot], ref = e.depth[from]+1, e.ring[from]
	}
	e.plan.make(best, ref, list)
	e.write(v, &e.plan)
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

// make plans to code a list with the reference v−r.
func (p *plan) make(r int, ref, list []uint32) {
	p.ref = r
	p.blocks, p.intervals, p.rest = p.blocks[:0], p.intervals[:0], p.rest[:0]
	if r > 0 {
		p.copyBlocks(ref, list)
	} else {
		p.rest = append(p.rest, list...)
	}
	p.takeIntervals()
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
