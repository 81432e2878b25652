package webstats

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"slices"

	"fossick/internal/extsort"
)

// degrees counts links: of pages, how many go out and come in; of all URLs, how many
// come in. In-degrees come from sorting the targets, on disk where memory has no room.
type degrees struct {
	dir     string
	room    int                     // entries in memory
	entries *extsort.Sorter[uint64] // a page's ID doubled, a target's doubled and one more
	out     map[int]int64           // pages by links
	in      map[int]int64           // pages by links to them
	known   map[int]int64           // URLs that are linked to, by such links
}

// mostEntries takes 16 MiB.
const mostEntries = 1 << 21

func newDegrees(dir string) *degrees {
	return &degrees{dir: dir, room: mostEntries, out: map[int]int64{}, in: map[int]int64{}, known: map[int]int64{}}
}

// begin makes room for a source's links.
func (d *degrees) begin() {
	d.entries = extsort.New(extsort.Options[uint64]{
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

// settle counts a source's in-degrees.
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

// degreeCount is how many have a degree.
type degreeCount struct {
	degree int
	n      int64
}

// rising returns the degrees from 1 on, in rising order.
func rising(counts map[int]int64) (all []degreeCount) {
	for degree, n := range counts {
		if degree > 0 && n > 0 {
			all = append(all, degreeCount{degree, n})
		}
	}
	slices.SortFunc(all, func(a, b degreeCount) int { return cmp.Compare(a.degree, b.degree) })
	return all
}
