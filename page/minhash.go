package page

import (
	"slices"
	"strings"
)

// Signature is a MinHash of a text's shingles, its runs of three words. Of two
// texts about as many of the bytes agree as their shingles do (see
// Resemblance). So near-duplicates are told without their texts at hand. A text
// of fewer than MinWords words has none, the zero Signature.
//
// One hash a shingle fills all places (one-permutation hashing, Li, Owen, Zhang
// 2012): its upper bits choose the place, the least of the lower ones wins it. An
// empty place takes what another has, found by a walk that depends on its number
// alone (optimal densification, Shrivastava 2017). Of the winner a byte is kept
// (b-bit minwise hashing, Li, König 2010).
type Signature [SignatureSize]byte

const (
	// SignatureSize is the number of places. The standard error of Resemblance is
	// √(J(1−J)/128): 2.7 % at J = 0.9.
	SignatureSize = 128

	// minWords is how long a text must be for a signature: below it a changed date
	// and another page look the same.
	minWords = 50
)

// IsZero reports whether the text was too short to have a signature.
func (s *Signature) IsZero() bool { return *s == Signature{} }

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

// shingles returns the hashes of a text's runs of three words, sorted, each once:
// what Resemblance compares. No run goes across an empty line.
func shingles(text string) []uint64 {
	var set []uint64
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
			set = append(set, mix(w1, w2, w3))
		}
	}
	slices.Sort(set)
	return slices.Compact(set)
}

// Resemblance returns which share of the shingles of two texts both have: |A ∩ B|
// / |A ∪ B|, the coefficient of Jaccard, as Broder (1997) compares pages. It is 1
// for two empty sets.
func Resemblance(a, b []uint64) float64 {
	if len(a) == 0 && len(b) == 0 {
		return 1
	}
	both := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			both++
			i++
			j++
		}
	}
	return float64(both) / float64(len(a)+len(b)-both)
}
