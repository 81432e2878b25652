// Package stats has the statistics that several measures share.
//
// In: independent draws, draws in clusters, or draws in their order. Out: their mean, or a share of
// them, with its 95 % interval. Start with MeanOf and Wilson.
package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Fewest is of how many draws an interval or a test is given at least: fewer do not tell
// how far others would lie apart.
const Fewest = 5

// Mean is a mean with its 95 % interval by Student's t. It is nil of fewer than Fewest
// draws, and where all are the same: neither tells how far others would lie apart.
type Mean struct {
	Value float64
	CI    *[2]float64
}

// MeanOf returns the mean of x and m ± t(0.975, n−1) · s / √n; NaN of nothing.
func MeanOf(x []float64) Mean {
	m := Mean{Value: stat.Mean(x, nil)}
	if len(x) >= Fewest && !Alike(x) {
		n := float64(len(x))
		half := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.975) * stat.StdDev(x, nil) / math.Sqrt(n)
		m.CI = &[2]float64{m.Value - half, m.Value + half}
	}
	return m
}

// Within returns the mean of what cannot lie outside least and most: nor can its interval.
func (m Mean) Within(least, most float64) Mean {
	if m.CI != nil {
		m.CI = &[2]float64{max(least, m.CI[0]), min(most, m.CI[1])}
	}
	return m
}

// Alike says that all of x are the same, but for rounding, as one is by itself.
func Alike(x []float64) bool { return len(x) < 2 || slices.Max(x)-slices.Min(x) <= 1e-12 }

// Z95 is the two-sided 95 % quantile of the normal distribution.
const Z95 = 1.959963984540054

// Wilson returns the 95 % score interval of a share of k in n (Wilson 1927):
//
//	(p + z²/2n ± z·√(p(1−p)/n + z²/4n²)) / (1 + z²/n),  p = k/n
//
// It stays inside [0,1], and holds for small n and for shares near 0 and 1. Of
// nothing it is [0,1]. It takes the draws for independent; the pages of a crawl
// are not, so the interval speaks of this sample size, not of other crawls.
func Wilson(k, n int) [2]float64 {
	if n <= 0 {
		return [2]float64{0, 1}
	}
	return Score(float64(k)/float64(n), float64(n))
}

// Score is Wilson's interval of a share of so many draws, of which a part may count.
func Score(p, n float64) [2]float64 {
	if n <= 0 {
		return [2]float64{0, 1}
	}
	mid := p + Z95*Z95/(2*n)
	half := Z95 * math.Sqrt(p*(1-p)/n+Z95*Z95/(4*n*n))
	scale := 1 + Z95*Z95/n
	ci := [2]float64{(mid - half) / scale, (mid + half) / scale}
	if p == 0 {
		ci[0] = 0 // but for rounding it is
	}
	if p == 1 {
		ci[1] = 1
	}
	return ci
}

// Cluster is draws that came together, as the pages of a site do.
type Cluster struct{ Hits, Of int }

// Clustered returns the 95 % interval of a share of hits where whole clusters were drawn:
// Score's of so many draws as Effective says. Of one cluster it is [0,1].
func Clustered(clusters []Cluster) [2]float64 { return Score(Effective(clusters)) }

// Effective returns the share of hits, and how many independent draws would tell as much
// of it as the clusters do (Korn and Graubard 1998):
//
//	n* = n/deff · (z/t)²,  deff = n/(p(1−p)) · (k−1)/k · Σ ((hits_i − p·of_i) / (n − of_i))²
//
// deff, which is taken for 1 at least, is how many draws tell as much as one. Its variance
// is the jackknife's: what the share is without a cluster tells what that one weighs. t is
// Student's quantile for n²/Σ of_i² − 1 degrees of freedom, which are k − 1 where clusters
// are of one size; few large ones among many small tell less. Where all draws are hits, or
// none is, they do not show how clusters differ, and each counts as a draw, in
// proportion to its size. One cluster tells nothing.
func Effective(clusters []Cluster) (share, draws float64) {
	var hits, n, k, squares float64
	for _, c := range clusters {
		if of := float64(c.Of); of > 0 {
			hits, n, k, squares = hits+float64(c.Hits), n+of, k+1, squares+of*of
		}
	}
	if k == 0 {
		return 0, 0
	}
	p, alike := hits/n, n*n/squares // so many clusters of one size
	if k == 1 {
		return p, 0
	}
	draws = alike
	if hits > 0 && hits < n {
		variance := 0.0
		for _, c := range clusters {
			d := (float64(c.Hits) - p*float64(c.Of)) / (n - float64(c.Of))
			variance += d * d * (k - 1) / k
		}
		draws = n / max(1, n*variance/(p*(1-p)))
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: alike - 1}.Quantile(0.975)
	return p, draws * Z95 * Z95 / (t * t)
}

// batches is how many runs of draws InOrder compares, and fewBatches where there are fewer
// draws than fewDraws. They were chosen on two topics: of 6, 7 and 10 the first held 90 of
// 100; at 75 to 150 draws 4 held 96 of 105, 5 and 6 held 84 and 77 (webkb's courses).
const (
	batches    = 6
	fewBatches = 4
	fewDraws   = 200
)

// InOrder returns the 95 % interval of the share of hits that other runs of n draws would
// have, of which this one's came in the order given. Hits come in streaks, so that
// draws tell less than as many independent ones. So batches of draws that follow each other
// are compared (batch means: Law & Kelton, Simulation Modeling and Analysis, 9.5.3), few
// of them, as batches are to be longer than streaks. That hits grow rarer, or more
// frequent, from the first draw to the last is so in all runs. So what counts is how far
// batches lie off a straight line:
//
//	variance = Σ (share_b − line_b)² / ((k−2)·k),  with Student's t for k−2 degrees of freedom
//
// The interval is Score's, of as many draws as have this variance, n at most. Where all
// draws are hits or none is, or where there are too few for batches, it is Wilson's.
func InOrder(n int, hit func(i int) bool) [2]float64 {
	k := batches
	if n < fewDraws {
		k = fewBatches
	}
	hits := 0
	in, of := make([]float64, k), make([]float64, k)
	for i := range n {
		b := i * k / n
		if of[b]++; hit(i) {
			in[b]++
			hits++
		}
	}
	if hits == 0 || hits == n || n < 2*k {
		return Wilson(hits, n)
	}
	p := float64(hits) / float64(n)
	middle, along, square := float64(k-1)/2, 0.0, 0.0
	for b := range in {
		x := float64(b) - middle
		along, square = along+x*in[b]/of[b], square+x*x
	}
	variance := 0.0
	for b := range in {
		off := in[b]/of[b] - p - along/square*(float64(b)-middle)
		variance += off * off / float64((k-2)*k)
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(k - 2)}.Quantile(0.975)
	draws := float64(n) / max(1, variance*float64(n)/(p*(1-p)))
	return Score(p, draws*Z95*Z95/(t*t))
}
