package graph

import (
	"errors"
	"fmt"
)

// errDamaged reports a graph file whose content is not what a writer writes.
var errDamaged = errors.New("damaged graph")

// decoder decodes the code that encoder describes. It believes nothing of it.
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

// body reads what follows the head, and appends the successors to dst. refList
// are those of the reference; with ref = 0 it is not looked at.
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

// copied appends the blocks of ref that are copied.
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

// readIntervals appends the numbers of the intervals, at most most, to d.mix.
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

// readRest reads n numbers into d.rest.
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

// merge merges more into dst[first:], both sorted.
func (d *decoder) merge(dst []uint32, first int, v uint32, more []uint32) ([]uint32, error) {
	i, j := len(dst)-1, len(more)-1
	dst = append(dst, more...)
	if i < first || j >= 0 && dst[i] < more[0] {
		return dst, nil
	}
	// From the largest down, so that nothing is overwritten that is yet to be read.
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
