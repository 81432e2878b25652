package train

import (
	"math"
	"slices"
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
	CI    [2]float64 `json:"ci"`    // of Right, 95 %
}

// measureReliability compares the probabilities of the labels that pages got with whether
// they are right. Without pages it has no bins and all is 0. On held-out pages that
// calibration used it is a little too kind.
func measureReliability(pages []Judged) Reliability {
	in := func(p Judged) int { return min(bins-1, max(0, int(p.Score*bins))) }
	var count [bins]int
	for _, p := range pages {
		count[in(p)]++
	}
	// Page numbers, not pages: a large set's last bin holds nearly all of them.
	inside := make([]int32, 0, slices.Max(count[:]))
	var r Reliability
	for b := range bins {
		if count[b] == 0 {
			continue
		}
		inside = inside[:0]
		for i, p := range pages {
			if in(p) == b {
				inside = append(inside, int32(i))
			}
		}
		n := float64(len(inside))
		bin := Bin{From: float64(b) / bins, To: float64(b+1) / bins, Pages: len(inside)}
		bin.CI = rightCI(len(inside), func(i int) string { return pages[inside[i]].Site }, func(i int) bool { return pages[inside[i]].right() })
		for _, i := range inside {
			if bin.Mean += pages[i].Score / n; pages[i].right() {
				bin.Right += 1 / n
			}
		}
		share := n / float64(len(pages))
		r.ECE += share * math.Abs(bin.Right-bin.Mean)
		r.Over += share * (bin.Mean - bin.Right)
		r.Bins = append(r.Bins, bin)
	}
	return r
}
