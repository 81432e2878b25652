package revisit

import "math"

// Rates of change that a page may have, four a decade: from one change in 3,200 days to one in
// five minutes. Intervals between visits, eight a decade, from a minute to 10,000 days.
const (
	rates     = 25
	intervals = 57
)

var (
	rateGrid     = logarithmic(rates, -3.5, 0.25)
	intervalGrid = logarithmic(intervals, -3, 0.125)
	// worth[j][k] is what a page of weight 1 and rate k gains by a visit more a day, visits
	// coming at interval j (cho.go).
	worth = worths()
	// changedLog[m] is ln(1 − e^−x) at x = 10^(m/perDecade − changedFrom).
	changedLog = changedLogs()
)

const (
	perDecade   = 64
	perRate     = perDecade / 4
	changedFrom = 9
	changedTo   = 7
)

// logarithmic returns n numbers, the decimal logarithms of which begin at from, step apart.
func logarithmic(n int, from, step float64) []float64 {
	grid := make([]float64, n)
	for i := range grid {
		grid[i] = math.Pow(10, from+step*float64(i))
	}
	return grid
}

func worths() (w [intervals][rates]float64) {
	for j, interval := range intervalGrid {
		for k, rate := range rateGrid {
			w[j][k] = staleness(rate*interval) / rate
		}
	}
	return w
}

func changedLogs() []float64 {
	table := make([]float64, perDecade*(changedFrom+changedTo)+2)
	for m := range table {
		table[m] = math.Log(-math.Expm1(-math.Pow(10, float64(m)/perDecade-changedFrom)))
	}
	return table
}

// belief is the chance of each rate of rateGrid.
type belief [rates]float64

// times returns the belief after visits to a page (Bayes), where it holds before them. Visits
// that found no change tell e^−rate·days; those that found one 1 − e^−rate·gap each, with
// the mean gap of its group for each.
func (b *belief) times(e evidence) (after belief) {
	logs := e.likelihoods()
	most := math.Inf(-1)
	for k := range logs {
		if b[k] > 0 {
			most = max(most, logs[k])
		}
	}
	sum := 0.0
	for k := range logs {
		if d := logs[k] - most; d > -25 && b[k] > 0 {
			after[k] = b[k] * math.Exp(d)
			sum += after[k]
		}
	}
	for k := range after {
		after[k] /= sum
	}
	return after
}

// likelihoods returns the logarithm of the chance of what visits found, by rate.
func (e evidence) likelihoods() (logs belief) {
	for k := range logs {
		logs[k] = -rateGrid[k] * float64(e.unchanged)
	}
	for g, n := range e.changes {
		if n > 0 {
			addChanged(&logs, float64(n), float64(e.changed[g])/float64(n))
		}
	}
	return logs
}

// addChanged adds n·ln(1 − e^−rate·gap) for each rate. The rates are so many steps of the table
// apart, so that all lie alike between two of its places.
func addChanged(logs *belief, n, gap float64) {
	place := (math.Log10(gap*rateGrid[0]) + changedFrom) * perDecade
	place = min(max(place, 0), float64(len(changedLog)-2-perRate*(rates-1)))
	first, part := math.Modf(place)
	for k := range logs {
		m := int(first) + perRate*k
		logs[k] += n * (changedLog[m] + part*(changedLog[m+1]-changedLog[m]))
	}
}

// gain is what a page of weight 1 is expected to gain by a visit more a day, visits coming at
// interval j.
func (b *belief) gain(j int) (sum float64) {
	for k, w := range &worth[j] {
		sum += w * b[k]
	}
	return sum
}

// visits returns the visits a day at which another one is expected to be worth the price, for
// a page of some weight; 0 where none is. Between intervals of the grid it is taken for straight.
func (b *belief) visits(price, weight float64) float64 {
	if weight == 0 {
		return 0
	}
	price /= weight
	lo, hi := -1, intervals // gain(lo) < price ≤ gain(hi)
	below, above := 0.0, 0.0
	for hi-lo > 1 {
		j := (lo + hi) / 2
		if g := b.gain(j); g < price {
			lo, below = j, g
		} else {
			hi, above = j, g
		}
	}
	switch {
	case hi == intervals:
		return 0
	case lo < 0:
		return 1 / intervalGrid[0]
	}
	part := (price - below) / (above - below)
	return (1-part)/intervalGrid[lo] + part/intervalGrid[hi]
}
