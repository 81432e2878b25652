package webstats

import (
	"maps"
	"math"
	"slices"

	"fossick/store/change"
)

// Freshness says how current the stored copies are; nil is unknown.
type Freshness struct {
	Pages     int64        `json:"pages"`      // pages whose copies were estimated
	Now       *float64     `json:"now"`        // estimated share of current copies
	Age       *float64     `json:"age_days"`   // mean days since the first change that a copy lacks; 0 for a current copy
	WhenAsked *float64     `json:"when_asked"` // share of looks with unchanged main text
	Rounds    []roundFresh `json:"rounds"`     // looks by round
}

type roundFresh struct {
	Looks  int64 `json:"looks"`
	AsItIs int64 `json:"unchanged"` // main text unchanged
}

type fresh struct {
	now          int64 // Unix milliseconds
	rounds       []roundFresh
	looks, as    int64
	pages        int64
	current, age float64
}

func (f *fresh) looked(round int, changed bool) {
	f.looks++
	f.as += one(!changed)
	if round >= 0 {
		f.rounds[round].Looks++
		f.rounds[round].AsItIs += one(!changed)
	}
}

// add estimates a page's copy; that of a gone or moved page is outdated since the visit that found it so.
func (f *fresh) add(p *Watched, rate change.Estimate) {
	f.pages++
	seen := p.Visits[0].At
	for i := len(p.Visits) - 1; i > 0; i-- {
		if change.Downloaded(p.Visits[i].State) {
			seen = p.Visits[i].At
			break
		}
	}
	for i := range p.Visits[1:] {
		if v := &p.Visits[1+i]; v.At > seen && (gone(v) || moved(v)) {
			f.age += max(0, float64(f.now-v.At)/msPerDay)
			return
		}
	}
	current, age := copied(rate, max(0, float64(f.now-seen)/msPerDay))
	f.current += current
	f.age += age
}

// copied returns the probability that a copy of this age is current, and its mean days since the first
// missed change. For a Poisson process of rate λ they are
//
//	e^(−λ·days),  days − (1 − e^(−λ·days))/λ
//
// (Cho and Garcia-Molina, TODS 2003), averaged over a log-normal λ by three-point quadrature, exact for
// polynomials of log λ up to degree 5.
func copied(e change.Estimate, days float64) (current, age float64) {
	z, spread := math.Log(max(e.Rate, leastRate)), deviation(e)
	for _, at := range []struct{ z, weight float64 }{{-math.Sqrt(3), 1. / 6}, {0, 2. / 3}, {math.Sqrt(3), 1. / 6}} {
		x := math.Exp(z+at.z*spread) * days
		current += at.weight * math.Exp(-x)
		age += at.weight * days * late(x)
	}
	return current, age
}

func late(x float64) float64 {
	if x < 1e-6 {
		return x / 2
	}
	return 1 + math.Expm1(-x)/x
}

// leastRate is in changes a day; no estimator tells it from 0.
const leastRate = 1e-7

// deviation returns the standard deviation of a log rate from its 95 % interval.
func deviation(e change.Estimate) float64 {
	return math.Log(max(e.Hi, leastRate)/max(e.Lo, leastRate)) / (2 * z95)
}

const z95 = 1.959964

func (f *fresh) result() Freshness {
	r := Freshness{Pages: f.pages, Rounds: f.rounds}
	share := func(x float64, of int64) *float64 { x /= float64(of); return chance(x, of > 0) }
	r.Now, r.Age, r.WhenAsked = share(f.current, f.pages), share(f.age, f.pages), share(float64(f.as), f.looks)
	return r
}

type pace struct {
	logs     []float32 // logarithms of rates
	variance float64   // sum of their variances
}

func (p *pace) add(e change.Estimate) {
	d := deviation(e)
	p.logs = append(p.logs, float32(math.Log(max(e.Rate, leastRate))))
	p.variance += d * d
}

// interval returns the days between two changes of the median page, 1 / the median rate; nil without rates.
//
// The estimates are shrunk to common means, so their errors are correlated. With s their variance and v their
// mean own variance, true log rates have variance s + v (law of total variance), and estimates from visits
// alone (s+v)²/s. The median of n normal values has π/2 of that over n; it is capped at one page's, s + v.
func (p *pace) interval() (days *float64, ci *[2]float64) {
	n := float64(len(p.logs))
	if n == 0 {
		return nil, nil
	}
	slices.Sort(p.logs)
	middle := (float64(p.logs[(len(p.logs)-1)/2]) + float64(p.logs[len(p.logs)/2])) / 2
	mean, squares := 0., 0.
	for _, z := range p.logs {
		mean += float64(z) / n
	}
	for _, z := range p.logs {
		squares += (float64(z) - mean) * (float64(z) - mean)
	}
	spread := 0.
	if n > 1 {
		spread = squares / (n - 1)
	}
	all := spread + p.variance/n
	half := z95 * math.Sqrt(all*min(math.Pi/2*all/(n*spread), 1))
	x := math.Exp(-middle)
	return &x, &[2]float64{x * math.Exp(-half), x * math.Exp(half)}
}

type pulse struct {
	width int64 // milliseconds; 0 before the first visit
	by    map[int64]part
}

type part struct {
	at              int64 // start: Unix milliseconds, or milliseconds since the first
	visits, changed int64
}

// mostParts bounds the parts returned, mostKept those in memory.
const (
	mostParts = 60
	mostKept  = 4096
)

func (p *pulse) add(v *change.Visit) {
	if p.width == 0 {
		p.width, p.by = 1000, map[int64]part{}
	}
	p.count(v.At/p.width, part{visits: 1, changed: one(v.Change == change.Text || v.Change == change.Unsure)})
	for len(p.by) > mostKept {
		p.coarsen()
	}
}

func (p *pulse) count(k int64, n part) {
	had := p.by[k]
	p.by[k] = part{visits: had.visits + n.visits, changed: had.changed + n.changed}
}

func (p *pulse) coarsen() {
	fine := p.by
	p.width, p.by = 2*p.width, make(map[int64]part, len(fine)/2)
	for k, n := range fine {
		p.count(k/2, n)
	}
}

func (p *pulse) parts() (all []part) {
	for {
		keys := slices.Sorted(maps.Keys(p.by))
		if len(keys) == 0 {
			return nil
		}
		if keys[len(keys)-1]-keys[0] >= mostParts {
			p.coarsen()
			continue
		}
		for _, k := range keys {
			n := p.by[k]
			n.at = (k - keys[0]) * p.width
			all = append(all, n)
		}
		return all
	}
}
