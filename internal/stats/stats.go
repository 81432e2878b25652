// Package stats has the statistics that several measures share.
//
// In: independent draws. Out: their mean, or a share of them, with its 95 % interval.
// Start with MeanOf and Wilson.
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
