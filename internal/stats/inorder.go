package stats

import "gonum.org/v1/gonum/stat/distuv"

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
