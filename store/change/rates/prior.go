package rates

import "math"

// Before its visits are looked at, a page's log λ is a sum: a mean, an effect of each part of
// its group, and a rest of its own. Effects of one part are normal
// around 0; the rest is a mixture of normal distributions. What is not known well widens it.

const (
	firstMean   = -2.302585092994046 // without any page: one change in ten days,
	firstSpread = 1.5                // 95 % of pages between half a day and half a year
	meanSpread  = 2.0                // standard deviation of the mean, before any page
)

// factors are the parts of a group.
const factors = 4

// parts are the levels that a group has of each factor.
func (g Group) parts() [factors]any { return [factors]any{g.Kind, g.Depth, g.Site, g.Topic} }

// effect is what one level of a factor adds to log λ, and its variance.
type effect struct{ shift, variance float64 }

// factor is a part of groups.
type factor struct {
	variance float64 // between levels
	levels   map[any]effect
}

// bell is a normal distribution with a weight.
type bell struct{ weight, mean, variance float64 }

// prior is the distribution of log λ.
type prior struct {
	mean    effect
	factors [factors]factor
	rest    []bell
}

// firstPrior is that without any page.
func firstPrior() prior {
	return prior{mean: effect{firstMean, 0}, rest: []bell{{1, 0, firstSpread * firstSpread}}}
}

// of returns the distribution of log λ of the pages of a group.
func (p *prior) of(g Group) []bell {
	shift, variance := p.mean.shift, p.mean.variance
	for i, level := range g.parts() {
		f := &p.factors[i]
		if u, known := f.levels[level]; known {
			shift += u.shift
			variance += u.variance
		} else {
			variance += f.variance
		}
	}
	bells := make([]bell, len(p.rest))
	for i, b := range p.rest {
		bells[i] = bell{b.weight, b.mean + shift, b.variance + variance}
	}
	return bells
}

// log is the logarithm of a mixture's density.
func logDensity(bells []bell, z float64) float64 {
	sum := 0.0
	for _, b := range bells {
		d := z - b.mean
		sum += b.weight / math.Sqrt(2*math.Pi*b.variance) * math.Exp(-d*d/(2*b.variance))
	}
	return math.Log(sum)
}
