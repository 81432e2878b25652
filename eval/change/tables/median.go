package tables

import (
	"math"
	"slices"

	"fossick/store/change/rates"
)

// pace gathers the rates of a group's pages.
type pace struct {
	logs     []float32 // logarithms of rates
	variance float64   // sum of their variances
}

func (p *pace) add(e rates.Estimate) {
	d := deviation(e)
	p.logs = append(p.logs, float32(math.Log(max(e.Rate, leastRate))))
	p.variance += d * d
}

func (p *pace) join(o *pace) {
	p.logs = append(p.logs, o.logs...)
	p.variance += o.variance
}

// interval is how many days lie between two changes of the page in the middle: one by the
// median of the pages' rates. nil where no rate is known.
//
// Estimates are drawn together by what the pages have in common, so they err together. With
// their variance s and the mean of their own variances v, true rates have s + v (law of total
// variance), and what visits alone tell has (s+v)²/s. A median of n pages has π/2 times that
// by n (of a normal sample); where pages tell nothing, at most the variance of one, s + v.
func (p *pace) interval() (days *float64, ci *[2]float64) {
	n := float64(len(p.logs))
	if n == 0 {
		return nil, nil
	}
	slices.Sort(p.logs)
	middle := (float64(p.logs[(len(p.logs)-1)/2]) + float64(p.logs[len(p.logs)/2])) / 2
	mean, squares := 0., 0.
	for _, z := range p.logs {
		mean += float64(z) / n
	}
	for _, z := range p.logs {
		squares += (float64(z) - mean) * (float64(z) - mean)
	}
	spread := 0.
	if n > 1 {
		spread = squares / (n - 1)
	}
	all := spread + p.variance/n
	half := z95 * math.Sqrt(all*min(math.Pi/2*all/(n*spread), 1))
	x := math.Exp(-middle)
	return &x, &[2]float64{x * math.Exp(-half), x * math.Exp(half)}
}
