package eval

import (
	"math/rand/v2"
	"testing"

	"fossick/internal/stats"
)

// TestHarvestCI: crawls that come by good sites and bad ones. An interval of as many
// independent pages holds their mean harvest half the time.
func TestHarvestCI(t *testing.T) {
	const crawls, pages, mean = 500, 600, 0.4
	rng := rand.New(rand.NewPCG(3, 4))
	held, naive := 0, 0
	for range crawls {
		hits, on := 0, make([]bool, pages)
		good := rng.Float64() < 0.5
		for i := range on {
			if rng.IntN(20) == 0 {
				good = rng.Float64() < 0.5
			}
			if on[i] = rng.Float64() < 0.1 || good && rng.Float64() < 2./3; on[i] {
				hits++
			}
		}
		if ci := harvestCI(pages, func(i int) bool { return on[i] }); ci[0] <= mean && mean <= ci[1] {
			held++
		}
		if ci := stats.Wilson(hits, pages); ci[0] <= mean && mean <= ci[1] {
			naive++
		}
	}
	if held < 0.9*crawls || held > 0.99*crawls || naive > 0.75*crawls {
		t.Errorf("of %d intervals %d hold the harvest, of independent pages %d", crawls, held, naive)
	}
}

func TestHarvestCIOfFew(t *testing.T) {
	if harvestCI(0, nil) != nil {
		t.Error("an interval of no page")
	}
	for n := 1; n < 25; n++ {
		for hits := range n + 1 {
			ci := harvestCI(n, func(i int) bool { return i%n < hits })
			p := float64(hits) / float64(n)
			if ci[0] < 0 || ci[1] > 1 || p < ci[0]-1e-12 || p > ci[1]+1e-12 {
				t.Errorf("%d of %d: %v", hits, n, ci)
			}
			if even := Interval(stats.Wilson(hits, n)); (hits == 0 || hits == n) && *ci != even {
				t.Errorf("%d of %d: %v, want %v", hits, n, ci, even)
			}
		}
	}
}
