package features

import (
	"math"
	"slices"
)

// terms0 is where the counts of terms begin. Those of noTerm and leftOut stand before
// them, so that a word that is no term is counted like any other. They begin at 1,
// so that they never come to touched.
const terms0 = 2

// room makes place for the counts of n terms.
func (x *Extractor) room(n int) {
	if n += terms0; n <= len(x.count) {
		return
	}
	x.count = append(x.count, make([]float32, max(1024, n-len(x.count)))...)
}

func (x *Extractor) add(term int32, n float32) {
	if term < 0 {
		return
	}
	if int(term) >= len(x.count)-terms0 {
		x.room(x.lex.Len())
	}
	if x.count[term+terms0] == 0 {
		x.touched = append(x.touched, term)
	}
	x.count[term+terms0] += n
}

// countRow counts words of which each is one term or none.
func (x *Extractor) countRow(row []known) {
	x.room(x.lex.Len())
	n := len(x.touched)
	touched, count := slices.Grow(x.touched, len(row))[:n+len(row)], x.count
	for i := range row {
		term := row[i].body
		c := &count[term+terms0]
		touched[n] = term
		if math.Float32bits(*c) == 0 {
			n++
		}
		*c++
	}
	x.touched = touched[:n]
}

// Strange returns how many words of the Doc that was counted last are no terms of a fixed
// lexicon. A word of its title counts as often as in the counts.
func (x *Extractor) Strange() float64 { return float64(x.count[noTerm+terms0] - 1) }
