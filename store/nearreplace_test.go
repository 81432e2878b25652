package store

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestNearIndexOfChangingPages: pages of few templates are stored, and replaced again and
// again; after each time the index names only pages that have the band, and misses none but
// those that had no room.
func TestNearIndexOfChangingPages(t *testing.T) {
	s := create(t)
	rng := rand.New(rand.NewPCG(1, 19))
	var pages []*Page
	made := 0
	page := func(n uint64) *Page {
		made++
		return &Page{Number: n, ID: ID(n), Checksum: fmt.Appendf(nil, "%016d", made), Signature: signatureOf(byte(rng.IntN(3)), byte(rng.IntN(3)), byte(rng.IntN(30)))}
	}
	for step := range 150 {
		alter(t, s, func(b *Batch) {
			if len(pages) < 9 || rng.IntN(4) == 0 {
				p := page(uint64(len(pages) + 1))
				pages = append(pages, p)
				must(t, b.PutPage(p, s.Compress(nil)))
				return
			}
			at := rng.IntN(len(pages))
			p := page(uint64(at + 1))
			must(t, b.ReplacePage(pages[at], p, s.Compress(nil)))
			pages[at] = p
		})
		in := newInspection(s, false)
		must(t, derived{in.findings}.near(t.Context()))
		if len(in.problems) > 0 {
			t.Fatalf("step %d: %+v", step, in.problems)
		}
	}
	for _, p := range pages {
		found, err := s.Candidates(p.Signature)
		must(t, err)
		for _, c := range found {
			if c.Number == 0 {
				t.Fatalf("candidates %+v", found)
			}
		}
	}
}
