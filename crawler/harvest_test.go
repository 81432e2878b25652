package crawler

import (
	"fmt"
	"math"
	"math/rand"
	"testing"
)

func TestMarginalEstimate(t *testing.T) {
	var m Watch
	if got := m.Estimate(); got != (Marginal{}) {
		t.Errorf("of no pages: %+v", got)
	}
	for n := 1; n <= 3000; n++ {
		m.add(n <= 1500) // a topic that is exhausted halfway
		got := m.Estimate()
		want := 0
		for i := n; i > n-got.Pages; i-- {
			if i <= 1500 {
				want++
			}
		}
		share := 0.0
		if got.Pages > 0 {
			share = float64(want) / float64(got.Pages)
		}
		if got.Harvest != share || got.Upper < got.Harvest || got.Upper > 1 || n >= 10 && got.Pages == 0 {
			t.Fatalf("after %d pages: %+v, want a harvest of %g", n, got, share)
		}
	}
	for n, want := range map[int]int{9: 0, 10: 10, 199: 190, 200: 200, 399: 200, 500: 250, 1999: 990, 2000: 1000, 100000: 1000} {
		if got := window(n); got != want {
			t.Errorf("window(%d) = %d, want %d", n, got, want)
		}
	}
	// Newcombe 1998, table I: 81 of 263, two-sided 95 % by Wilson's interval: 0.2553 to 0.3662.
	// Here one-sided 99 %, z = 2.3263, by hand for 0 of 200: z²/(n+z²).
	if got, want := wilsonUpper(0, 200), normalZ*normalZ/(200+normalZ*normalZ); math.Abs(got-want) > 1e-12 {
		t.Errorf("Wilson's upper end for 0 of 200 is %g, want %g", got, want)
	}
}

// TestMarginalUpper: 20 of 100 pages are relevant. With two in each block of ten, Wilson's
// interval gives 0.307333. With all in two blocks, the mean is 2 and the variance (200 − 20·2)/9
// a block, so the bound is (2 + 2.8214·√(160/90))/10.
func TestMarginalUpper(t *testing.T) {
	for _, c := range []struct {
		relevant func(i int) bool
		want     float64
	}{
		{func(i int) bool { return i%5 == 0 }, 0.307333},
		{func(i int) bool { return i/10 == 3 || i/10 == 7 }, 0.576187},
	} {
		var pages []bool
		for i := range 100 {
			pages = append(pages, c.relevant(i))
		}
		if got := Of(pages); got.Pages != 100 || got.Harvest != 0.2 || !(math.Abs(got.Upper-c.want) <= 1e-6) {
			t.Errorf("%+v, want an upper end of %v", got, c.want)
		}
	}
}

// runs draws relevance with probability p in runs of the mean length: a Markov chain.
func runs(rng *rand.Rand, p, length float64) func() bool {
	on := rng.Float64() < p
	return func() bool {
		if rng.Float64() < 1/length {
			on = rng.Float64() < p
		}
		return on
	}
}

// TestMinHarvestStopsInTime simulates crawls of 10,000 pages with steady harvest: rich ones go
// on, poor ones stop soon.
func TestMinHarvestStopsInTime(t *testing.T) {
	const least, crawls, pages = 0.1, 300, 10_000
	for _, c := range []struct {
		harvest, length float64
		stops           float64 // share of crawls that stop: at most, or for poor ones at least
	}{
		// Crawls of wikispeedia have runs of at most 1.4 pages (lag-one correlation 0.3, windows
		// of 200).
		{0.15, 1, 0.01}, {0.15, 1.4, 0.01}, {0.15, 2, 0.05}, {0.2, 2, 0.005}, {0.2, 5, 0.1}, {0.3, 5, 0.02},
		{0.05, 1, 0.99}, {0.05, 5, 0.99}, {0.02, 20, 0.99}, {0, 1, 1},
	} {
		t.Run(fmt.Sprintf("harvest %g in runs of %g", c.harvest, c.length), func(t *testing.T) {
			rng := rand.New(rand.NewSource(1))
			stopped, after := 0, 0
			for range crawls {
				m := NewWatch(least)
				next := runs(rng, c.harvest, c.length)
				for m.n < pages {
					m.add(next())
					if m.blockEnds() && m.tooPoor() {
						stopped++
						after += m.n
						break
					}
				}
			}
			share := float64(stopped) / crawls
			t.Logf("%.1f %% stop, after %d pages in the mean", 100*share, after/max(1, stopped))
			if poor := c.harvest < least; poor && share < c.stops || !poor && share > c.stops {
				t.Errorf("%.3f of the crawls stop", share)
			}
		})
	}
}

func TestOf(t *testing.T) {
	relevant := make([]bool, 400)
	for i := range relevant {
		relevant[i] = i < 200 || i%4 == 0 // the first half is all good
	}
	if m := Of(relevant); m.Pages != 200 || m.Harvest != 0.25 || m.Upper <= 0.25 || m.Upper > 0.4 {
		t.Errorf("got %+v, want a quarter of the last 200", m)
	}
	if m := Of(nil); m.Pages != 0 {
		t.Errorf("no page: got %+v", m)
	}
}
