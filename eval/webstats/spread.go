package webstats

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"fossick/internal/fileio"
)

// Values below exactBelow have one histogram cell each; above, each power of two has cellsOfOctave
// cells, so a quantile is at most 0.8 % too low.
const (
	exactBits     = 12
	exactBelow    = 1 << exactBits
	octaveBits    = 7
	cellsOfOctave = 1 << octaveBits
)

// spread is a histogram of numbers from 0 on, in bounded memory.
type spread struct {
	n       int64
	sum     float64
	squares float64
	least   int64
	most    int64
	cells   []int64 // grown on demand
}

func (s *spread) add(v int64) {
	v = max(0, v)
	x := float64(v)
	if s.n == 0 || v < s.least {
		s.least = v
	}
	s.n, s.sum, s.squares, s.most = s.n+1, s.sum+x, s.squares+x*x, max(s.most, v)
	cell := cellOf(v)
	for len(s.cells) <= cell {
		s.cells = append(s.cells, make([]int64, cell+1-len(s.cells))...)
	}
	s.cells[cell]++
}

func cellOf(v int64) int {
	if v < exactBelow {
		return int(v)
	}
	octave := bits.Len64(uint64(v)) - 1
	return exactBelow + (octave-exactBits)*cellsOfOctave + int(v>>(octave-octaveBits))&(cellsOfOctave-1)
}

func lowest(cell int) int64 {
	if cell < exactBelow {
		return int64(cell)
	}
	cell -= exactBelow
	octave := cell/cellsOfOctave + exactBits
	return int64(cellsOfOctave+cell%cellsOfOctave) << (octave - octaveBits)
}

// mean, deviation and quantile are of at least one number.

func (s *spread) mean() float64 { return s.sum / float64(s.n) }

func (s *spread) deviation() float64 {
	return math.Sqrt(max(0, s.squares/float64(s.n)-s.mean()*s.mean()))
}

func (s *spread) quantile(share float64) int64 {
	want := max(1, int64(math.Ceil(share*float64(s.n))))
	for cell, n := range s.cells {
		if want -= n; want <= 0 {
			return lowest(cell)
		}
	}
	return s.most
}

func (s *spread) below(bound int64) (n int64) {
	for cell, k := range s.cells {
		if lowest(cell) >= bound {
			break
		}
		n += k
	}
	return n
}

// upTo returns a row for each bound up to which there are numbers: the bound, how many lie below it and
// above the one before, their share, and the share of all below it. The rest has a row without a bound.
func (s *spread) upTo(bounds []int64) (rows [][]any) {
	before := int64(0)
	for _, bound := range bounds {
		n := s.below(bound)
		if n > 0 {
			rows = append(rows, []any{bound, n - before, share(n-before, s.n), share(n, s.n)})
		}
		if before = n; n == s.n {
			return rows
		}
	}
	return append(rows, []any{nil, s.n - before, share(s.n-before, s.n), 1.})
}

// degrees counts out-degrees of pages, and in-degrees of pages and of URLs, by sorting link targets on disk.
type degrees struct {
	dir     string
	room    int                    // entries in memory
	entries *fileio.Sorter[uint64] // 2·ID for a page, 2·ID+1 for a link target
	out     map[int]int64          // pages by out-degree
	in      map[int]int64          // pages by in-degree
	known   map[int]int64          // linked URLs by in-degree
}

// mostEntries entries take 16 MiB.
const mostEntries = 1 << 21

func newDegrees(dir string) *degrees {
	return &degrees{dir: dir, room: mostEntries, out: map[int]int64{}, in: map[int]int64{}, known: map[int]int64{}}
}

func (d *degrees) begin() {
	d.entries = fileio.NewSorter(fileio.SortOptions[uint64]{
		Dir: d.dir, Limit: d.room, Compare: cmp.Compare[uint64], Sort: slices.Sort[[]uint64],
		Append: func(dst []byte, before, x uint64) []byte { return binary.AppendUvarint(dst, x-before) },
		Read: func(r *bufio.Reader, before uint64) (uint64, error) {
			step, err := binary.ReadUvarint(r)
			return before + step, err
		},
	})
}

func (d *degrees) add(p *Page) error {
	d.out[len(p.Links)]++
	err := d.entries.Add(2 * p.ID)
	for i := 0; i < len(p.Links) && err == nil; i++ {
		err = d.entries.Add(2*p.Links[i] + 1)
	}
	return err
}

func (d *degrees) settle(ctx context.Context) error {
	id, links, paged := uint64(0), 0, false
	flush := func() {
		if links > 0 {
			d.known[links]++
		}
		if paged {
			d.in[links]++
		}
		links, paged = 0, false
	}
	err := d.entries.Each(ctx, func(x uint64) error {
		if x/2 != id {
			flush()
			id = x / 2
		}
		if x%2 == 0 {
			paged = true
		} else {
			links++
		}
		return nil
	})
	flush()
	return err
}

func (d *degrees) close() error {
	if d.entries == nil {
		return nil
	}
	return d.entries.Close()
}
