package train

import (
	"slices"

	"fossick/features"
)

// cut is a test on a term: its count is above over.
type cut struct {
	term int32
	over float32
}

// cover has which rows pass which cut, a bit a row. Rows stand in the order of
// their classes, and each class begins with a word of its own, so that one pass
// over a bitset counts all classes: a word has rows of one class only.
type cover struct {
	classes int
	start   []int // of each class its first word, and the number of words
	classOf []int32
	all     []uint64   // bits that are rows
	cuts    []cut      // by term, then threshold
	above   [][]uint64 // by cut: rows above it
}

func newCover(rows []features.Vector, y []int, classes, terms int) *cover {
	d := &cover{classes: classes, start: make([]int, classes+1)}
	size := make([]int, classes)
	for _, c := range y {
		size[c]++
	}
	for c, n := range size {
		words := (n + 63) / 64
		d.start[c+1] = d.start[c] + words
		d.classOf = append(d.classOf, slices.Repeat([]int32{int32(c)}, words)...)
	}
	d.all = make([]uint64, d.start[classes])
	next := make([]int, classes)
	for c := range next {
		next[c] = d.start[c] * 64
	}
	type entry struct {
		bit   int
		value float32
	}
	columns := make([][]entry, terms)
	for i, r := range rows {
		bit := next[y[i]]
		next[y[i]]++
		set(d.all, bit)
		for k, t := range r.Index {
			columns[t] = append(columns[t], entry{bit, r.Value[k]})
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
					set(bits, e.bit)
				}
			}
			d.cuts, d.above = append(d.cuts, cut{int32(t), over}), append(d.above, bits)
		}
	}
	return d
}

func set(bits []uint64, i int) { bits[i/64] |= 1 << (i % 64) }

// cuts returns the thresholds to try on a term, rising: 0 (presence), and the
// values at one half, three quarters and seven eighths of the rows that have it,
// as far as they part rows. values are positive; the other rows have 0.
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
