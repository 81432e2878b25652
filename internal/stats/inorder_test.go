package stats

import (
	"math/rand/v2"
	"testing"
)

// TestInOrder: coverage for streaks of hits, where independent draws would give half.
func TestInOrder(t *testing.T) {
	inOrder(t, 600, .9)
	inOrder(t, 150, .88) // seven streaks are few for four batches
}

func inOrder(t *testing.T, pages int, least float64) {
	const crawls, mean = 500, 0.4
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
		if ci := InOrder(pages, func(i int) bool { return on[i] }); ci[0] <= mean && mean <= ci[1] {
			held++
		}
		if ci := Wilson(hits, pages); ci[0] <= mean && mean <= ci[1] {
			naive++
		}
	}
	if float64(held) < least*crawls || held > 0.99*crawls || naive > 0.75*crawls {
		t.Errorf("of %d intervals of %d pages %d hold the harvest, of independent pages %d", crawls, pages, held, naive)
	}
}

func TestInOrderOfFew(t *testing.T) {
	if ci := InOrder(0, nil); ci != [2]float64{0, 1} {
		t.Errorf("of nothing: %v", ci)
	}
	for n := 1; n < 25; n++ {
		for hits := range n + 1 {
			ci := InOrder(n, func(i int) bool { return i%n < hits })
			p := float64(hits) / float64(n)
			if ci[0] < 0 || ci[1] > 1 || p < ci[0]-1e-12 || p > ci[1]+1e-12 {
				t.Errorf("%d of %d: %v", hits, n, ci)
			}
			if even := Wilson(hits, n); (hits == 0 || hits == n) && ci != even {
				t.Errorf("%d of %d: %v, want %v", hits, n, ci, even)
			}
		}
	}
}

// TestInOrderOfAll: a trend common to all runs does not widen the interval.
func TestInOrderOfAll(t *testing.T) {
	const n = 1000
	rng := rand.New(rand.NewPCG(5, 6))
	on := make([]bool, n)
	for i := range on {
		on[i] = rng.Float64() < 0.9*(1-float64(i)/n)
	}
	hits := 0
	ci := InOrder(n, func(i int) bool {
		if on[i] {
			hits++
		}
		return on[i]
	})
	even := Wilson(hits, n)
	if wide, least := ci[1]-ci[0], even[1]-even[0]; wide < least || wide > 1.6*least {
		t.Errorf("%v, of independent draws %v", ci, even)
	}
}
