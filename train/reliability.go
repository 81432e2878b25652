package train

import (
	"math"

	"fossick/internal/stats"
)

// bins is how many equal parts of [0,1] a reliability curve has.
const bins = 10

// Reliability says whether probabilities can be taken at their word: of the pages
// that a model was 80 % sure of, are 80 % right?
type Reliability struct {
	// ECE is the expected calibration error (Naeini et al. 2015; Guo et al. 2017),
	// a share in [0,1]: Σ_b n_b/n · |right_b − mean_b|.
	ECE float64 `json:"ece"`

	// Over is how much surer the model is than it should be, on average: the mean
	// probability less the accuracy. Negative: less sure.
	Over float64 `json:"over"`

	Bins []Bin `json:"bins"` // those that have pages, rising
}

// Bin is the pages whose label has a probability in [From, To).
type Bin struct {
	From  float64    `json:"from"`
	To    float64    `json:"to"`
	Pages int        `json:"pages"`
	Mean  float64    `json:"mean"`  // of the probabilities
	Right float64    `json:"right"` // share of right labels
	CI    [2]float64 `json:"ci"`    // of Right, 95 %, Wilson's
}

// measureReliability compares the probabilities of the labels that pages got, in
// [0,1], with whether they are right; both by page. Without pages it has no bins
// and all is 0. On held-out pages that calibration used it is a little too kind.
func measureReliability(probs []float64, right []bool) Reliability {
	var hits, pages [bins]int
	var sums [bins]float64
	for i, p := range probs {
		b := min(bins-1, max(0, int(p*bins)))
		pages[b]++
		sums[b] += p
		if right[i] {
			hits[b]++
		}
	}
	var r Reliability
	for b, n := range pages {
		if n == 0 {
			continue
		}
		bin := Bin{
			From: float64(b) / bins, To: float64(b+1) / bins, Pages: n,
			Mean: sums[b] / float64(n), Right: float64(hits[b]) / float64(n), CI: stats.Wilson(hits[b], n),
		}
		share := float64(n) / float64(len(probs))
		r.ECE += share * math.Abs(bin.Right-bin.Mean)
		r.Over += share * (bin.Mean - bin.Right)
		r.Bins = append(r.Bins, bin)
	}
	return r
}
