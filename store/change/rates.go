package change

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"
)

// Interval is the time between two visits of a page.
type Interval struct {
	Days    float64 // ignored unless finite and above 0
	Changed bool    // the second visit found different content

	// Age is the days from the last change to the second visit, by Last-Modified; Told means that
	// it is known. A page seen once is an interval with Days 0 that is Changed and Told, since its
	// first content is a change too.
	Age  float64
	Told bool
}

// Group is what a page has in common with others. Pages with an equal part are assumed to change
// about equally often. An empty part is a value like any other.
type Group struct {
	Kind  string // link kind: the three letters of paper E6
	Depth int    // links from a seed
	Site  string // registrable domain
	Topic string // label
}

// Page is the observed history of a page's changes.
type Page struct {
	Host   string // its Last-Modified may or may not be believed
	Group  Group
	Visits []Interval
}

// Estimate is an estimate of how often a page changes.
type Estimate struct {
	Rate   float64 // changes per day, in [0, mostRate]
	Lo, Hi float64 // 95 % interval, 0 ≤ Lo ≤ Rate ≤ Hi ≤ mostRate
}

// leastRate and mostRate, in changes per day, are about once in 2,700 years and once a second.
const (
	leastRate = 1e-6
	mostRate  = 1e5
)

func within(rate, lo, hi float64) Estimate {
	rate = min(max(rate, 0), mostRate)
	return Estimate{rate, min(max(lo, 0), rate), max(min(hi, mostRate), rate)}
}

// sampled bounds the pages that the prior is fitted to; they are drawn at random. That bounds time
// (some seconds) and memory (20 MB); 4,096 pages determine a mean to 2 % of the spread.
const sampled = 4096

// Model is the prior of rates, and which hosts' Last-Modified is true. It is immutable.
type Model struct {
	truths truths
	prior  prior
}

func unlearned() *Model { return &Model{prior: firstPrior()} }

// Learn fits a model to pages, of which it holds some thousands; it is deterministic in their
// order.
func Learn(pages iter.Seq[Page]) *Model {
	m := unlearned()
	m.truths.hosts = map[string]Checks{}
	draw := rand.New(rand.NewPCG(1, 19))
	var sample []Page
	seen := 0
	for p := range pages {
		m.truths.take(p)
		seen++
		i := len(sample)
		if i < sampled {
			sample = append(sample, Page{})
		} else if i = draw.IntN(seen); i >= sampled {
			continue
		}
		p.Visits = slices.Clone(p.Visits) // the caller may reuse them for the next page
		sample[i] = p
	}
	m.truths.settle()
	f := newFit()
	for _, p := range sample {
		f.add(p.Group, evident(p.Visits, m.truths.believed(p.Host)))
	}
	m.prior = f.prior()
	return m
}

// A priori, a page's log λ is the sum of a mean, an effect of each part of its group, and a rest of
// its own. The effects of a part are normal around 0; the rest is a mixture of normal
// distributions. Uncertainty about the effects widens it.

const (
	firstMean   = -2.302585092994046 // a priori one change in ten days,
	firstSpread = 1.5                // 95 % of pages between half a day and half a year
	meanSpread  = 2.0                // prior standard deviation of the mean
)

const factors = 4

func (g Group) parts() [factors]any { return [factors]any{g.Kind, g.Depth, g.Site, g.Topic} }

// effect is the shift of log λ by one level of a factor, and its variance.
type effect struct{ shift, variance float64 }

type factor struct {
	variance float64 // between levels
	levels   map[any]effect
}

type bell struct{ weight, mean, variance float64 }

type prior struct {
	mean    effect
	factors [factors]factor
	rest    []bell
}

func firstPrior() prior {
	return prior{mean: effect{firstMean, 0}, rest: []bell{{1, 0, firstSpread * firstSpread}}}
}

// of returns the distribution of log λ for a group.
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

func logDensity(bells []bell, z float64) float64 {
	sum := 0.0
	for _, b := range bells {
		d := z - b.mean
		sum += b.weight / math.Sqrt(2*math.Pi*b.variance) * math.Exp(-d*d/(2*b.variance))
	}
	return math.Log(sum)
}

const (
	fewest = 64   // points of a posterior
	most   = 1024 // points if the prior is narrow
	drop   = 18   // a log density this far below the maximum counts as zero
)

const tail = .025

// Estimate returns the posterior median of λ and its 95 % interval, under the prior of the page's
// group. The median of λ also gives that of the change interval 1/λ. It is finite for any visits;
// without visits the interval is that of the prior.
func (m *Model) Estimate(p Page) Estimate {
	e := evident(p.Visits, m.truths.believed(p.Host))
	bells := m.prior.of(p.Group)
	q := quantiles(func(z float64) float64 { return e.log(z) + logDensity(bells, z) }, bells, tail, .5, 1-tail)
	return within(math.Exp(q[1]), math.Exp(q[0]), math.Exp(q[2]))
}

// quantiles returns quantiles, in rising order, of a posterior given by its log density up to a
// constant. It evaluates the whole range of the prior first, then the part with mass.
func quantiles(log func(z float64) float64, bells []bell, levels ...float64) []float64 {
	lo, hi, points := extent(bells)
	var z, density []float64
	for looks := range 6 {
		z, density = look(log, lo, hi, points)
		first, last := 0, points-1
		for first < last && density[first] == 0 {
			first++
		}
		for last > first && density[last] == 0 {
			last--
		}
		if looks > 0 && last-first > points/2 {
			break
		}
		lo, hi = z[max(0, first-1)], z[min(points-1, last+1)]
		points = 2 * fewest
	}
	return cut(z, density, levels)
}

// extent returns the range of a prior's mass, and how many points resolve its narrowest part.
func extent(bells []bell) (lo, hi float64, points int) {
	lo, hi = math.Inf(1), math.Inf(-1)
	narrow := math.Inf(1)
	for _, b := range bells {
		spread := math.Sqrt(b.variance)
		lo, hi = min(lo, b.mean-7*spread), max(hi, b.mean+7*spread)
		narrow = min(narrow, spread)
	}
	lo = min(max(lo, math.Log(leastRate)), math.Log(mostRate)-1)
	hi = max(min(hi, math.Log(mostRate)), lo+1)
	return lo, hi, int(min(max(2*(hi-lo)/narrow, fewest), most))
}

func look(log func(z float64) float64, lo, hi float64, points int) (z, density []float64) {
	z, density = make([]float64, points), make([]float64, points)
	top := math.Inf(-1)
	for i := range z {
		z[i] = lo + (hi-lo)*float64(i)/float64(points-1)
		density[i] = log(z[i])
		top = max(top, density[i])
	}
	for i, d := range density {
		if density[i] = 0; d > top-drop {
			density[i] = math.Exp(d - top)
		}
	}
	return z, density
}

// cut returns the quantiles of a density given at equal distances, linear in between.
func cut(z, density []float64, levels []float64) []float64 {
	sum := make([]float64, len(z))
	for i := 1; i < len(z); i++ {
		sum[i] = sum[i-1] + (density[i-1]+density[i])/2
	}
	found := make([]float64, 0, len(levels))
	i := 1
	for _, level := range levels {
		want := level * sum[len(sum)-1]
		for i < len(z)-1 && sum[i] < want {
			i++
		}
		found = append(found, z[i-1]+share(density[i-1], density[i], want-sum[i-1])*(z[i]-z[i-1]))
	}
	return found
}

// share returns the part of a step, from density a to density b, that has the given mass (in steps
// times density): the root x of a·x + (b−a)·x²/2 = mass.
func share(a, b, mass float64) float64 {
	root := a + math.Sqrt(max(0, a*a+2*(b-a)*mass))
	if mass <= 0 || root == 0 {
		return 0
	}
	return min(2*mass/root, 1)
}
