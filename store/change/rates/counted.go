package rates

import (
	"math"

	"fossick/internal/stats"
)

// tally counts what the plain estimators go by: intervals, changes seen, days.
func tally(visits []Interval) (n, changed int, days float64) {
	for _, v := range visits {
		if !positive(v.Days) {
			continue
		}
		n++
		days += bounded(v.Days)
		if v.Changed {
			changed++
		}
	}
	return n, changed, days
}

// naive is X/T: changes seen by days watched (paper E6: the change interval is T/X).
// It is too low, as several changes between two visits are seen as one. Its interval takes
// X for a Poisson count (Garwood 1936), by Wilson and Hilferty's approximation.
func naive(_ *Model, p Page) Estimate {
	n, changed, days := tally(p.Visits)
	if n == 0 {
		return within(0, 0, MostRate)
	}
	x := float64(changed)
	return within(x/days, chiSquare(x, -stats.Z95)/days, chiSquare(x+1, stats.Z95)/days)
}

// chiSquare is about the quantile, at z standard deviations, of a gamma distribution of
// shape k and scale 1: half of a χ² of 2k degrees of freedom.
func chiSquare(k, z float64) float64 {
	if k == 0 {
		return 0
	}
	root := 1 - 1/(9*k) + z/(3*math.Sqrt(k))
	return k * max(0, root*root*root)
}

// corrected is the estimator without most of that bias (CGM, the improved estimator), for visits at
// intervals of the mean length I:
//
//	−log((n − X + .5) / (n + .5)) / I
//
// Its interval is Wilson's of the share X/n, put through −log(1−p)/I.
func corrected(_ *Model, p Page) Estimate {
	n, changed, days := tally(p.Visits)
	if n == 0 {
		return within(0, 0, MostRate)
	}
	gap := days / float64(n)
	rate := -math.Log((float64(n-changed)+.5)/(float64(n)+.5)) / gap
	ci := stats.Wilson(changed, n)
	return within(rate, -math.Log1p(-ci[0])/gap, -math.Log1p(-ci[1])/gap)
}
