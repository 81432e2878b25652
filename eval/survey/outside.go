package survey

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"io"
	"slices"

	"fossick/internal/extsort"
)

// outside are the URLs that lead out of a party and that no party reached. Each becomes a
// candidate (paper E, E1). They go to disk; in memory are four bytes a known URL.
type outside struct {
	links  []uint32 // by a URL's number: stored pages that link to it
	sorted *extsort.Sorter[Seed]

	from uint64 // whose name is known, as a page's links follow each other
	name string
}

// inMemory is how many candidates are sorted in memory.
const inMemory = 1 << 16

// newSorter sorts candidates: those that most pages link to first, then by URL.
func newSorter() *extsort.Sorter[Seed] {
	return extsort.New(extsort.Options[Seed]{
		Limit:   inMemory,
		Compare: func(a, b Seed) int { return cmp.Or(cmp.Compare(b.Links, a.Links), cmp.Compare(a.URL, b.URL)) },
		Append: func(dst []byte, _, s Seed) []byte {
			dst = binary.AppendUvarint(binary.AppendUvarint(dst, s.ID), uint64(s.Links))
			for _, text := range []string{s.URL, s.FoundBy} {
				dst = append(binary.AppendUvarint(dst, uint64(len(text))), text...)
			}
			return dst
		},
		Read: func(r *bufio.Reader, _ Seed) (Seed, error) {
			id, err := binary.ReadUvarint(r)
			links := uint64(0)
			if err == nil {
				links, err = binary.ReadUvarint(r)
			}
			s := Seed{ID: id, Candidate: true, Links: int(links)}
			for _, text := range []*string{&s.URL, &s.FoundBy} {
				var n uint64
				if err == nil {
					n, err = binary.ReadUvarint(r)
				}
				if err == nil {
					room := make([]byte, n)
					_, err = io.ReadFull(r, room)
					*text = string(room)
				}
			}
			return s, err
		},
	})
}

// page counts a page for each URL that it links to.
func (o *outside) page(p *Page) {
	slices.Sort(p.Links)
	for _, id := range slices.Compact(p.Links) {
		for uint64(len(o.links)) <= id {
			o.links = append(o.links, 0)
		}
		o.links[id]++
	}
}

// url enters a URL as a candidate.
func (o *outside) url(src Source, u *URL) (err error) {
	s := Seed{ID: u.ID, URL: u.URL, Candidate: true, Links: 1}
	if u.ID < uint64(len(o.links)) {
		s.Links = max(1, int(o.links[u.ID]))
	}
	if u.From != 0 && u.From != o.from {
		if o.name, err = src.Name(u.From); err != nil {
			return err
		}
		o.from = u.From
	}
	if u.From != 0 {
		s.FoundBy = o.name
	}
	return o.sorted.Add(s)
}
