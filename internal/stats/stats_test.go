package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func TestMeanOf(t *testing.T) {
	m := MeanOf([]float64{1, 2, 3, 4, 5})
	// t(0.975, 4) = 2.7764, s² = 2.5
	if m.Value != 3 || m.CI == nil || math.Abs(m.CI[1]-3-2.7764*math.Sqrt(2.5/5)) > 1e-3 {
		t.Errorf("got %+v", m)
	}
	for _, x := range [][]float64{{5}, {5, 5}, {5, 5, 5, 5, 5}, {3, 4, 6, 7}} {
		if m := MeanOf(x); m.Value != 5 || m.CI != nil {
			t.Errorf("%v: got %+v", x, m)
		}
	}
	if m := MeanOf(nil); !math.IsNaN(m.Value) || m.CI != nil {
		t.Errorf("got %+v", m)
	}
}

// TestWithin: the interval of a share is clipped to [0,1].
func TestWithin(t *testing.T) {
	if m := MeanOf([]float64{0, 0, 0, 0.1, 0.5}).Within(0, 1); m.CI == nil || m.CI[0] != 0 || m.CI[1] <= m.Value || m.CI[1] > 1 {
		t.Errorf("got %+v", m)
	}
	if m := MeanOf([]float64{0.2, 0.2}).Within(0, 1); m.CI != nil {
		t.Errorf("equal draws have an interval %v", m.CI)
	}
}

func Example() {
	m := MeanOf([]float64{0.4, 0.5, 0.6, 0.7, 0.8})
	fmt.Printf("%.2f, %.2f to %.2f\n", m.Value, m.CI[0], m.CI[1])
	// Output: 0.60, 0.40 to 0.80
}

func TestWilson(t *testing.T) {
	for _, c := range []struct {
		k, n   int
		lo, hi float64
	}{
		{0, 0, 0, 1},
		{0, 10, 0, 0.2775},
		{10, 10, 0.7225, 1},
		{81, 263, 0.2553, 0.3662}, // Newcombe 1998, table I, method 3
		{15, 148, 0.0624, 0.1605}, // the same
		{0, 20, 0, 0.1611},        // the same
		{1, 29, 0.0061, 0.1718},   // the same
		{41, 60, 0.5576, 0.7869},
	} {
		if ci := Wilson(c.k, c.n); math.Abs(ci[0]-c.lo) > 1e-4 || math.Abs(ci[1]-c.hi) > 1e-4 {
			t.Errorf("%d of %d: got %v, want %v to %v", c.k, c.n, ci, c.lo, c.hi)
		}
	}
}

// TestWilsonSolvesTheScoreEquation: the interval's ends solve (p−π)² = z²·π(1−π)/n.
func TestWilsonSolvesTheScoreEquation(t *testing.T) {
	for n := 1; n < 60; n++ {
		for k := 0; k <= n; k++ {
			p := float64(k) / float64(n)
			for _, end := range Wilson(k, n) {
				left, right := (p-end)*(p-end), Z95*Z95*end*(1-end)/float64(n)
				if math.Abs(left-right) > 1e-12 {
					t.Fatalf("Wilson(%d, %d): at %v: (p−π)² = %v, z²π(1−π)/n = %v", k, n, end, left, right)
				}
			}
		}
	}
}

func TestClustered(t *testing.T) {
	for _, c := range []struct {
		name     string
		clusters []Cluster
		want     [2]float64
	}{
		{"none", nil, [2]float64{0, 1}},
		{"one", []Cluster{{8, 10}}, [2]float64{0, 1}},
		{"one, and one of nothing", []Cluster{{8, 10}, {0, 0}}, [2]float64{0, 1}},
	} {
		if got := Clustered(c.clusters); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
	// Two clusters, one all hits and one none: deff is 100, and t(0.975, 1) = 12.706.
	got, want := Clustered([]Cluster{{50, 50}, {0, 50}}), Score(0.5, math.Pow(Z95/12.7062, 2))
	if math.Abs(got[0]-want[0]) > 1e-4 || math.Abs(got[1]-want[1]) > 1e-4 {
		t.Errorf("got %v, want %v", got, want)
	}
	// If all draws are hits, each cluster counts as one draw.
	if got := Clustered([]Cluster{{50, 50}, {30, 30}, {9, 9}}); got[1] != 1 || got[0] > Wilson(3, 3)[0] {
		t.Errorf("of hits alone: %v", got)
	}
}

// TestClusteredHolds: coverage for sites that differ, even if a few have half of the pages; an
// interval for independent pages would hold at most half the time.
func TestClusteredHolds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, of := range []struct{ sites, large int }{{4, 0}, {10, 0}, {30, 0}, {40, 6}} {
		const runs = 1000
		held, naive := 0, 0
		for range runs {
			var sites []Cluster
			hits, pages := 0, 0
			for i := range of.sites {
				c := Cluster{Of: 20}
				switch {
				case i < of.large:
					c.Of = 30
				case of.large > 0:
					c.Of = 3
				}
				p := 0.5 + 0.5*(rng.Float64()+rng.Float64()-1) // mean .5
				for range c.Of {
					if rng.Float64() < p {
						c.Hits++
					}
				}
				sites, hits, pages = append(sites, c), hits+c.Hits, pages+c.Of
			}
			holds := func(ci [2]float64) int {
				if ci[0] <= 0.5 && 0.5 <= ci[1] {
					return 1
				}
				return 0
			}
			held += holds(Clustered(sites))
			naive += holds(Wilson(hits, pages))
		}
		if held < 0.92*runs || held > 0.99*runs || naive > 0.8*runs {
			t.Errorf("%+v: %d of %d hold, of independent pages %d", of, held, runs, naive)
		}
	}
}

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
