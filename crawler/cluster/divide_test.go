package cluster

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"fossick/crawler"
)

func TestDivide(t *testing.T) {
	none := math.Inf(-1)
	to := func(pages uint64, price float64, workers int) crawler.Allowance {
		return crawler.Allowance{Pages: pages, Price: price, Workers: workers}
	}
	for _, c := range []struct {
		name           string
		left           uint64
		workers, ahead int
		reports        []standing
		want           []crawler.Allowance
	}{
		{"the better links get the pages", 100, 2, 3,
			[]standing{{spent: 5, head: []float64{.9, .8, .7}}, {spent: 7, head: []float64{.75, .1}}},
			[]crawler.Allowance{to(9, .75, 2), to(9, .75, 0)}},
		{"no more than are left", 1, 4, 10,
			[]standing{{head: []float64{.2}}, {head: []float64{.3, .1}}},
			[]crawler.Allowance{to(0, none, 2), to(1, none, 2)}},
		{"nothing is left", 0, 4, 10,
			[]standing{{spent: 3, head: []float64{.2}}},
			[]crawler.Allowance{to(3, none, 4)}},
		{"too few links: no price, the rest to all", 100, 4, 4,
			[]standing{{head: []float64{.2}}, {}, {}},
			[]crawler.Allowance{to(3, none, 2), to(1, none, 1), to(1, none, 1)}},
		{"who is busy has that many workers, and the price is for those that are free", 100, 4, 0,
			[]standing{{spent: 5, busy: 2, head: []float64{.9, .8}}, {spent: 7, busy: 1, head: []float64{.85, .1}}},
			[]crawler.Allowance{to(9, .85, 3), to(11, .85, 1)}},
		{"no worker is free", 100, 2, 0,
			[]standing{{spent: 5, busy: 2, head: []float64{.5}}, {spent: 7, head: []float64{.9}}},
			[]crawler.Allowance{to(7, .9, 2), to(9, .9, 0)}},
		{"equal links by turns", 100, 4, 2,
			[]standing{{head: []float64{.5, .5, .5, .5}}, {head: []float64{.5, .5, .5, .5}}},
			[]crawler.Allowance{to(4, .5, 2), to(4, .5, 2)}},
	} {
		if got := divide(c.left, c.workers, c.ahead, c.reports); !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestDivideAtRandom: the shares are never more than is left, and what may be taken is what
// one queue would give out first.
func TestDivideAtRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 20))
	for range 2000 {
		reports := make([]standing, 1+rng.IntN(8))
		var all []float64
		busy := 0
		for i := range reports {
			reports[i].spent, reports[i].busy = rng.Uint64N(100), rng.IntN(4)
			busy += reports[i].busy
			for range rng.IntN(20) {
				reports[i].head = append(reports[i].head, math.Round(10*rng.Float64())/10)
			}
			slices.SortFunc(reports[i].head, func(a, b float64) int { return int(20 * (b - a)) })
			all = append(all, reports[i].head...)
		}
		left, workers, ahead := rng.Uint64N(60), 1+rng.IntN(16), rng.IntN(50)
		given, n, may := uint64(0), min(int(left), max(ahead, workers)), 0
		for i, s := range divide(left, workers, ahead, reports) {
			if s.Pages < reports[i].spent || s.Workers < reports[i].busy {
				t.Fatalf("%+v for %+v", s, reports[i])
			}
			given += s.Pages - reports[i].spent
			may += s.Workers
			slices.Sort(all)
			if k := max(ahead, max(0, workers-busy)+workers/spareShare, 1); len(all) > k && s.Price != all[len(all)-k] {
				t.Fatalf("price %g of %v for %d", s.Price, all, k)
			}
		}
		if may != max(workers, busy) {
			t.Fatalf("%d of %d workers given, %d busy", may, workers, busy)
		}
		want := min(left, uint64(min(n, len(all))+max(ahead, workers)))
		if given != want {
			t.Fatalf("%d pages given, want %d", given, want)
		}
	}
}
