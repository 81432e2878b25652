package main

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"fossick/eval/webstats"
	"fossick/internal/fulltest"
)

// bruteLaw is a power law fitted to a tail by search, without the calculus of webstats.
type bruteLaw struct {
	alpha, err, ks, tail float64
	start                int
}

// hurwitz is the sum of x^-a from a start on, by its first terms and Euler and Maclaurin's
// formula for the rest.
func hurwitz(a, start float64) (sum float64) {
	const terms = 40
	for i := range terms {
		sum += math.Pow(start+float64(i), -a)
	}
	m := start + terms
	return sum + math.Pow(m, 1-a)/(a-1) + math.Pow(m, -a)/2 + a*math.Pow(m, -a-1)/12 - a*(a+1)*(a+2)*math.Pow(m, -a-3)/720
}

// tailOf are the degrees from start on, each as often as it is.
func tailOf(degrees map[int]int, start int) (distinct []int, n float64) {
	for d, k := range degrees {
		if d >= start && d > 0 && k > 0 {
			distinct, n = append(distinct, d), n+float64(k)
		}
	}
	slices.Sort(distinct)
	return distinct, n
}

// fitBrute narrows the range of exponents down to the likeliest one, and takes the distance of
// Kolmogorov and Smirnov at each degree and below it.
func fitBrute(degrees map[int]int, start int) bruteLaw {
	tail, n := tailOf(degrees, start)
	logs := 0.0
	for _, d := range tail {
		logs += float64(degrees[d]) * math.Log(float64(d))
	}
	likelihood := func(a float64) float64 { return -a*logs - n*math.Log(hurwitz(a, float64(start))) }
	low, high := 1.01, 20.
	for high-low > 1e-7 {
		a, b := low+(high-low)/3, high-(high-low)/3
		if likelihood(a) < likelihood(b) {
			low = a
		} else {
			high = b
		}
	}
	f := bruteLaw{alpha: low, start: start, tail: n}
	const h = 1e-2
	f.err = 1 / math.Sqrt(math.Max(1e-12, (2*likelihood(low)-likelihood(low+h)-likelihood(low-h))/(h*h)))
	seen, whole := 0.0, hurwitz(f.alpha, float64(start))
	for _, d := range tail {
		f.ks = max(f.ks, math.Abs(seen-(1-hurwitz(f.alpha, float64(d))/whole)))
		seen += float64(degrees[d]) / n
		f.ks = max(f.ks, math.Abs(seen-(1-hurwitz(f.alpha, float64(d)+1)/whole)))
	}
	return f
}

// bestBrute tries starts of tails of 100 or more with three degrees or more: all or, where
// there are more than 40, as many, evenly spread.
func bestBrute(degrees map[int]int) (best bruteLaw, found bool) {
	all, n := tailOf(degrees, 1)
	var starts []int
	for i, d := range all {
		if n < 100 || i >= len(all)-2 {
			break
		}
		starts = append(starts, d)
		n -= float64(degrees[d])
	}
	tried := min(40, len(starts))
	for k := range tried {
		if f := fitBrute(degrees, starts[k*len(starts)/tried]); !found || f.ks < best.ks {
			best, found = f, true
		}
	}
	return best, found
}

// sampler draws from a law: by a table and, above it, as if degrees were not whole.
type sampler struct {
	law   bruteLaw
	share []float64 // of so many or fewer
}

func samplerOf(law bruteLaw) *sampler {
	s := &sampler{law: law}
	whole := hurwitz(law.alpha, float64(law.start))
	for x := law.start; x < law.start+20000; x++ {
		s.share = append(s.share, 1-hurwitz(law.alpha, float64(x+1))/whole)
	}
	return s
}

func (s *sampler) draw(rng *rand.Rand) int {
	u := rng.Float64()
	k, _ := slices.BinarySearch(s.share, u)
	if k < len(s.share) {
		return s.law.start + k
	}
	x := (float64(s.law.start) - 0.5) * math.Pow(1-u, -1/(s.law.alpha-1))
	return int(min(x, 1e12))
}

// worthBrute is P: of samples with the degrees below the law's start and a tail of it, the share
// that lie as far from their own fits.
func worthBrute(degrees map[int]int, law bruteLaw, samples int, rng *rand.Rand) float64 {
	var below []int
	for _, d := range slices.Sorted(maps.Keys(degrees)) {
		if d > 0 && d < law.start {
			below = append(below, slices.Repeat([]int{d}, degrees[d])...)
		}
	}
	n, from, farther := len(below)+int(law.tail), samplerOf(law), 0
	for range samples {
		again := map[int]int{}
		for range n {
			if rng.Float64()*float64(n) < law.tail {
				again[from.draw(rng)]++
			} else {
				again[below[rng.IntN(len(below))]]++
			}
		}
		if f, ok := bestBrute(again); ok && f.ks >= law.ks {
			farther++
		}
	}
	return float64(farther) / float64(samples)
}

// compareLaw holds a row of power_laws against a search. samples is of how many P is made, 0
// for none; two such shares differ by chance, by 0.25 once in a thousand.
func compareLaw(t *testing.T, row map[string]any, degrees map[int]int, samples int) {
	t.Helper()
	name := row["degrees"]
	want, ok := bestBrute(degrees)
	if !ok {
		if row["alpha"] != nil {
			t.Errorf("%s: %v, but by search there is no law", name, row)
		}
		return
	}
	_, n := tailOf(degrees, 1)
	for column, of := range map[string][2]float64{
		"x_min": {float64(want.start), 0}, "tail": {want.tail, 0}, "tail_share": {want.tail / n, 1e-9}, "alpha": {want.alpha, 1e-3},
		"alpha_error": {want.err, 0.02 * want.err}, "ks": {want.ks, 1e-4},
	} {
		if got, ok := row[column].(float64); !ok || math.Abs(got-of[0]) > of[1] {
			t.Errorf("%s: %s is %v, by search %v", name, column, row[column], of[0])
		}
	}
	if samples > 0 {
		p := worthBrute(degrees, want, samples, rand.New(rand.NewPCG(1, 2)))
		t.Logf("%s: %v degrees, α %.3f from %d, P %v, by other samples %v", name, n, want.alpha, want.start, row["p"], p)
		if got, ok := row["p"].(float64); !ok || math.Abs(got-p) > 0.25 {
			t.Errorf("%s: P is %v, by other samples %v", name, row["p"], p)
		}
	}
}

// compareLaws holds the laws of the degrees that were counted.
func (w *webCount) compareLaws(got statsTables) {
	samples := fulltest.Rounds(0, 100)
	in, known, out := map[int]int{}, map[int]int{}, map[int]int{}
	for url, n := range w.out {
		out[n]++
		in[w.links[url]]++
	}
	for _, n := range w.links {
		known[n]++
	}
	for name, degrees := range map[string]map[int]int{"in, pages": in, "in, URLs": known, "out, pages": out} {
		compareLaw(w.t, got.row(w.t, "power_laws", name), degrees, samples)
	}
}

// linkers are pages with so many links each, and nothing else.
type linkers []int

func (linkers) URLs() iter.Seq2[*webstats.URL, error] {
	return func(func(*webstats.URL, error) bool) {}
}
func (linkers) Hosts() iter.Seq2[string, error] { return func(func(string, error) bool) {} }
func (l linkers) Pages() iter.Seq2[*webstats.Page, error] {
	return func(yield func(*webstats.Page, error) bool) {
		for i, links := range l {
			p := &webstats.Page{ID: uint64(i + 1), URL: fmt.Sprintf("http://a.test/%d", i)}
			for k := range links {
				p.Links = append(p.Links, uint64(k+1))
			}
			if !yield(p, nil) {
				return
			}
		}
	}
}

// TestStatsOfLaws: pages with links by a law that is known. Its exponent comes back within four
// standard errors, and all that is said of the fit is as found by search.
func TestStatsOfLaws(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	for _, law := range []bruteLaw{{alpha: 2.2, start: 1}, {alpha: 2.5, start: 3}, {alpha: 3, start: 2}, {alpha: 3.5, start: 8}} {
		from, degrees := samplerOf(law), map[int]int{}
		var pages linkers
		for range 2000 {
			links := from.draw(rng)
			if law.start > 1 && rng.IntN(4) == 0 {
				links = rng.IntN(law.start)
			}
			pages = append(pages, min(links, 50000))
			degrees[pages[len(pages)-1]]++
		}
		r, err := webstats.Count(t.Context(), webstats.Options{Dir: t.TempDir()}, pages)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var got statsTables
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		row := got.row(t, "power_laws", "out, pages")
		compareLaw(t, row, degrees, fulltest.Rounds(0, 100))
		if alpha, err := row["alpha"].(float64), row["alpha_error"].(float64); math.Abs(alpha-law.alpha) > 4*err {
			t.Errorf("α is %v ± %v, drawn from %v", alpha, err, law.alpha)
		}
	}
}
