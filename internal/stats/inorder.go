package stats

import "gonum.org/v1/gonum/stat/distuv"

// batches is how many runs of draws InOrder compares. It was chosen on two topics of
// which docs/data/coverage.tsv gives no figure: of 6, 7 and 10 the first held 90 of 100.
const batches = 6

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
	const k = batches
	hits := 0
	var in, of [k]float64
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
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: k - 2}.Quantile(0.975)
	draws := float64(n) / max(1, variance*float64(n)/(p*(1-p)))
	return Score(p, draws*Z95*Z95/(t*t))
}
