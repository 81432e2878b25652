package change

import (
	"math"
	"math/rand/v2"
)

// learner estimates rates from visits and from the population of pages, a distribution of any shape
// over rates (empirical Bayes). It starts with all magnitudes equally likely.
//
// A page gets the visits that are worth their price in expectation over its possible rates. That
// includes exploration: a page that may be slow is worth a visit.
type learner struct {
	population belief
	sample     []int32 // random visited pages
	seen       int     // number of pages visited
}

// Parameters of the estimate of the population.
const (
	steps      = 40  // of expectation maximisation, from the last estimate on
	priorPages = 1.0 // weight in pages of the uniform prior
)

func newLearner() *learner {
	l := &learner{}
	for k := range l.population {
		l.population[k] = 1.0 / rates
	}
	return l
}

// note samples pages at their first visit, with equal chances for all (reservoir sampling).
func (l *learner) note(page int32, rng *rand.Rand) {
	l.seen++
	if len(l.sample) < sampled {
		l.sample = append(l.sample, page)
	} else if at := rng.IntN(l.seen); at < sampled {
		l.sample[at] = page
	}
}

// fit estimates the population: the rates that make the sample's visits most likely.
func (l *learner) fit(of func(page int32) visitSums) {
	if len(l.sample) == 0 {
		return
	}
	flat := belief{}
	for k := range flat {
		flat[k] = 1
	}
	likely := make([]belief, len(l.sample))
	for i, page := range l.sample {
		likely[i] = flat.times(of(page))
	}
	for range steps {
		l.population = emStep(l.population, likely)
	}
}

func emStep(population belief, likely []belief) (next belief) {
	for k := range next {
		next[k] = priorPages / rates
	}
	for i := range likely {
		var b belief
		sum := 0.0
		for k := range b {
			b[k] = population[k] * likely[i][k]
			sum += b[k]
		}
		for k := range b {
			next[k] += b[k] / sum
		}
	}
	for k := range next {
		next[k] /= float64(len(likely)) + priorPages
	}
	return next
}

func (l *learner) visits(price, weight float64, e visitSums) float64 {
	b := l.population
	if e.visits > 0 {
		b = b.times(e)
	}
	return b.visits(price, weight)
}

// visitSums summarises the visits to one page in 16 bytes: their number, and the sum of the gaps
// before them in days. Gaps with a change form two groups of similar lengths, since a change within
// an hour means something else than one within a month.
type visitSums struct {
	unchanged float32
	changed   [2]float32
	visits    uint8
	changes   [2]uint8
}

// add notes a visit, gap days after the previous one. A full counter halves all of them.
func (e *visitSums) add(gap float64, changed bool) {
	if e.visits == math.MaxUint8 {
		*e = visitSums{e.unchanged / 2, [2]float32{e.changed[0] / 2, e.changed[1] / 2}, e.visits / 2, [2]uint8{e.changes[0] / 2, e.changes[1] / 2}}
	}
	if e.visits++; !changed {
		e.unchanged += float32(gap)
		return
	}
	g := e.group(gap)
	e.changes[g]++
	e.changed[g] += float32(gap)
}

// group returns the group with the nearer mean gap; a far gap starts the second group.
func (e *visitSums) group(gap float64) int {
	const far = 2
	first, second := e.ratio(0, gap), e.ratio(1, gap)
	if first <= far || e.changes[0] == 0 || e.changes[1] > 0 && first <= second {
		return 0
	}
	return 1
}

func (e *visitSums) ratio(group int, gap float64) float64 {
	r := gap * float64(e.changes[group]) / float64(e.changed[group])
	return max(r, 1/r)
}

func (e *visitSums) found() int { return int(e.changes[0]) + int(e.changes[1]) }

// rate estimates the changes per day, treating uneven intervals as even ones; NaN without visits.
//
//	−ln((visits − changes + ½)/(visits + 1)) / interval
//
// Cho and Garcia-Molina (Estimating frequency of change, TOIT 3(3), 2003) divide by visits + ½.
// Theirs is 0 for a page never seen to change, and a policy that believes it never visits the page
// again. So half a visit of each kind is added here.
func (e *visitSums) rate() float64 {
	n, x := float64(e.visits), float64(e.found())
	return -math.Log((n-x+0.5)/(n+1)) * n / float64(e.unchanged+e.changed[0]+e.changed[1])
}

// A page's possible rates, four per decade, range from one change in 3,200 days to one in five
// minutes; the intervals between visits, eight per decade, from a minute to 10,000 days.
const (
	rates     = 25
	intervals = 57
)

var (
	rateGrid     = logarithmic(rates, -3.5, 0.25)
	intervalGrid = logarithmic(intervals, -3, 0.125)
	// worth[j][k] is the gain of a page of weight 1 and rate k from one more daily visit at
	// interval j.
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

// logarithmic returns n numbers whose decimal logarithms start at from, step apart.
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

type belief [rates]float64

// times returns the posterior belief after visits to a page (Bayes). Visits without a change have
// likelihood e^−rate·days, those with one 1 − e^−rate·gap each, with the mean gap of the group.
func (b *belief) times(e visitSums) (after belief) {
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

func (e visitSums) likelihoods() (logs belief) {
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

// addChanged adds n·ln(1 − e^−rate·gap) for each rate; all rates interpolate the table alike.
func addChanged(logs *belief, n, gap float64) {
	place := (math.Log10(gap*rateGrid[0]) + changedFrom) * perDecade
	place = min(max(place, 0), float64(len(changedLog)-2-perRate*(rates-1)))
	first, part := math.Modf(place)
	for k := range logs {
		m := int(first) + perRate*k
		logs[k] += n * (changedLog[m] + part*(changedLog[m+1]-changedLog[m]))
	}
}

// gain returns the expected gain from one more visit a day to a page of weight 1, at interval j.
func (b *belief) gain(j int) (sum float64) {
	for k, w := range &worth[j] {
		sum += w * b[k]
	}
	return sum
}

// visits returns the visits per day at which one more is expected to be worth the price, for a page
// of some weight; 0 if none is. It interpolates between intervals of the grid.
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
