package webstats

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"fossick/internal/fulltest"
)

// drawn are n degrees of a law, those below its start even.
func drawn(f *powerLaw, below int64, rng *rand.Rand) []degreeCount {
	counts := map[int]int64{}
	for range below {
		counts[1+rng.IntN(f.start-1)]++
	}
	for range f.tail {
		counts[f.draw(f.start, rng)]++
	}
	return rising(counts)
}

// TestPowerLaw: exponents of laws that were drawn from come back within three errors, and the
// law is held possible as often as it should be.
func TestPowerLaw(t *testing.T) {
	fulltest.Only(t, "seconds of processor time")
	kept, runs := 0, fulltest.Rounds(3, 60)
	for i := range runs {
		rng := rand.New(rand.NewPCG(7, uint64(i))) // a run's draws do not hang on how much the fits before drew
		law := &powerLaw{start: 5, alpha: 1.8 + 0.1*float64(i%10), tail: 3000}
		f := fitPowerLaw(drawn(law, 3000, rng), rng)
		if f == nil || f.start < 3 || f.start > 40 || !(math.Abs(f.alpha-law.alpha) <= 3*f.err) {
			t.Errorf("α %.2f from %d: got %+v", law.alpha, law.start, f)
			continue
		}
		if f.p >= ruledOut {
			kept++
		}
	}
	if kept < runs*2/3 {
		t.Errorf("of %d true laws %d were held possible", runs, kept)
	}
}

// TestNoPowerLaw: a geometric law is none, but for its last hundredths, which a steep power law
// may fit.
func TestNoPowerLaw(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	counts := map[int]int64{}
	for range 20000 {
		counts[1+int(rng.ExpFloat64()*8)]++
	}
	if f := fitPowerLaw(rising(counts), rng); f == nil || f.p >= ruledOut && f.tail > f.n/20 || f.against > 0 {
		t.Errorf("%+v, want it ruled out but for few, and a log-normal at least as good", f)
	}
	for _, few := range []map[int]int64{nil, {1: 10}, {3: 5000}, {1: 20, 2: 20}} {
		if f := fitPowerLaw(rising(few), rng); f != nil {
			t.Errorf("of %v: %+v", few, f)
		}
	}
}

// TestMostLikely compares the solution with a search over a fine grid.
func TestMostLikely(t *testing.T) {
	for _, start := range []float64{1, 2, 10, 300} {
		for _, over := range []float64{0.2, 0.5, 1, 3} {
			mean := math.Log(start) + over
			got, _ := mostLikely(mean, start, 1)
			loss := func(a float64) float64 { return math.Log(mathext.Zeta(a, start)) + a*mean }
			best := leastAlpha
			for a := leastAlpha; a <= mostAlpha; a += 1e-3 {
				if loss(a) < loss(best) {
					best = a
				}
			}
			if !(math.Abs(got-best) <= 2e-3) {
				t.Errorf("from %v, mean logarithm %v: α %v, by search %v", start, mean, got, best)
			}
		}
	}
}

// TestMostLikelyError: from far up degrees lie as close as numbers do, and of n of them the standard
// error is (α − 1)/√n (Clauset, Shalizi and Newman 2009, eq. 3.2): 1.5/100.
func TestMostLikelyError(t *testing.T) {
	alpha, deviation := mostLikely(math.Log(299.5)+1/1.5, 300, 10_000)
	if !(math.Abs(alpha-2.5) <= 1e-3) || !(math.Abs(deviation-0.015) <= 1e-4) {
		t.Errorf("α %v ± %v, want 2.5 ± 0.015", alpha, deviation)
	}
}

// TestFitTail: a tail that is the law has its α, and lies at no distance. Of the law of α = 3 from 1 on
// 1/ζ(3) = 0.831907 are 1; where 95 of 100 are, and the others 2, the gap is largest at 1.
func TestFitTail(t *testing.T) {
	var tail []degreeCount
	n := int64(0)
	for d := 3; d < 3000; d++ {
		k := int64(math.Round(1e9 * math.Pow(float64(d), -2.5)))
		tail, n = append(tail, degreeCount{d, k}), n+k
	}
	if f := fitTail(tail, n); !(math.Abs(f.alpha-2.5) <= 1e-3) || f.dist > 1e-4 || f.start != 3 || f.tail != n {
		t.Errorf("%+v, want α 2.5 from 3 on", f)
	}
	f := &powerLaw{start: 1, alpha: 3}
	if got := f.distance([]degreeCount{{1, 95}, {2, 5}}, 100); !(math.Abs(got-(0.95-0.831907)) <= 1e-6) {
		t.Errorf("distance %v, want 0.118093", got)
	}
}

// TestAgainstLognormal: the ratio of likelihoods over its deviation, from its definition. Degree d has
// d^−α/ζ(α, start) by the one law, and Φ(ln(d+½)) − Φ(ln(d−½)) by the other, of what is above start − ½.
func TestAgainstLognormal(t *testing.T) {
	tail := []degreeCount{{2, 50}, {3, 20}, {4, 11}, {6, 6}, {11, 3}, {40, 1}}
	f := &powerLaw{alpha: 2.3, start: 2}
	law, ok := fitLognormal(tail)
	if !ok {
		t.Fatal("no log-normal law")
	}
	phi := func(x float64) float64 { return (1 + math.Erf((math.Log(x)-law.mu)/law.sigma/math.Sqrt2)) / 2 }
	var ratios []float64
	sum := 0.0
	for _, d := range tail {
		x := float64(d.degree)
		power := math.Pow(x, -2.3) / mathext.Zeta(2.3, 2)
		other := (phi(x+0.5) - phi(x-0.5)) / (1 - phi(1.5))
		for range d.n {
			ratios = append(ratios, math.Log(power/other))
			sum += math.Log(power / other)
		}
	}
	n, squares := float64(len(ratios)), 0.0
	for _, r := range ratios {
		squares += (r - sum/n) * (r - sum/n)
	}
	want := sum / math.Sqrt(squares) // Vuong: √n times the mean over the deviation of one
	if got := againstLognormal(tail, f); !(math.Abs(got-want) <= 1e-6*math.Abs(want)) {
		t.Errorf("got %v, want %v", got, want)
	}
	if far := (lognormal{0, 1}).above(math.Exp(31)); !(math.Abs(far-(-31*31/2.-math.Log(31*math.Sqrt(2*math.Pi)))) <= 1e-9) { // Mills
		t.Errorf("far above: %v", far)
	}
	near, behind := (lognormal{0, 1}).above(math.Exp(29.999)), (lognormal{0, 1}).above(math.Exp(30.001))
	if !(math.Abs(near-behind-30*0.002) <= 2e-3) {
		t.Errorf("the two forms differ where they meet: %v, %v", near, behind)
	}
}

// TestSample: samples have as many degrees, and the law's share of each.
func TestSample(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	f := &powerLaw{n: 200000, tail: 100000, start: 4, alpha: 2.2}
	all := []degreeCount{{1, 50000}, {2, 30000}, {3, 20000}, {4, 60000}, {9, 40000}}
	total, seen := int64(0), map[int]int64{}
	for _, d := range f.sample(all, rng) {
		total += d.n
		seen[d.degree] = d.n
	}
	if total != f.n {
		t.Errorf("%d degrees, want %d", total, f.n)
	}
	for _, x := range []int{4, 5, 6, 10, 20} {
		want := 100000 * math.Pow(float64(x), -f.alpha) / mathext.Zeta(f.alpha, 4)
		if !(math.Abs(float64(seen[x])-want) <= 6*math.Sqrt(want)+300) { // the tail's size varies too
			t.Errorf("degree %d: %d, want about %.0f", x, seen[x], want)
		}
	}
	if !(math.Abs(float64(seen[1])-50000) <= 1500) {
		t.Errorf("degree 1: %d, want about 50000", seen[1])
	}
}

// TestFewestOfALaw: the tail of a fit has a hundred values or more.
func TestFewestOfALaw(t *testing.T) {
	counts := map[int]int64{1: 60, 2: 20, 3: 10, 5: 6, 9: 3}
	if f := fitPowerLaw(rising(counts), rand.New(rand.NewPCG(1, 2))); f != nil {
		t.Errorf("of 99 values: %+v", f)
	}
	counts[1]++
	if f := fitPowerLaw(rising(counts), rand.New(rand.NewPCG(1, 2))); f == nil || f.tail != 100 {
		t.Errorf("of 100 values: %+v", f)
	}
}
