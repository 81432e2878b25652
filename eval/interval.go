package eval

import "fossick/internal/stats"

// Interval is a 95 % confidence interval; in JSON [lo, hi].
type Interval [2]float64

// share returns k/n, nil when n is 0.
func share(k, n int) *float64 {
	if n == 0 {
		return nil
	}
	s := float64(k) / float64(n)
	return &s
}

// batches is how many runs of pages a crawl is cut into.
const batches = 10

// harvestCI is the 95 % interval of the harvest that crawls like this one have. Pages come in
// runs, a good site and then a bad one. So the draws are batches of pages that were
// fetched one after the other (Law & Kelton, Simulation Modeling and Analysis, 9.5.3). Of
// less pages than batches each is a draw. It is nil of no page.
func harvestCI(n int, relevant func(i int) bool) *Interval {
	if n == 0 {
		return nil
	}
	k := min(n, batches)
	in := make([]stats.Cluster, k)
	hits := 0
	for i := range n {
		b := &in[i*k/n]
		if b.Of++; relevant(i) {
			b.Hits++
			hits++
		}
	}
	if hits == 0 || hits == n || n == 1 {
		ci := Interval(stats.Wilson(hits, n))
		return &ci
	}
	ci := Interval(stats.Clustered(in))
	return &ci
}
