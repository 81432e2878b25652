package webstats

import (
	"maps"
	"math/rand/v2"
	"testing"
)

// TestDegrees compares with counting in maps, where memory has room for few links, over two
// sources whose numbers are not the same URLs.
func TestDegrees(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	d := newDegrees(t.TempDir())
	d.room = 100
	out, in, known := map[int]int64{}, map[int]int64{}, map[int]int64{}
	for range 2 {
		d.begin()
		to, pages := map[uint64]int{}, map[uint64]bool{}
		for i := range 300 {
			p := &Page{ID: uint64(3*i + 1)}
			for id := uint64(1); id < 1000; id += 1 + uint64(rng.IntN(1000)) {
				p.Links = append(p.Links, id)
				to[id]++
			}
			pages[p.ID] = true
			out[len(p.Links)]++
			if err := d.add(p); err != nil {
				t.Fatal(err)
			}
		}
		for id := range pages {
			in[to[id]]++
		}
		for _, n := range to {
			known[n]++
		}
		if err := d.settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := d.close(); err != nil {
			t.Fatal(err)
		}
	}
	if !maps.Equal(d.out, out) || !maps.Equal(d.in, in) || !maps.Equal(d.known, known) {
		t.Errorf("out %v want %v\nin %v want %v\nknown %v want %v", d.out, out, d.in, in, d.known, known)
	}
}
