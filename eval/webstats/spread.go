package webstats

import (
	"math"
	"math/bits"
)

// Values below exactBelow have a cell each. Above, a power of two has cellsOfOctave: a
// quantile is then up to 0.8 % too low.
const (
	exactBits     = 12
	exactBelow    = 1 << exactBits
	octaveBits    = 7
	cellsOfOctave = 1 << octaveBits
)

// spread is how numbers from 0 on are spread, in fixed memory.
type spread struct {
	n       int64
	sum     float64
	squares float64
	least   int64
	most    int64
	cells   []int64 // grown as far as there are values
}

func (s *spread) add(v int64) { s.addMany(v, 1) }

func (s *spread) addMany(v, times int64) {
	v = max(0, v)
	x, t := float64(v), float64(times)
	if s.n == 0 || v < s.least {
		s.least = v
	}
	s.n, s.sum, s.squares, s.most = s.n+times, s.sum+t*x, s.squares+t*x*x, max(s.most, v)
	cell := cellOf(v)
	for len(s.cells) <= cell {
		s.cells = append(s.cells, make([]int64, cell+1-len(s.cells))...)
	}
	s.cells[cell] += times
}

func cellOf(v int64) int {
	if v < exactBelow {
		return int(v)
	}
	octave := bits.Len64(uint64(v)) - 1
	return exactBelow + (octave-exactBits)*cellsOfOctave + int(v>>(octave-octaveBits))&(cellsOfOctave-1)
}

// lowest is the least value of a cell.
func lowest(cell int) int64 {
	if cell < exactBelow {
		return int64(cell)
	}
	cell -= exactBelow
	octave := cell/cellsOfOctave + exactBits
	return int64(cellsOfOctave+cell%cellsOfOctave) << (octave - octaveBits)
}

// mean is unknown of nothing.
func (s *spread) mean() *float64 {
	if s.n == 0 {
		return nil
	}
	return pointer(s.sum / float64(s.n))
}

// deviation is the standard deviation of the values themselves, all of which are here.
func (s *spread) deviation() *float64 {
	if s.n == 0 {
		return nil
	}
	m := s.sum / float64(s.n)
	return pointer(math.Sqrt(max(0, s.squares/float64(s.n)-m*m)))
}

// quantile is the least value that a share of all do not exceed.
func (s *spread) quantile(share float64) *float64 {
	if s.n == 0 {
		return nil
	}
	want := max(1, int64(math.Ceil(share*float64(s.n))))
	for cell, n := range s.cells {
		if want -= n; want <= 0 {
			return pointer(float64(lowest(cell)))
		}
	}
	return pointer(float64(s.most))
}

// below counts the values less than a bound, which is to be at the edge of a cell.
func (s *spread) below(bound int64) (n int64) {
	for cell, k := range s.cells {
		if lowest(cell) >= bound {
			break
		}
		n += k
	}
	return n
}

func pointer(x float64) *float64 { return &x }
