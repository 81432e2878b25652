package graph

import (
	"errors"
	"fmt"
	"math/bits"
)

// Parameters of the successor code. Larger windows and longer chains gain little and cost time (Boldi &
// Vigna 2004, table 2).
const (
	defaultWindow = 7 // preceding nodes whose lists may be referenced
	defaultChain  = 3 // maximum chain of references, and so of lists to decode
	defaultZeta   = 3
	minInterval   = 4 // consecutive successors that form an interval
)

// params are stored in the file header.
type params struct{ window, chain, zeta int }

// encoder codes the successors of consecutive nodes. A node v with d successors s₁ < … < s_d is:
//
//	γ(d); the rest only if d > 0
//	unary(r)   the reference is v−r, 0 for none; only if the window is not 0
//	if r > 0:  γ(number of blocks), then alternately copied and skipped blocks of the
//	           reference's list, copied first: γ(length) for the first,
//	           γ(length−1) for others. A final uncounted block goes to the list's end.
//	if successors remain that were not copied:
//	γ(number of intervals); for each γ(folded start−v), later γ(start−end before−1),
//	           and γ(length−minInterval)
//	ζ(folded s−v) for the first remaining successor, ζ(gap−1) for others
type encoder struct {
	params
	w     bitWriter
	ring  [][]uint32 // lists in the window: node v's at v % len
	depth []int      // length of their reference chains
	plan  plan       // best plan so far for the list
	other plan       // candidate plan
	lens  *codeLens
}

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

func (e *encoder) add(v uint32, list []uint32) {
	slot := int(v) % len(e.ring)
	e.ring[slot] = append(e.ring[slot][:0], list...)
	e.depth[slot] = 0
	e.w.gamma(uint64(len(list)))
	if len(list) == 0 {
		return
	}
	best, next := &e.plan, &e.other
	best.make(0, nil, list)
	bits := e.bits(v, best)
	for r := 1; r <= e.window && r <= int(v); r++ {
		from := (int(v) - r) % len(e.ring)
		ref := e.ring[from]
		if len(ref) == 0 || e.depth[from] >= e.chain || ref[0] > list[len(list)-1] || ref[len(ref)-1] < list[0] {
			continue // nothing to copy, or the chain is too long
		}
		next.make(r, ref, list)
		if n := e.bits(v, next); n < bits {
			best, next, bits = next, best, n
			e.depth[slot] = e.depth[from] + 1
		}
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

// copyBlocks splits list into blocks shared with ref, and the rest. The last block extends to the end of ref
// and has no length.
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
}

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

// codeLens has code lengths in bits, indexed by the bit length of x+1, which determines them.
type codeLens struct{ gamma, zeta [65]uint8 }

func newCodeLens(k int) *codeLens {
	c := &codeLens{}
	for n := 1; n <= 35; n++ { // maxCoded+1 has 35 bits
		x := uint64(1)<<(n-1) - 1
		c.gamma[n], c.zeta[n] = uint8(gammaLen(x)), uint8(zetaLen(x, k))
	}
	return c
}

func (c *codeLens) gammaOf(x uint64) int { return int(c.gamma[bits.Len64(x+1)&63]) }
func (c *codeLens) zetaOf(x uint64) int  { return int(c.zeta[bits.Len64(x+1)&63]) }

// errDamaged reports a graph file that no Writer produces.
var errDamaged = errors.New("damaged graph")

// decoder decodes the output of encoder and validates all of it.
type decoder struct {
	params
	nodes     uint64
	r         bitReader
	rest, mix []uint32
}

// head reads the number of successors of v and its reference, 0 for none.
func (d *decoder) head(v uint32) (n uint64, ref int, err error) {
	n = d.r.gamma()
	if n > d.nodes {
		return 0, 0, d.damage(v, "more successors than there are nodes")
	}
	if n > 0 && d.window > 0 {
		ref = d.r.unary()
		if ref > d.window || ref > int(v) {
			return 0, 0, d.damage(v, "a reference that is out of range")
		}
	}
	if d.r.bad {
		return 0, 0, d.damage(v, "a list that ends too early")
	}
	return n, ref, nil
}

// body decodes the rest and appends the successors to dst; refList is the referenced list.
func (d *decoder) body(dst []uint32, v uint32, n uint64, ref int, refList []uint32) ([]uint32, error) {
	first := len(dst)
	if n == 0 {
		return dst, nil
	}
	if ref > 0 {
		var err error
		if dst, err = d.copied(dst, v, refList); err != nil {
			return dst, err
		}
	}
	copied := uint64(len(dst) - first)
	if copied > n {
		return dst, d.damage(v, "it copies more successors than it has")
	}
	d.rest = d.rest[:0]
	if n > copied {
		d.mix = d.mix[:0]
		if err := d.readIntervals(v, n-copied); err != nil {
			return dst, err
		}
		if err := d.readRest(v, n-copied-uint64(len(d.mix))); err != nil {
			return dst, err
		}
	}
	if d.r.bad {
		return dst, d.damage(v, "a list that ends too early")
	}
	var err error
	switch {
	case n == copied:
		return dst, nil
	case len(d.mix) == 0:
		dst, err = d.merge(dst, first, v, d.rest)
	default:
		if dst, err = d.merge(dst, first, v, d.mix); err == nil {
			dst, err = d.merge(dst, first, v, d.rest)
		}
	}
	return dst, err
}

func (d *decoder) copied(dst []uint32, v uint32, ref []uint32) ([]uint32, error) {
	blocks := d.r.gamma()
	if blocks > uint64(len(ref)) {
		return dst, d.damage(v, "more blocks than its reference has successors")
	}
	for i := range blocks {
		n := d.r.gamma()
		if i > 0 {
			n++
		}
		if n > uint64(len(ref)) {
			return dst, d.damage(v, "a block beyond its reference")
		}
		if i%2 == 0 {
			dst = append(dst, ref[:n]...)
		}
		ref = ref[n:]
	}
	if blocks%2 == 0 {
		dst = append(dst, ref...)
	}
	return dst, nil
}

func (d *decoder) readIntervals(v uint32, most uint64) error {
	count := d.r.gamma()
	if count > most/minInterval {
		return d.damage(v, "more intervals than successors")
	}
	before := int64(v)
	for i := range count {
		x := d.r.gamma()
		n := d.r.gamma() + minInterval
		if x > maxCoded || n > most {
			return d.damage(v, "an interval that is too long")
		}
		start := before + int64(x) + 1
		if i == 0 {
			start = before + unfold(x)
		}
		if start < 0 || uint64(start)+n > d.nodes {
			return d.damage(v, "an interval beyond the nodes")
		}
		for j := range n {
			d.mix = append(d.mix, uint32(uint64(start)+j))
		}
		most -= n
		before = start + int64(n)
	}
	return nil
}

func (d *decoder) readRest(v uint32, n uint64) error {
	if n == 0 {
		return nil
	}
	s := int64(v) + unfold(d.r.zeta(d.zeta))
	for i := uint64(0); ; {
		if s < 0 || uint64(s) >= d.nodes || d.r.bad {
			return d.damage(v, "a successor beyond the nodes")
		}
		d.rest = append(d.rest, uint32(s))
		if i++; i == n {
			return nil
		}
		s += int64(d.r.zeta(d.zeta)) + 1
	}
}

func (d *decoder) merge(dst []uint32, first int, v uint32, more []uint32) ([]uint32, error) {
	i, j := len(dst)-1, len(more)-1
	dst = append(dst, more...)
	if i < first || j >= 0 && dst[i] < more[0] {
		return dst, nil
	}
	// From the largest down, so that no unread number is overwritten.
	for k := len(dst) - 1; j >= 0; k-- {
		switch {
		case i < first || dst[i] < more[j]:
			dst[k] = more[j]
			j--
		case dst[i] > more[j]:
			dst[k] = dst[i]
			i--
		default:
			return dst, d.damage(v, "a repeated successor")
		}
	}
	return dst, nil
}

func (d *decoder) damage(v uint32, what string) error {
	return fmt.Errorf("%w: node %d has %s; build the file again", errDamaged, v, what)
}

// bits returns the code length of a plan, without the number of successors.
func (e *encoder) bits(v uint32, p *plan) (n int) {
	if e.window > 0 {
		n = p.ref + 1
	}
	if p.ref > 0 {
		n += e.lens.gammaOf(uint64(len(p.blocks)))
		for i, length := range p.blocks {
			n += e.lens.gammaOf(uint64(length - min(i, 1)))
		}
	}
	if len(p.intervals) == 0 && len(p.rest) == 0 {
		return n
	}
	n += e.lens.gammaOf(uint64(len(p.intervals)))
	before := int64(v)
	for i, in := range p.intervals {
		if i == 0 {
			n += e.lens.gammaOf(fold(int64(in.start) - before))
		} else {
			n += e.lens.gammaOf(uint64(int64(in.start) - before - 1))
		}
		n += e.lens.gammaOf(uint64(in.n - minInterval))
		before = int64(in.start) + int64(in.n)
	}
	for i, s := range p.rest {
		if i == 0 {
			n += e.lens.zetaOf(fold(int64(s) - int64(v)))
		} else {
			n += e.lens.zetaOf(uint64(s - p.rest[i-1] - 1))
		}
	}
	return n
}
