package train

import (
	mathbits "math/bits"
	"slices"

	"fossick/models/features"
)

// cut is a test on a term: its count is above over.
type cut struct {
	term int32
	over float32
}

// cover has which rows pass which cut, both ways round. By cut they are bits,
// to narrow a set of rows; by row a list, to count all cuts of a set of rows in
// one pass. Most rows pass few cuts: a page has few of the words.
type cover struct {
	classes int
	y       []int      // class by row
	all     []uint64   // a bit a row
	cuts    []cut      // by term, then threshold
	above   [][]uint64 // by cut: rows above it
	passes  [][]int32  // by row: cuts that it is above
}

func newCover(rows []features.Vector, y []int, classes, terms int) *cover {
	d := &cover{classes: classes, y: y, all: make([]uint64, (len(rows)+63)/64), passes: make([][]int32, len(rows))}
	type entry struct {
		row   int
		value float32
	}
	columns := make([][]entry, terms)
	for i, r := range rows {
		set(d.all, i)
		for k, t := range r.Index {
			columns[t] = append(columns[t], entry{i, r.Value[k]})
		}
	}
	for t, column := range columns {
		values := make([]float32, len(column))
		for i, e := range column {
			values[i] = e.value
		}
		for _, over := range cuts(values, len(rows)) {
			bits := make([]uint64, len(d.all))
			for _, e := range column {
				if e.value > over {
					set(bits, e.row)
					d.passes[e.row] = append(d.passes[e.row], int32(len(d.cuts)))
				}
			}
			d.cuts, d.above = append(d.cuts, cut{int32(t), over}), append(d.above, bits)
		}
	}
	return d
}

func set(bits []uint64, i int) { bits[i/64] |= 1 << (i % 64) }

// size returns the number of rows in a set.
func size(rows []uint64) (n int) {
	for _, b := range rows {
		n += mathbits.OnesCount64(b)
	}
	return n
}

// narrowed returns the rows of a set that pass a selector.
func (d *cover) narrowed(rows []uint64, sel int32) []uint64 {
	if sel%2 == 0 {
		return intersect(rows, d.above[sel/2])
	}
	return without(rows, d.above[sel/2])
}

// without returns the rows of a set that are not in another.
func without(rows, other []uint64) []uint64 {
	out := make([]uint64, len(rows))
	for w, b := range rows {
		out[w] = b &^ other[w]
	}
	return out
}

// intersect returns the rows that are in both sets.
func intersect(a, b []uint64) []uint64 {
	out := make([]uint64, len(a))
	for w := range a {
		out[w] = a[w] & b[w]
	}
	return out
}

// counts returns how many rows of a set each class has.
func (d *cover) counts(rows []uint64) []int32 {
	n := make([]int32, d.classes)
	each(rows, func(row int) { n[d.y[row]]++ })
	return n
}

// each calls f with the rows of a set, rising.
func each(rows []uint64, f func(row int)) {
	for w, b := range rows {
		for ; b != 0; b &= b - 1 {
			f(w*64 + mathbits.TrailingZeros64(b))
		}
	}
}

// cuts returns the thresholds to try on a term, rising. They are 0 (presence),
// and the values at one half, three quarters and seven eighths of the rows that
// have it, as far as they part rows. values are positive; the other rows have
// 0.
func cuts(values []float32, rows int) []float32 {
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	n := len(values)
	var out []float32
	if n < rows {
		out = append(out, 0)
	}
	for _, at := range [...]int{(n - 1) / 2, (n - 1) * 3 / 4, (n - 1) * 7 / 8} {
		v := values[at]
		if v < values[n-1] && (len(out) == 0 || v > out[len(out)-1]) {
			out = append(out, v)
		}
	}
	return out
}
