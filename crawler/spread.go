package crawler

import "math"

// spread counts priorities by their size, so that one can tell from which on a
// share of them lies. It counts by exponent and three bits of the fraction,
// steps of an eighth at most.
type spread struct {
	counts [1 << 14]uint32
	n      int
}

// bin is where a priority is counted; all that are not above 0 are counted as 0.
func (s *spread) bin(priority float64) int {
	if !(priority > 0) {
		return 0
	}
	return int(math.Float64bits(priority) >> 49)
}

func (s *spread) add(priority float64) {
	s.counts[s.bin(priority)]++
	s.n++
}

// best returns the priority from which on the share given of what was counted
// lies, or a little more, as near as the steps allow. It is minus infinity for
// all of it.
func (s *spread) best(share float64) float64 {
	left := int(share * float64(s.n))
	for i := len(s.counts) - 1; i > 0; i-- {
		if left -= int(s.counts[i]); left <= 0 && s.counts[i] > 0 {
			return math.Float64frombits(uint64(i) << 49)
		}
	}
	return math.Inf(-1)
}
