package change

import (
	"math"
)

// Each page's log likelihood is a table over log λ with this step, linear in between.
const step = .1

var (
	tableLo = math.Log(leastRate)
	tableN  = int((math.Log(mostRate)-math.Log(leastRate))/step) + 1
)

const (
	loops = 16
	// sureMost limits a page's weight to that of some 400 changes; more would only add rounding.
	sureMost = 400
	// The prior of log spread is normal around log firstSpread with this deviation.
	spreadSpread = .7
)

type fitted struct {
	levels [factors]int // index of its level in each factor
	table  []float64    // log likelihood, with maximum 0
	centre float64      // of its prior: mean plus effects

	response, weight float64 // estimate of log λ from the page alone, and its precision
}

type fit struct {
	pages   []fitted
	numbers [factors]map[any]int
	effects [factors][]effect
	between [factors]float64 // variance of effects
	mean    effect
	spread  float64 // standard deviation of the rest
	stretch float64 // ratio of the true spread to that around the fitted effects
}

func newFit() *fit {
	f := &fit{spread: firstSpread, mean: effect{firstMean, meanSpread * meanSpread}}
	for i := range f.numbers {
		f.numbers[i], f.between[i] = map[any]int{}, .25
	}
	return f
}

func (f *fit) add(g Group, e evidence) {
	if e.empty() {
		return
	}
	p := fitted{table: make([]float64, tableN)}
	for i, level := range g.parts() {
		n, known := f.numbers[i][level]
		if !known {
			n = len(f.effects[i])
			f.numbers[i][level] = n
			f.effects[i] = append(f.effects[i], effect{})
		}
		p.levels[i] = n
	}
	top := math.Inf(-1)
	for i := range p.table {
		p.table[i] = e.log(tableLo + step*float64(i))
		top = max(top, p.table[i])
	}
	for i := range p.table {
		p.table[i] = max(p.table[i]-top, -700)
	}
	f.pages = append(f.pages, p)
}

// at returns the log likelihood at log λ = z.
func (p *fitted) at(z float64) float64 {
	x := min(max((z-tableLo)/step, 0), float64(tableN-2))
	i := int(x)
	return p.table[i] + (x-float64(i))*(p.table[i+1]-p.table[i])
}

// moments returns the log marginal likelihood, and the posterior mean and variance, of the rest.
func (p *fitted) moments(spread float64) (log, mean, variance float64) {
	width := min(step, spread/4)
	n := int(6*spread/width) + 1
	var sum, first, second float64
	for i := -n; i <= n; i++ {
		r := float64(i) * width
		w := math.Exp(p.at(p.centre+r) - r*r/(2*spread*spread))
		sum += w
		first += w * r
		second += w * r * r
	}
	if sum == 0 { // the page contradicts the prior beyond the range of numbers
		return -700, 0, spread * spread
	}
	mean = first / sum
	return math.Log(sum * width / (spread * math.Sqrt(2*math.Pi))), mean, second/sum - mean*mean
}

// run fits mean, effects and spread. In each loop every page gives a response and a weight, from
// one step of Newton's method. The effects then follow from a linear model with random effects
// (Henderson), one factor after the other.
func (f *fit) run() {
	for loop := range loops {
		f.place()
		f.respond()
		f.refit()
		if loop%5 == 2 {
			f.place()
			f.spread = f.widen(true, .1)
		}
	}
	f.place()
	f.spread = f.widen(true, .02)
	f.stretch = max(1, f.spread/f.widen(false, .02))
}

func (f *fit) place() {
	for i := range f.pages {
		p := &f.pages[i]
		p.centre = f.mean.shift
		for k, n := range p.levels {
			p.centre += f.effects[k][n].shift
		}
	}
}

// respond sets each page's response and weight. If s² is the rest's prior variance, d its posterior
// mean and v its posterior variance, the marginal likelihood has slope d/s² and curvature
// −(1−v/s²)/s².
func (f *fit) respond() {
	s2 := f.spread * f.spread
	for i := range f.pages {
		p := &f.pages[i]
		_, d, v := p.moments(f.spread)
		p.weight = min(max((1-v/s2)/s2, 1e-9), sureMost)
		// A page with little evidence must not throw its response far off.
		p.response = p.centre + min(max(d/(s2*p.weight), -20), 20)
	}
}

func (f *fit) refit() {
	sum, weight := firstMean/(meanSpread*meanSpread), 1/(meanSpread*meanSpread)
	for i := range f.pages {
		p := &f.pages[i]
		sum += p.weight * (p.response - p.centre + f.mean.shift)
		weight += p.weight
	}
	for i := range f.pages {
		f.pages[i].centre += sum/weight - f.mean.shift
	}
	f.mean = effect{sum / weight, 1 / weight}
	for k := range f.effects {
		f.refitFactor(k)
	}
}

func (f *fit) refitFactor(k int) {
	levels := f.effects[k]
	sums, weights := make([]float64, len(levels)), make([]float64, len(levels))
	for i := range f.pages {
		p := &f.pages[i]
		n := p.levels[k]
		sums[n] += p.weight * (p.response - p.centre + levels[n].shift)
		weights[n] += p.weight
	}
	moved := make([]float64, len(levels))
	squares := 0.0
	for n := range levels {
		w := weights[n] + 1/f.between[k]
		moved[n] = sums[n]/w - levels[n].shift
		levels[n] = effect{sums[n] / w, 1 / w}
		squares += levels[n].shift*levels[n].shift + 1/w
	}
	if len(levels) > 0 {
		f.between[k] = max(squares/float64(len(levels)), 1e-6)
	}
	for i := range f.pages {
		f.pages[i].centre += moved[f.pages[i].levels[k]]
	}
}

// widen finds the spread of the rest by golden section over its logarithm, to the tolerance near.
func (f *fit) widen(restricted bool, near float64) float64 {
	const golden = .6180339887498949
	lo, hi := math.Log(.03), math.Log(5)
	a, b := hi-golden*(hi-lo), lo+golden*(hi-lo)
	va, vb := f.score(a, restricted), f.score(b, restricted)
	for hi-lo > near {
		if va > vb {
			hi, b, vb = b, a, va
			a = hi - golden*(hi-lo)
			va = f.score(a, restricted)
		} else {
			lo, a, va = a, b, vb
			b = lo + golden*(hi-lo)
			vb = f.score(b, restricted)
		}
	}
	return math.Exp((lo + hi) / 2)
}

// score is the penalised log likelihood of log spread. Pages lie too close around effects fitted to
// them. The restricted likelihood corrects that: it integrates the effects out by Laplace's method,
// −½ log of each one's information (Patterson and Thompson 1971), as if they were independent.
func (f *fit) score(x float64, restricted bool) float64 {
	d := (x - math.Log(firstSpread)) / spreadSpread
	sum, spread := -d*d/2, math.Exp(x)
	var known [factors][]float64
	for k := range known {
		known[k] = make([]float64, len(f.effects[k]))
	}
	for i := range f.pages {
		p := &f.pages[i]
		log, _, v := p.moments(spread)
		sum += log
		for k, n := range p.levels {
			known[k][n] += (1 - v/(spread*spread)) / (spread * spread)
		}
	}
	if !restricted {
		return sum
	}
	for k := range known {
		for _, w := range known[k] {
			sum -= math.Log(max(w, 0)+1/f.between[k]) / 2
		}
	}
	return sum
}

// The rest of log λ is a mixture of normal distributions, as rates on the web have long tails.

const (
	mostBells  = 5
	bellRounds = 200
	leastBell  = .02 // least standard deviation; narrower ones cannot be distinguished
)

func (f *fit) prior() prior {
	p := firstPrior()
	if len(f.pages) == 0 {
		return p
	}
	f.run()
	p.mean, p.rest = f.mean, f.shape()
	for k := range f.effects {
		levels := make(map[any]effect, len(f.effects[k]))
		for level, n := range f.numbers[k] {
			levels[level] = f.effects[k][n]
		}
		p.factors[k] = factor{f.between[k], levels}
	}
	return p
}

// shape fits mixtures of ever more normal distributions, and returns the last whose three further
// parameters Akaike's information criterion (1974) justifies.
func (f *fit) shape() []bell {
	best := []bell{{1, 0, f.spread * f.spread}}
	g := newGrid(f)
	score := g.climb(best)
	const price = 3 // one per parameter
	for len(best) < mostBells {
		next := split(best)
		now := g.climb(next)
		if now < score+price {
			break
		}
		best, score = next, now
	}
	for i, b := range best {
		best[i] = bell{b.weight, b.mean * f.stretch, b.variance * f.stretch * f.stretch}
	}
	return best
}

func split(bells []bell) []bell {
	next := append([]bell(nil), bells...)
	heavy := 0
	for i, b := range next {
		if b.weight*math.Sqrt(b.variance) > next[heavy].weight*math.Sqrt(next[heavy].variance) {
			heavy = i
		}
	}
	b := next[heavy]
	off := .8 * math.Sqrt(b.variance)
	next[heavy] = bell{b.weight / 2, b.mean - off, b.variance * .36}
	return append(next, bell{b.weight / 2, b.mean + off, b.variance * .36})
}

type grid struct {
	at    []float64
	width float64
	rows  [][]float64
}

func newGrid(f *fit) *grid {
	g := &grid{width: min(step, f.spread/4)}
	n := int((6*f.spread + 2) / g.width)
	n = min(n, 200)
	for i := -n; i <= n; i++ {
		g.at = append(g.at, float64(i)*g.width)
	}
	for i := range f.pages {
		p := &f.pages[i]
		row := make([]float64, len(g.at))
		for j, r := range g.at {
			row[j] = math.Exp(p.at(p.centre + r))
		}
		g.rows = append(g.rows, row)
	}
	return g
}

// climb fits a mixture in place by expectation maximisation and returns its log likelihood.
func (g *grid) climb(bells []bell) (score float64) {
	for range bellRounds {
		density := g.density(bells)
		now, mass := g.mass(density)
		g.move(bells, mass)
		if math.Abs(now-score) < 1e-3 {
			return now
		}
		score = now
	}
	return score
}

func (g *grid) density(bells []bell) []float64 {
	density := make([]float64, len(g.at))
	for j, r := range g.at {
		density[j] = math.Exp(logDensity(bells, r))*g.width + 1e-300
	}
	return density
}

// mass returns the log likelihood of a density and, at each step, the sum over pages of likelihood
// divided by marginal likelihood; times the density, that is the expected number of pages.
func (g *grid) mass(density []float64) (score float64, mass []float64) {
	mass = make([]float64, len(g.at))
	for _, row := range g.rows {
		sum := 1e-300
		for j, l := range row {
			sum += l * density[j]
		}
		score += math.Log(sum)
		for j, l := range row {
			mass[j] += l / sum
		}
	}
	return score, mass
}

func (g *grid) move(bells []bell, mass []float64) {
	for i, b := range bells {
		var n, first, second float64
		one := []bell{b}
		for j, r := range g.at {
			here := math.Exp(logDensity(one, r)) * g.width * mass[j]
			n += here
			first += here * r
			second += here * r * r
		}
		if n < 1 { // too few pages to move it
			bells[i].weight = n / float64(len(g.rows))
			continue
		}
		mean := first / n
		bells[i] = bell{n / float64(len(g.rows)), mean, max(second/n-mean*mean, leastBell*leastBell)}
	}
}
