package rates

import "math"

// The rest of log λ is a mixture of as many normal distributions as the pages call for:
// rates of the web have tails that no single one has.

const (
	mostBells  = 5
	bellRounds = 200
	leastBell  = .02 // standard deviation; narrower is not told apart
)

// prior runs the fit and returns what came of it.
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

// shape fits mixtures of more and more normal distributions, and takes the last that
// Akaike's information criterion (1974) finds worth its three parameters.
func (f *fit) shape() []bell {
	best := []bell{{1, 0, f.spread * f.spread}}
	g := newGrid(f)
	score := g.climb(best)
	const price = 3 // a parameter each
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

// split returns the mixture with its heaviest part cut in two.
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

// grid has the likelihood of each page at equal steps of the rest.
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

// climb fits a mixture, in place, by expectation maximisation, and returns its log
// likelihood.
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

// density is the mixture's at each step, times the width.
func (g *grid) density(bells []bell) []float64 {
	density := make([]float64, len(g.at))
	for j, r := range g.at {
		density[j] = math.Exp(logDensity(bells, r))*g.width + 1e-300
	}
	return density
}

// mass returns the log likelihood of a density, and the sum over pages of likelihood by
// marginal likelihood, at each step: times the density, it is the pages that are there.
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

// move gives each part of a mixture the weight, mean and variance of the pages it has.
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
		if n < 1 { // too few to move it
			bells[i].weight = n / float64(len(g.rows))
			continue
		}
		mean := first / n
		bells[i] = bell{n / float64(len(g.rows)), mean, max(second/n-mean*mean, leastBell*leastBell)}
	}
}
