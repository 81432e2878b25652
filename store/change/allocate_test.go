package change

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestFivePages is the example of Cho and Garcia-Molina 2003: pages that change 1 to 5 times a day,
// five fetches a day; the expected frequencies are from their table.
func TestFivePages(t *testing.T) {
	pages := made([]float64{1, 2, 3, 4, 5}, []float64{1, 1, 1, 1, 1}, nil)
	a := allocated(t, pages, "cho", 5, nil)
	for i, want := range []float64{1.15, 1.36, 1.35, 1.14, 0.00} {
		if got := a.rates[i]; math.Abs(got-want) > 0.005 {
			t.Errorf("page %d: %.4f visits a day, want %.2f", i, got, want)
		}
	}
	uniform := freshness(pages, allocated(t, pages, "uniform", 5, nil).rates)
	if best := freshness(pages, a.rates); uniform >= best {
		t.Errorf("freshness %g of uniform visits, %g at best", uniform, best)
	}
}

// TestClosedForms checks prices and rates computed by hand.
func TestClosedForms(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"cho: r = 1 at 1 − 2/e", choRate(1-2/math.E, 1, 1), 1},
		{"cho, weight/rate = price", choRate(2, 2, 4), 0},
		{"cho, a page that never changes", choRate(1, 0, 4), 0},
		{"cho, √(weight·rate/(2·price)) of one that hardly does", choRate(1, 1e-20, 2), 1e-10},
		{"fresh, never changed", fresh(0, 0), 1},
		{"fresh, never fetched", fresh(1, 0), 0},
		{"fresh, once a change", fresh(3, 3), 1 - 1/math.E},
	} {
		if math.Abs(c.got-c.want) > 1e-6*c.want+1e-15 {
			t.Errorf("%s: %g, want %g", c.name, c.got, c.want)
		}
	}
}

func TestStalenessInverse(t *testing.T) {
	for r := 1e-7; r < 30; r *= 1.05 {
		share := staleness(r)
		tolerance := 1e-9
		if r < 1e-3 {
			share = r * r / 2 * (1 - r*2/3 + r*r/4) // here the difference loses its digits
			tolerance = 1e-7
		}
		// Near 1 a share determines r to fewer digits.
		if got := stalenessInverse(share); math.Abs(got-r) > tolerance*r+1e-15*math.Exp(r) {
			t.Errorf("r = %g: got %g", r, got)
		}
	}
}

// TestPricesAreRight checks the Karush-Kuhn-Tucker conditions on random webs.
func TestPricesAreRight(t *testing.T) {
	value := func(p Copy, f float64) float64 {
		if f == 0 {
			return p.Weight / p.Rate
		}
		return p.Weight / p.Rate * staleness(p.Rate/f)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		pages, limits := randomPages(rng, 1+rng.IntN(60), 1+rng.IntN(5))
		budget := math.Exp(rng.NormFloat64()*2 + 2)
		if rng.IntN(3) == 0 {
			limits = nil
		}
		a := allocated(t, pages, "cho", budget, limits)
		sums, total := make([]float64, len(limits)), 0.0
		for i, f := range a.rates {
			price := a.hostPrices[0]
			if limits != nil {
				price = a.hostPrices[pages[i].Host]
				sums[pages[i].Host] += f
			}
			total += f
			if v := value(pages[i], f); f > 0 && math.Abs(v-price) > 1e-6*price || f == 0 && v > price*(1+1e-9) {
				t.Fatalf("page %+v gets %g: a visit is worth %g, the price is %g", pages[i], f, v, price)
			}
		}
		if total > budget*(1+1e-9) || a.price > 1e-99 && total < budget*(1-1e-9) {
			t.Fatalf("%g visits at price %g, budget %g", total, a.price, budget)
		}
		for h, sum := range sums {
			if sum > limits[h]*(1+1e-9) || a.hostPrices[h] > a.price*(1+1e-9) && sum < limits[h]*(1-1e-9) {
				t.Fatalf("host %d has %g of %g, price %g (common %g)", h, sum, limits[h], a.hostPrices[h], a.price)
			}
		}
	}
}

// TestOptimumByBruteForce: exchanging visits between pairs of pages gains no freshness.
func TestOptimumByBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 30 {
		pages, _ := randomPages(rng, 2+rng.IntN(5), 2)
		budget := 1 + 10*rng.Float64()
		limits := []float64{budget / 4, math.Inf(1)}
		best := freshness(pages, allocated(t, pages, "cho", budget, limits).rates)
		rough := freshness(pages, exchanged(pages, budget, limits))
		if rough > best*(1+1e-9) || rough < best*(1-1e-4) {
			t.Errorf("%v, budget %g: %g by prices, %g by exchange", pages, budget, best, rough)
		}
	}
}

// exchanged finds rates by exchanging ever smaller parts of a budget between pages.
func exchanged(pages []Copy, budget float64, limits []float64) []float64 {
	rates := make([]float64, len(pages)+1) // the last element holds what nobody gets
	rates[len(pages)] = budget
	sums := make([]float64, len(limits))
	value := func(i int, visits float64) float64 {
		if i == len(pages) {
			return 0
		}
		return pages[i].Weight * fresh(pages[i].Rate, visits)
	}
	move := func(from, to int, d float64) bool {
		fits := to == len(pages) || sums[pages[to].Host]+d <= limits[pages[to].Host] ||
			from < len(pages) && pages[from].Host == pages[to].Host
		if rates[from] < d || !fits || value(from, rates[from]-d)+value(to, rates[to]+d) <= value(from, rates[from])+value(to, rates[to]) {
			return false
		}
		rates[from], rates[to] = rates[from]-d, rates[to]+d
		if from < len(pages) {
			sums[pages[from].Host] -= d
		}
		if to < len(pages) {
			sums[pages[to].Host] += d
		}
		return true
	}
	for d := budget / 8; d > budget*1e-6; d /= 2 {
		for moved := true; moved; {
			moved = false
			for from := range rates {
				for to := range rates {
					if from != to && move(from, to, d) {
						moved = true
					}
				}
			}
		}
	}
	return rates[:len(pages)]
}

// TestNothingBeatsTheOptimum: cho's rates have the largest freshness of all policies.
func TestNothingBeatsTheOptimum(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		pages, limits := randomPages(rng, 200, 5)
		best := freshness(pages, allocated(t, pages, "cho", 50, limits).rates)
		for _, p := range Policies {
			if got := freshness(pages, allocated(t, pages, p.Name, 50, limits).rates); got > best*(1+1e-9) {
				t.Errorf("%s has %g, the optimum %g", p.Name, got, best)
			}
		}
	}
}

// TestHostsBoundAll: if the hosts allow less than the budget, each gets its limit.
func TestHostsBoundAll(t *testing.T) {
	pages := made([]float64{1, 2, 3}, []float64{1, 1, 1}, []int{0, 0, 1})
	a := allocated(t, pages, "cho", 100, []float64{2, 3})
	if a.price > 1e-99 || math.Abs(a.rates[0]+a.rates[1]-2) > 1e-9 || math.Abs(a.rates[2]-3) > 1e-9 {
		t.Errorf("got %+v", a)
	}
}

// FuzzAllocate: any pages, budget and limit are refused, or both bounds hold.
func FuzzAllocate(f *testing.F) {
	f.Add(1.0, 1.0, 2.0, 3.0, 5.0, 1.0)
	f.Add(1e-300, 1e300, 1e9, 0.0, 1e-9, 1e9)
	f.Fuzz(func(t *testing.T, rate, weight, rate2, weight2, budget, limit float64) {
		pages := made([]float64{rate, rate2}, []float64{weight, weight2}, []int{0, 1})
		limits := []float64{limit, math.Inf(1)}
		if !(limit > 0) || math.IsNaN(rate+rate2) || check(pages, budget, limits) != nil {
			return
		}
		for _, p := range Policies {
			a := allocated(t, pages, p.Name, budget, limits)
			if sum := a.rates[0] + a.rates[1]; !(sum <= budget*(1+1e-6)) || a.rates[0] > limit*(1+1e-6) {
				t.Errorf("%s: %+v", p.Name, a)
			}
		}
	})
}

func made(rates, weights []float64, hosts []int) []Copy {
	pages := make([]Copy, len(rates))
	for i := range pages {
		pages[i] = Copy{Rate: rates[i], Weight: weights[i]}
		if hosts != nil {
			pages[i].Host = hosts[i]
		}
	}
	return pages
}

// randomPages returns pages of many magnitudes, and the daily limits of their hosts.
func randomPages(rng *rand.Rand, n, hosts int) ([]Copy, []float64) {
	pages, limits := make([]Copy, n), make([]float64, hosts)
	for i := range pages {
		pages[i] = Copy{Rate: math.Exp(3 * rng.NormFloat64()), Weight: math.Exp(2 * rng.NormFloat64()), Host: rng.IntN(hosts)}
	}
	for h := range limits {
		if limits[h] = math.Exp(2 * rng.NormFloat64()); rng.IntN(3) == 0 {
			limits[h] = math.Inf(1)
		}
	}
	return pages, limits
}

type allocation struct {
	rates      []float64 // visits per day, by page
	price      float64   // worth of a day's last visit; near 0 if the hosts limit all
	hostPrices []float64 // by host: above price where the host's limit binds
}

// allocated returns a policy's visits per day to pages of known rate, and the prices.
func allocated(t testing.TB, pages []Copy, policy string, budget float64, limits []float64) allocation {
	t.Helper()
	p, err := byName(policy)
	if err == nil {
		err = check(pages, budget, limits)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := newShares(len(pages), func(i int) int { return pages[i].Host }, limits, func(i int, price float64) float64 {
		return p.rate(price, pages[i].Rate, pages[i].Weight)
	})
	common, prices := s.solve(budget, 1, nil)
	a := allocation{rates: s.rates(prices), price: common.hi}
	for _, price := range prices {
		a.hostPrices = append(a.hostPrices, price.hi)
	}
	return a
}

// freshness returns the total worth of pages fetched at these rates.
func freshness(pages []Copy, rates []float64) (sum float64) {
	for i, p := range pages {
		sum += p.Weight * fresh(p.Rate, rates[i])
	}
	return sum
}

// rates returns each page's visits per day, scaled down where rounding exceeds a host's limit.
func (s *shares) rates(prices []price) []float64 {
	rates := make([]float64, s.pages)
	clear(s.sums)
	s.each(prices, func(i int, visits float64) {
		rates[i] = visits
		s.sums[s.host(i)] += visits
	})
	for i := range rates {
		if h := s.host(i); s.sums[h] > s.limits[h] {
			rates[i] *= s.limits[h] / s.sums[h]
		}
	}
	return rates
}
