package change

import (
	"math"
	"slices"
)

type shares struct {
	pages  int
	host   func(i int) int
	limits []float64 // by host
	demand func(i int, price float64) float64
	enough float64   // tolerance of demand to supply, as the logarithm of their ratio
	sums   []float64 // demand by host at the price asked last
}

const exactly = 1e-12

// newShares takes each page's host, the hosts' limits (nil: none), and demand, falling with price.
func newShares(pages int, host func(int) int, limits []float64, demand func(int, float64) float64) *shares {
	s := &shares{pages: pages, host: host, limits: limits, demand: demand, enough: exactly}
	if limits == nil {
		s.host, s.limits = func(int) int { return 0 }, []float64{math.Inf(1)}
	}
	s.sums = make([]float64, len(s.limits))
	return s
}

func (s *shares) total(price float64) float64 {
	clear(s.sums)
	for i := range s.pages {
		s.sums[s.host(i)] += s.demand(i, price)
	}
	total := 0.0
	for h, sum := range s.sums {
		total += min(sum, s.limits[h])
	}
	return total
}

// solve returns the common price at which total demand equals budget, and each host's price. first
// and near, by host, are starting points; nil means the common price.
func (s *shares) solve(budget, first float64, near []float64) (common price, prices []price) {
	common = cross(s.total, budget, first, s.enough)
	s.total(common.lo)
	more := slices.Clone(s.sums)
	s.total(common.hi)
	prices = make([]price, len(s.limits))
	over := map[int][]int{}
	for h, sum := range s.sums {
		prices[h] = common
		switch limit := s.limits[h]; {
		case sum > limit:
			over[h] = nil
		case more[h] > limit: // of the demand at lo only a part fits
			prices[h].share *= (limit - sum) / (more[h] - sum)
		}
	}
	if len(over) == 0 {
		return common, prices
	}
	for i := range s.pages {
		if members, ok := over[s.host(i)]; ok {
			over[s.host(i)] = append(members, i)
		}
	}
	for h, members := range over {
		first := common.hi
		if near != nil {
			first = max(near[h], lowestPrice)
		}
		prices[h] = cross(func(price float64) (sum float64) {
			for _, i := range members {
				sum += s.demand(i, price)
			}
			return sum
		}, s.limits[h], first, s.enough)
	}
	return common, prices
}

// each calls tell with the visits per day of each page at its host's price.
func (s *shares) each(prices []price, tell func(i int, visits float64)) {
	for i := range s.pages {
		at := prices[s.host(i)]
		visits := s.demand(i, at.hi)
		if at.share > 0 {
			visits = at.share*s.demand(i, at.lo) + (1-at.share)*visits
		}
		tell(i, visits)
	}
}

// price is a price at which demand meets supply. Demand may jump: a page that is just worth its
// first visit asks for none at hi and many at lo, the adjacent number. Then supply lies between,
// and share in [0,1] is the part of lo's demand that meets it.
type price struct{ lo, hi, share float64 }

// Bounds on prices; beyond these nothing is bought, or everything.
const (
	lowestPrice  = 1e-100
	highestPrice = 1e100
)

// cross returns the price at which total, which falls with it, equals want. It starts near a price
// and uses the false position of logarithms (Illinois), in which most policies are nearly straight.
// It returns lowestPrice if total is always less than want, highestPrice if always more.
func cross(total func(float64) float64, want, near, enough float64) price {
	excess := func(x float64) float64 { return math.Log(total(math.Exp(x)) / want) }
	lo, hi := math.Log(near), math.Log(near)
	atLo := excess(lo)
	atHi := atLo
	for step := 1.0; atLo < 0; step *= 2 {
		if hi, atHi, lo = lo, atLo, lo-step; lo < math.Log(lowestPrice) {
			return price{lo: lowestPrice, hi: lowestPrice}
		}
		atLo = excess(lo)
	}
	for step := 1.0; atHi > 0; step *= 2 {
		if lo, atLo, hi = hi, atHi, hi+step; hi > math.Log(highestPrice) {
			return price{lo: highestPrice, hi: highestPrice}
		}
		atHi = excess(hi)
	}
	lo, hi, atLo, atHi = illinois(excess, lo, hi, atLo, atHi, enough)
	p := price{lo: math.Exp(lo), hi: math.Exp(hi)}
	if more, less := math.Exp(atLo), math.Exp(atHi); more > less {
		p.share = (1 - less) / (more - less)
	}
	return p
}

// illinois narrows a bracket with f(lo) ≥ 0 ≥ f(hi); f falls, and f(hi) may be −Inf. It ends when f
// is within enough of 0 at one end, or no number lies between.
func illinois(f func(float64) float64, lo, hi, atLo, atHi, enough float64) (float64, float64, float64, float64) {
	weighLo, weighHi := atLo, atHi
	moved := 0 // end that moved last
	for range 200 {
		switch {
		case atLo < enough:
			return lo, lo, atLo, atLo
		case atHi > -enough:
			return hi, hi, atHi, atHi
		case hi-lo <= 4e-16*(1+math.Abs(lo)):
			return lo, hi, atLo, atHi
		}
		x := (lo*weighHi - hi*weighLo) / (weighHi - weighLo)
		if !(x > lo && x < hi) { // also if an end is infinite
			x = (lo + hi) / 2
		}
		if at := f(x); at > 0 {
			if lo, atLo, weighLo = x, at, at; moved == 1 {
				weighHi /= 2
			}
			moved = 1
		} else {
			if hi, atHi, weighHi = x, at, at; moved == 2 {
				weighLo /= 2
			}
			moved = 2
		}
	}
	return lo, hi, atLo, atHi
}
