package revisit

import (
	"math"
	"math/rand/v2"
)

// Web is a made-up one, with what is true of it.
type Web struct {
	Pages     []Page
	HostRests []float64 // days
}

// Laws say how a web is made. The zero value is that of docs/data/revisit.tsv.
type Laws struct {
	Pages   int     // default 100,000
	Days    float64 // since which the pages were crawled, evenly; default 5
	Rest    float64 // days that a host rests; default two minutes
	Signals float64 // share of pages that tell of their changes
	Alike   float64 // in [0,1]: how far what matters more changes more
}

// What made-up pages are like: the shape of Pareto's laws, P(x) = (least/x)^shape.
const (
	rateShape   = 0.75 // of changes a day
	rateLeast   = 0.05
	rateMost    = 50.0
	weightShape = 1.1 // as of in-links and PageRank, the density of which falls by 2.1
	hostShape   = 1.0 // of pages a host
	hostPages   = 20.0
)

// NewWeb makes a web by laws: rates, weights and the sizes of hosts by power laws.
func NewWeb(rng *rand.Rand, l Laws) Web {
	if l.Pages == 0 {
		l.Pages = 100_000
	}
	if l.Days == 0 {
		l.Days = 5
	}
	if l.Rest == 0 {
		l.Rest = 2 * minute
	}
	w := Web{Pages: make([]Page, l.Pages)}
	left, sum := 0, 0.0
	for i := range w.Pages {
		if left == 0 {
			left = int(min(hostPages*pareto(rng, hostShape), float64(l.Pages)/5))
			w.HostRests = append(w.HostRests, l.Rest)
		}
		left--
		rate, weight := rng.Float64(), rng.Float64()
		if rng.Float64() < l.Alike {
			rate = weight
		}
		p := &w.Pages[i]
		*p = Page{
			Rate:   min(rateLeast*math.Pow(1-rate, -1/rateShape), rateMost),
			Weight: math.Pow(1-weight, -1/weightShape),
			Last:   -l.Days * rng.Float64(), Host: len(w.HostRests) - 1,
			Signals: rng.Float64() < l.Signals,
		}
		sum += p.Weight
	}
	for i := range w.Pages {
		w.Pages[i].Weight /= sum
	}
	return w
}

func pareto(rng *rand.Rand, shape float64) float64 { return math.Pow(1-rng.Float64(), -1/shape) }

// Unknown returns the pages without their rates.
func (w Web) Unknown() []Page {
	pages := append([]Page(nil), w.Pages...)
	for i := range pages {
		pages[i].Rate = math.NaN()
	}
	return pages
}
