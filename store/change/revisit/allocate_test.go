package revisit

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestFivePages is the example of Cho and Garcia-Molina 2003: pages that change 1 to 5 times a
// day, five fetches a day. The frequencies are their table's.
func TestFivePages(t *testing.T) {
	pages := made([]float64{1, 2, 3, 4, 5}, []float64{1, 1, 1, 1, 1}, nil)
	a := allocated(t, pages, "cho", 5, nil)
	for i, want := range []float64{1.15, 1.36, 1.35, 1.14, 0.00} {
		if got := a.Rates[i]; math.Abs(got-want) > 0.005 {
			t.Errorf("page %d: %.4f visits a day, want %.2f", i, got, want)
		}
	}
	uniform := freshness(pages, allocated(t, pages, "uniform", 5, nil).Rates)
	proportional := freshness(pages, allocated(t, pages, "proportional", 5, nil).Rates)
	if best := freshness(pages, a.Rates); !(proportional < uniform && uniform < best) {
		t.Errorf("freshness %g in proportion, %g of uniform visits, %g at best", proportional, uniform, best)
	}
}

// TestClosedForms: prices and rates worked out by hand.
func TestClosedForms(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"azar: √(2·8/1) − 2", azarRate(1, 2, 8), 2},
		{"azar, worth less than the price", azarRate(4, 2, 8), 0},
		{"kolobov: (−2 + √(4 + 4·12·2/1))/2", kolobovRate(1, 2, 12), 4},
		{"kolobov, weight/(rate·visits²) far off", kolobovRate(1e6, 1, 1), 1e-6},
		{"a signal that is always followed", kolobovChance(0.5, 2, 3), 1},
		{"every other", kolobovChance(1, 6, 3), 0.5},
		{"cho: r = 1 at 1 − 2/e", choRate(1-2/math.E, 1, 1), 1},
		{"cho, weight/rate = price", choRate(2, 2, 4), 0},
		{"cho, a page that never changes", choRate(1, 0, 4), 0},
		{"cho, √(weight·rate/(2·price)) of one that hardly does", choRate(1, 1e-20, 2), 1e-10},
		{"fresh, never changed", Fresh(0, 0), 1},
		{"fresh, never fetched", Fresh(1, 0), 0},
		{"fresh, once a change", Fresh(3, 3), 1 - 1/math.E},
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
			share = r * r / 2 * (1 - r*2/3 + r*r/4) // where the difference has lost its digits
			tolerance = 1e-7
		}
		// Near 1 a share says less of r than r has digits.
		if got := stalenessInverse(share); math.Abs(got-r) > tolerance*r+1e-15*math.Exp(r) {
			t.Errorf("r = %g: got %g", r, got)
		}
	}
}

// TestPricesAreRight: on random webs, the conditions of Karush, Kuhn and Tucker hold for the
// objective of each policy that has one: no visit could be moved to where it is worth more.
func TestPricesAreRight(t *testing.T) {
	worth := map[string]func(p Page, visits float64) float64{
		"cho": func(p Page, f float64) float64 {
			if f == 0 {
				return p.Weight / p.Rate
			}
			return p.Weight / p.Rate * staleness(p.Rate/f)
		},
		"azar":    func(p Page, f float64) float64 { return p.Weight * p.Rate / (f + p.Rate) / (f + p.Rate) },
		"kolobov": func(p Page, f float64) float64 { return p.Weight * p.Rate / (f * (f + p.Rate)) },
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		pages, limits := randomPages(rng, 1+rng.IntN(60), 1+rng.IntN(5))
		budget := math.Exp(rng.NormFloat64()*2 + 2)
		if rng.IntN(3) == 0 {
			limits = nil
		}
		for name, value := range worth {
			a := allocated(t, pages, name, budget, limits)
			sums, total := make([]float64, len(limits)), 0.0
			for i, f := range a.Rates {
				price := a.HostPrices[0]
				if limits != nil {
					price = a.HostPrices[pages[i].Host]
					sums[pages[i].Host] += f
				}
				total += f
				if v := value(pages[i], f); f > 0 && math.Abs(v-price) > 1e-6*price || f == 0 && v > price*(1+1e-9) {
					t.Fatalf("%s: page %+v gets %g: a visit is worth %g, the price is %g", name, pages[i], f, v, price)
				}
			}
			if total > budget*(1+1e-9) || a.Price > 1e-99 && total < budget*(1-1e-9) {
				t.Fatalf("%s: %g visits at price %g, budget %g", name, total, a.Price, budget)
			}
			for h, sum := range sums {
				if sum > limits[h]*(1+1e-9) || a.HostPrices[h] > a.Price*(1+1e-9) && sum < limits[h]*(1-1e-9) {
					t.Fatalf("%s: host %d has %g of %g, price %g (common %g)", name, h, sum, limits[h], a.HostPrices[h], a.Price)
				}
			}
		}
	}
}

// TestOptimumByBruteForce: moving visits between pairs of pages, as long as one gains, comes
// to the same freshness, and never to more.
func TestOptimumByBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 30 {
		pages, _ := randomPages(rng, 2+rng.IntN(5), 2)
		budget := 1 + 10*rng.Float64()
		limits := []float64{budget / 4, math.Inf(1)}
		best := freshness(pages, allocated(t, pages, "cho", budget, limits).Rates)
		rough := freshness(pages, exchanged(pages, budget, limits))
		if rough > best*(1+1e-9) || rough < best*(1-1e-4) {
			t.Errorf("%v, budget %g: %g by prices, %g by exchange", pages, budget, best, rough)
		}
	}
}

// exchanged finds rates by exchange of ever smaller parts of a budget; the pages of the last
// host are free to take what is left.
func exchanged(pages []Page, budget float64, limits []float64) []float64 {
	rates := make([]float64, len(pages)+1) // the last place keeps what nobody gets
	rates[len(pages)] = budget
	sums := make([]float64, len(limits))
	value := func(i int, visits float64) float64 {
		if i == len(pages) {
			return 0
		}
		return pages[i].Weight * Fresh(pages[i].Rate, visits)
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

// TestNothingBeatsTheOptimum: of all policies, cho's rates have the largest freshness.
func TestNothingBeatsTheOptimum(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		pages, limits := randomPages(rng, 200, 5)
		best := freshness(pages, allocated(t, pages, "cho", 50, limits).Rates)
		for _, p := range Policies() {
			if got := freshness(pages, allocated(t, pages, p.Name, 50, limits).Rates); got > best*(1+1e-9) {
				t.Errorf("%s has %g, the optimum %g", p.Name, got, best)
			}
		}
	}
}

// TestHostsBoundAll: where the hosts allow less than the budget, each gets what it allows.
func TestHostsBoundAll(t *testing.T) {
	pages := made([]float64{1, 2, 3}, []float64{1, 1, 1}, []int{0, 0, 1})
	a := allocated(t, pages, "cho", 100, []float64{2, 3})
	if a.Price > 1e-99 || math.Abs(a.Rates[0]+a.Rates[1]-2) > 1e-9 || math.Abs(a.Rates[2]-3) > 1e-9 {
		t.Errorf("got %+v", a)
	}
}

func TestRefused(t *testing.T) {
	good := made([]float64{1}, []float64{1}, nil)
	for _, c := range []struct {
		name   string
		pages  []Page
		policy string
		budget float64
		limits []float64
		want   string
	}{
		{"no budget", good, "cho", 0, nil, "positive number"},
		{"budget without end", good, "cho", math.Inf(1), nil, "positive number"},
		{"no such policy", good, "best", 1, nil, "choose one of azar, cho"},
		{"rate not known", made([]float64{math.NaN()}, []float64{1}, nil), "cho", 1, nil, "estimate it"},
		{"rate below 0", made([]float64{-1}, []float64{1}, nil), "cho", 1, nil, "must be 0 to"},
		{"weight below 0", made([]float64{1}, []float64{-1}, nil), "cho", 1, nil, "weight of -1"},
		{"last", []Page{{Last: math.NaN()}}, "cho", 1, nil, "last visit"},
		{"host", made([]float64{1}, []float64{1}, []int{2}), "cho", 1, []float64{1}, "host 2"},
		{"host's rate", good, "cho", 1, []float64{0}, "leave its pages out"},
	} {
		if _, err := Allocate(c.pages, c.policy, c.budget, c.limits); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if _, err := Allocate(good, "cho", -1, nil); !errors.Is(err, ErrBudget) {
		t.Errorf("got %v", err)
	}
}

// FuzzAllocate: whatever a page, a budget and a limit are, the answer is an error or keeps both.
func FuzzAllocate(f *testing.F) {
	f.Add(1.0, 1.0, 2.0, 3.0, 5.0, 1.0)
	f.Add(1e-300, 1e300, 1e9, 0.0, 1e-9, 1e9)
	f.Fuzz(func(t *testing.T, rate, weight, rate2, weight2, budget, limit float64) {
		pages := made([]float64{rate, rate2}, []float64{weight, weight2}, []int{0, 1})
		for _, p := range Policies() {
			a, err := Allocate(pages, p.Name, budget, []float64{limit, math.Inf(1)})
			if err != nil {
				continue
			}
			if sum := a.Rates[0] + a.Rates[1]; !(sum <= budget*(1+1e-6)) || a.Rates[0] > limit*(1+1e-6) {
				t.Errorf("%s: %+v", p.Name, a)
			}
		}
	})
}

func BenchmarkAllocate(b *testing.B) {
	pages, limits := randomPages(rand.New(rand.NewPCG(1, 1)), 100_000, 1000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Allocate(pages, "cho", 20_000, limits); err != nil {
			b.Fatal(err)
		}
	}
}

// made returns pages of these rates, weights and hosts.
func made(rates, weights []float64, hosts []int) []Page {
	pages := make([]Page, len(rates))
	for i := range pages {
		pages[i] = Page{Rate: rates[i], Weight: weights[i]}
		if hosts != nil {
			pages[i].Host = hosts[i]
		}
	}
	return pages
}

// randomPages returns pages of many magnitudes, and what their hosts allow a day.
func randomPages(rng *rand.Rand, n, hosts int) ([]Page, []float64) {
	pages, limits := make([]Page, n), make([]float64, hosts)
	for i := range pages {
		pages[i] = Page{Rate: math.Exp(3 * rng.NormFloat64()), Weight: math.Exp(2 * rng.NormFloat64()), Host: rng.IntN(hosts)}
	}
	for h := range limits {
		if limits[h] = math.Exp(2 * rng.NormFloat64()); rng.IntN(3) == 0 {
			limits[h] = math.Inf(1)
		}
	}
	return pages, limits
}

func allocated(t testing.TB, pages []Page, policy string, budget float64, limits []float64) Allocation {
	t.Helper()
	a, err := Allocate(pages, policy, budget, limits)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// freshness returns what pages are worth that are fetched at these rates, in all.
func freshness(pages []Page, rates []float64) (sum float64) {
	for i, p := range pages {
		sum += p.Weight * Fresh(p.Rate, rates[i])
	}
	return sum
}
