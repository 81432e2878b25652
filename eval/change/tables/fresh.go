package tables

import (
	"math"

	"fossick/store/change"
	"fossick/store/change/rates"
)

// Freshness is how far stored copies are as the pages are. What is not known is nil.
type Freshness struct {
	Pages     int64        `json:"pages"`      // whose copies were estimated
	Now       *float64     `json:"now"`        // share of the copies that are current, as estimated
	Age       *float64     `json:"age_days"`   // since the first change that a copy lacks; 0 of a current one
	WhenAsked *float64     `json:"when_asked"` // share of the looks that found the text as it was
	Rounds    []RoundFresh `json:"rounds"`     // of these, those of each round
}

// RoundFresh is what a round's looks found.
type RoundFresh struct {
	Looks  int64 `json:"looks"`
	AsItIs int64 `json:"unchanged"` // main text as it was
}

// fresh adds up.
type fresh struct {
	now          int64 // Unix milliseconds
	rounds       []RoundFresh
	looks, as    int64
	pages        int64
	current, age float64
}

// looked counts a look that showed a page, in a round or in none (−1).
func (f *fresh) looked(round int, changed bool) {
	f.looks++
	f.as += one(!changed)
	if round >= 0 {
		f.rounds[round].Looks++
		f.rounds[round].AsItIs += one(!changed)
	}
}

// add takes in a page with its rate. A page that is gone or elsewhere has changed: since it
// was found so.
func (f *fresh) add(p *Page, rate rates.Estimate) {
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

// copied returns the chance that a copy so many days old is current, and its mean age: for
// a Poisson process of rate λ
//
//	e^(−λ·days),  days − (1 − e^(−λ·days))/λ
//
// (Cho and Garcia-Molina, TODS 2003), in the mean over what λ may be. That is taken for
// log-normal and by three points, exact for polynomials of log λ of degree 5.
func copied(e rates.Estimate, days float64) (current, age float64) {
	z, spread := math.Log(max(e.Rate, leastRate)), deviation(e)
	for _, at := range []struct{ z, weight float64 }{{-math.Sqrt(3), 1. / 6}, {0, 2. / 3}, {math.Sqrt(3), 1. / 6}} {
		x := math.Exp(z+at.z*spread) * days
		current += at.weight * math.Exp(-x)
		age += at.weight * days * late(x)
	}
	return current, age
}

// late is 1 − (1 − e^−x)/x.
func late(x float64) float64 {
	if x < 1e-6 {
		return x / 2
	}
	return 1 + math.Expm1(-x)/x
}

// leastRate is below what an estimator tells from never, in changes a day.
const leastRate = 1e-7

// deviation is the standard deviation of the log of a rate, by its 95 % interval.
func deviation(e rates.Estimate) float64 {
	return math.Log(max(e.Hi, leastRate)/max(e.Lo, leastRate)) / (2 * z95)
}

const z95 = 1.959964

func (f *fresh) result() Freshness {
	r := Freshness{Pages: f.pages, Rounds: f.rounds}
	share := func(x float64, of int64) *float64 { x /= float64(of); return chance(x, of > 0) }
	r.Now, r.Age, r.WhenAsked = share(f.current, f.pages), share(f.age, f.pages), share(float64(f.as), f.looks)
	return r
}
