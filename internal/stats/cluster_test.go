package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

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
