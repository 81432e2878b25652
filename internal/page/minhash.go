package page

import (
	"math/bits"
	"strings"
	"sync"
)

// Signature is a MinHash of a text's shingles, its runs of three words. Of two
// texts about as many of the bytes agree as their shingles do (see
// resemblance). So near-duplicates are told without their texts at hand. A text
// of fewer than MinWords words has none, the zero Signature.
//
// One hash a shingle fills all places (one-permutation hashing, Li, Owen, Zhang 2012).
// Its upper bits choose the place, and the least of the lower ones wins it. An empty
// place takes what another has, found by a walk that depends on its number alone
// (optimal densification, Shrivastava 2017). Of the winner a byte is kept (b-bit
// minwise hashing, Li, König 2010).
type Signature [SignatureSize]byte

const (
	// SignatureSize is the number of places. The standard error of Estimate is
	// √(J(1−J)/128): 2.7 % at J = 0.9.
	SignatureSize = 128

	// minWords is how long a text must be for a signature: below it a changed date
	// and another page look the same.
	minWords = 50
)

// IsZero reports whether the text was too short to have a signature.
func (s *Signature) IsZero() bool { return *s == Signature{} }

// Bytes returns the signature as it is kept, nil of a page that is too short for one.
func (s *Signature) Bytes() []byte {
	if s.IsZero() {
		return nil
	}
	return s[:]
}

// Estimate returns the resemblance of two texts in [0,1], as their signatures
// tell. Bytes that agree by chance, one of 256, are taken off.
func Estimate(a, b *Signature) float64 {
	same := 0
	for i := range a {
		if a[i] == b[i] {
			same++
		}
	}
	return max(0, (float64(same)/SignatureSize-1.0/256)/(1-1.0/256))
}

// minima collects the least hash of each place.
type minima struct {
	least [SignatureSize]uint64
	some  bool
}

// add takes note of a shingle's hash.
func (m *minima) add(h uint64) {
	place := h >> 57
	if v := h<<7 | 1; m.least[place] == 0 || v < m.least[place] { // 0 is an empty place
		m.least[place] = v
		m.some = true
	}
}

// signature returns the signature of what was added.
func (m *minima) signature() (s Signature) {
	if !m.some {
		return s
	}
	for i := range s {
		v := m.least[i]
		for k := uint64(1); v == 0; k++ {
			v = m.least[mix(uint64(i), k, 0)%SignatureSize]
		}
		s[i] = byte(mix(v, 0, 0) >> 56)
	}
	return s
}

// shingles appends the hashes of a text's runs of three words, some more than once.
// No run goes across an empty line.
func shingles(all []uint64, text string) []uint64 {
	var w1, w2, w3 uint64
	run := 0
	for i := 0; i < len(text); {
		if text[i] == ' ' || text[i] == '\n' {
			if strings.HasPrefix(text[i:], "\n\n") {
				run = 0
			}
			i++
			continue
		}
		w1, w2 = w2, w3
		w3, i = hashWord(text, i)
		if run++; run >= 3 {
			all = append(all, mix(w1, w2, w3))
		}
	}
	return all
}

// resemblance returns which share of the shingles of two texts both have: |A ∩ B|
// / |A ∪ B|, the coefficient of Jaccard, as Broder (1997) compares pages. It is 1
// for two texts without any.
func resemblance(a, b string) float64 {
	o := overlaps.Get().(*overlap)
	defer overlaps.Put(o)
	o.shingles = shingles(o.shingles[:0], a)
	ofA := len(o.shingles)
	o.shingles = shingles(o.shingles, b)
	if len(o.shingles) == 0 {
		return 1
	}
	o.clear()
	both, either := 0, 0
	for _, h := range o.shingles[:ofA] {
		if m := o.find(h); *m == 0 {
			*m = inA
			either++
		}
	}
	for _, h := range o.shingles[ofA:] {
		switch m := o.find(h); *m {
		case 0:
			*m = inB
			either++
		case inA:
			*m = inBoth
			both++
		}
	}
	return float64(both) / float64(either)
}

// overlap is the room for a comparison of two sets of shingles, which takes half the
// time of sorting them: a table with open addresses.
type overlap struct {
	shingles []uint64
	slots    []uint64
	marks    []byte // of each slot, which texts have it; 0 is an empty one
}

const (
	inA byte = 1 + iota
	inB
	inBoth
)

var overlaps = sync.Pool{New: func() any { return new(overlap) }}

// clear empties the table, which has two slots for each shingle at least.
func (o *overlap) clear() {
	n := 1 << bits.Len(uint(2*len(o.shingles)))
	if n > cap(o.slots) {
		o.slots, o.marks = make([]uint64, n), make([]byte, n)
	}
	o.slots, o.marks = o.slots[:n], o.marks[:n]
	clear(o.marks)
}

// find returns the mark of a shingle, which it enters.
func (o *overlap) find(h uint64) *byte {
	for i := h; ; i++ {
		i &= uint64(len(o.slots) - 1)
		if o.marks[i] == 0 {
			o.slots[i] = h
		} else if o.slots[i] != h {
			continue
		}
		return &o.marks[i]
	}
}
