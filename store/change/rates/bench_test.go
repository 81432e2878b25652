package rates

import (
	"slices"
	"testing"
)

// BenchmarkEstimate: a page with ten irregular intervals.
func BenchmarkEstimate(b *testing.B) {
	w := plan{spread: "power law", how: "poisson", n: 10, jitter: true, pages: 1000}.draw()
	m := Learn(slices.Values(w.pages))
	e, err := New("", m)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		e.Estimate(w.pages[i%len(w.pages)])
	}
}

// BenchmarkLearn: as many pages as a fit has at most, ten irregular intervals each.
func BenchmarkLearn(b *testing.B) {
	w := plan{spread: "power law", how: "poisson", n: 10, jitter: true, pages: sampled}.draw()
	b.ReportAllocs()
	for b.Loop() {
		Learn(slices.Values(w.pages))
	}
}
