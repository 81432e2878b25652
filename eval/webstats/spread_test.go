package webstats

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSpread compares with the sorted values.
func TestSpread(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var s spread
		var all []int64
		sum, most := 0.0, int64(0)
		for range 1 + rng.IntN(2000) {
			v := int64(math.Exp(rng.Float64() * 20))
			s.add(v)
			all, sum, most = append(all, v), sum+float64(v), max(most, v)
		}
		slices.Sort(all)
		if s.n != int64(len(all)) || s.most != most || !(math.Abs(s.mean()-sum/float64(len(all))) <= 1e-9*sum) {
			t.Fatalf("n %d, most %d, mean %v", s.n, s.most, s.mean())
		}
		squares := 0.0
		for _, v := range all {
			squares += (float64(v) - s.mean()) * (float64(v) - s.mean())
		}
		if want := math.Sqrt(squares / float64(len(all))); !(math.Abs(s.deviation()-want) <= 1e-6*want) {
			t.Errorf("deviation %v, want %v", s.deviation(), want)
		}
		for _, share := range []float64{0.01, 0.5, 0.9, 0.99, 1} {
			want := float64(all[max(0, int(math.Ceil(share*float64(len(all))))-1)])
			got := float64(s.quantile(share))
			if got > want || got < want*(1-1./cellsOfOctave) || want < exactBelow && got != want {
				t.Errorf("quantile %v of %d: %v, want %v", share, len(all), got, want)
			}
		}
		for _, bound := range []int64{1, 17, 4096, 8192, 1 << 20} {
			want, _ := slices.BinarySearch(all, bound)
			if got := s.below(bound); got != int64(want) {
				t.Errorf("below %d: %d, want %d", bound, got, want)
			}
		}
	}
}

// TestCells: each cell begins where the previous one ends.
func TestCells(t *testing.T) {
	for cell := 1; cell < exactBelow+30*cellsOfOctave; cell++ {
		if v := lowest(cell); cellOf(v) != cell || cellOf(v-1) != cell-1 {
			t.Fatalf("cell %d begins at %d, which is in %d; the one before in %d", cell, v, cellOf(v), cellOf(v-1))
		}
	}
}

// TestDegrees compares with map counts, with little memory and two sources with separate IDs.
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
