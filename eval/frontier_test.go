package eval

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// toyWeb is a random web with preferential attachment and topical locality of links.
type toyWeb struct {
	links    [][]int
	relevant []bool
	score    []float64 // noisy classifier score of each page
	targets  int
}

func newToyWeb(r *rand.Rand, pages, hosts int, share float64) *toyWeb {
	w := &toyWeb{links: make([][]int, pages), relevant: make([]bool, pages), score: make([]float64, pages)}
	popular := make([]float64, pages)
	var on, off []int
	for i := range pages {
		w.relevant[i] = r.Float64() < share
		z := -2.5
		if w.relevant[i] {
			z, w.targets = 2, w.targets+1
			on = append(on, i)
		} else {
			off = append(off, i)
		}
		w.score[i] = 1 / (1 + math.Exp(-z-1.2*r.NormFloat64()))
		popular[i] = math.Exp(1.2 * r.NormFloat64())
	}
	pick := func(from []int) int { // the most popular of three
		best := from[r.IntN(len(from))]
		for range 2 {
			if c := from[r.IntN(len(from))]; popular[c] > popular[best] {
				best = c
			}
		}
		return best
	}
	for i := range pages {
		for range 3 + r.IntN(9) {
			to := on
			if r.Float64() > map[bool]float64{true: 0.5, false: share / 2}[w.relevant[i]] {
				to = off
			}
			w.links[i] = append(w.links[i], pick(to))
		}
	}
	return w
}

func (w *toyWeb) key(i int) uint64 { return uint64(i)*0x9e3779b97f4a7c15 | 1 } // odd, so that thinning by the low bits is tested separately

// crawl is best-first by the parent's score, from random start pages on topic.
func (w *toyWeb) crawl(r *rand.Rand, pages int) *Crawl {
	c := &Crawl{Trail: &crawlTrail{Thin: 1}}
	promise, done := map[int]float64{}, map[int]bool{}
	for len(promise) < 8 {
		if i := r.IntN(len(w.links)); w.relevant[i] {
			promise[i] = 1
		}
	}
	for len(c.Pages) < pages && len(promise) > 0 {
		best := -1
		for i, p := range promise {
			if best < 0 || p > promise[best] || p == promise[best] && i < best {
				best = i
			}
		}
		s := Step{Key: w.key(best), Host: uint64(best % 40), Promise: promise[best], Page: len(c.Pages)}
		delete(promise, best)
		done[best] = true
		for _, to := range w.links[best] {
			s.Links = append(s.Links, w.key(to))
			if !done[to] {
				promise[to] = max(promise[to], w.score[best])
			}
		}
		c.Trail.Steps = append(c.Trail.Steps, s)
		c.Pages = append(c.Pages, Page{URL: fmt.Sprint(best), Score: w.score[best], Verdict: Verdict{Relevant: w.relevant[best], Known: true}})
	}
	for i, p := range promise {
		c.Trail.Waiting = append(c.Trail.Waiting, waitingURL{w.key(i), uint64(i % 40), p})
	}
	slices.SortFunc(c.Trail.Waiting, func(a, b waitingURL) int { return cmp.Compare(a.Key, b.Key) })
	return c
}

// The frontier's error must be at most half of plain Lincoln–Petersen's, and its intervals honest.
func TestFrontierBeatsLincolnPetersen(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 6))
	const rounds = 24
	var squared, plain, bias float64
	held := 0
	for range rounds {
		w := newToyWeb(r, 3000, 40, 0.04+0.1*r.Float64())
		a, b := w.crawl(r, 150+r.IntN(300)), w.crawl(r, 150+r.IntN(300))
		found := a.relevantURLs()
		truth := float64(len(found)) / float64(w.targets)
		p, ok := frontier([]*Crawl{a, b})
		if !ok {
			t.Fatal("no estimate")
		}
		lp, _ := capture([][]string{found, b.relevantURLs()})
		e := p.recall(len(found))
		bias += (e.Value - truth) / rounds
		squared += (e.Value - truth) * (e.Value - truth) / rounds
		plain += math.Pow(lp.recall(len(found)).Value-truth, 2) / rounds
		if e.CI[0] <= truth && truth <= e.CI[1] {
			held++
		}
		if p.CI[0] > p.Size || p.CI[1] < p.Size || p.CI[0] < float64(p.Seen) {
			t.Errorf("size %.1f (seen %d) outside its interval %v", p.Size, p.Seen, p.CI)
		}
	}
	t.Logf("bias %+.3f, root mean square error %.3f, plain %.3f, intervals held %d of %d", bias, math.Sqrt(squared), math.Sqrt(plain), held, rounds)
	if math.Sqrt(squared) > 0.5*math.Sqrt(plain) {
		t.Errorf("root mean square error %.3f, want at most half of plain Lincoln–Petersen's %.3f", math.Sqrt(squared), math.Sqrt(plain))
	}
	if held < rounds*9/10 {
		t.Errorf("intervals held the truth %d times in %d, want at least 9 in 10", held, rounds)
	}
}

// thinned keeps the sample of a trail that loadTrail would keep of a larger crawl.
func thinned(c *Crawl, by uint64) *Crawl {
	out := &Crawl{Pages: c.Pages, Trail: &crawlTrail{Thin: by}}
	for _, s := range c.Trail.Steps {
		s.Links = slices.DeleteFunc(slices.Clone(s.Links), func(k uint64) bool { return !out.Trail.kept(k) })
		out.Trail.Steps = append(out.Trail.Steps, s)
	}
	for _, w := range c.Trail.Waiting {
		if out.Trail.kept(w.Key) {
			out.Trail.Waiting = append(out.Trail.Waiting, w)
		}
	}
	return out
}

// A sample of the URLs must give the same mean estimate.
func TestFrontierThinned(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 2))
	var ratio float64
	const rounds = 12
	for range rounds {
		w := newToyWeb(r, 3000, 40, 0.12)
		mix := func(c *Crawl) *Crawl { // make the keys' low bits even and odd alike
			shift := func(k uint64) uint64 { return (k >> 8) | 1<<60 }
			for i := range c.Trail.Steps {
				s := &c.Trail.Steps[i]
				s.Key = shift(s.Key)
				for j := range s.Links {
					s.Links[j] = shift(s.Links[j])
				}
			}
			for i := range c.Trail.Waiting {
				c.Trail.Waiting[i].Key = shift(c.Trail.Waiting[i].Key)
			}
			return c
		}
		a, b := mix(w.crawl(r, 300)), mix(w.crawl(r, 300))
		whole, _ := frontier([]*Crawl{a, b})
		part, _ := frontier([]*Crawl{thinned(a, 2), thinned(b, 4)})
		if part.Seen != whole.Seen {
			t.Errorf("seen %d of a sample, %d of all", part.Seen, whole.Seen)
		}
		ratio += (part.Size - float64(part.Seen)) / (whole.Size - float64(whole.Seen)) / rounds
	}
	if ratio < 0.75 || ratio > 1.35 {
		t.Errorf("unseen by a quarter of the URLs is %.2f of that by all, want about 1", ratio)
	}
}

func TestFrontierRefuses(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	w := newToyWeb(r, 500, 10, 0.2)
	a := w.crawl(r, 50)
	none := &Crawl{Trail: &crawlTrail{Thin: 1}}
	for name, crawls := range map[string][]*Crawl{
		"no crawl": nil, "no trail": {a, {Pages: a.Pages}}, "nothing fetched": {none, none},
	} {
		if p, ok := frontier(crawls); ok {
			t.Errorf("%s: got %+v", name, p)
		}
	}
	if _, ok := frontier([]*Crawl{a, none}); !ok {
		t.Error("an empty crawl beside a good one: no estimate")
	}
}

// A link that redirects counts for the page it leads to, whichever crawl saw the redirect.
func TestFrontierRedirects(t *testing.T) {
	page := func(i int, relevant bool) Page {
		return Page{URL: fmt.Sprint(i), Score: 0.9, Verdict: Verdict{Relevant: relevant}}
	}
	a := &Crawl{Pages: []Page{page(1, true), page(2, true)}, Trail: &crawlTrail{Thin: 1, Steps: []Step{
		{Key: 1, Promise: 1, Page: 0, Links: []uint64{7}}, {Key: 2, Promise: 0.9, Page: 1},
	}, Redirects: map[uint64]uint64{7: 2}}}
	b := &Crawl{Pages: []Page{page(3, true)}, Trail: &crawlTrail{Thin: 1, Steps: []Step{{Key: 3, Promise: 1, Page: 0, Links: []uint64{7, 8}}},
		Waiting: []waitingURL{{Key: 7, Promise: 0.5}, {Key: 8, Promise: 0.5}}}}
	r := newReplay([]*Crawl{a, b})
	if e := r.evidence[2]; e.parents != 2 || e.relevant != 2 {
		t.Errorf("page 2: got %+v, want two parents by way of 7", e)
	}
	if _, waits := r.waiting[7]; waits || len(r.waiting) != 1 {
		t.Errorf("waiting: got %v, want 8 alone", r.waiting)
	}
	if len(r.examples) != 1 {
		t.Errorf("%d examples, want page 2 alone: start pages teach nothing", len(r.examples))
	}
}

func TestIChao(t *testing.T) {
	// Malayan butterflies (Fisher, Corbet and Williams 1943): 118 species were
	// caught once, 74 twice, 44 three and 24 four times. By hand:
	// 118·117/(2·75) = 92.04, and 44/100·(118 − 74·44/50) = 23.2672.
	chao1, variance := chao(1, 118, 74)
	checkNear(t, "chao", chao1, 92.04)
	unseen, taken := ichao(118, 74, 44, 24)
	checkNear(t, "ichao", unseen, 92.04+23.2672)
	checkNear(t, "relative variance stays", taken/(unseen*unseen), variance/(chao1*chao1))
	if u, _ := ichao(118, 74, 200, 0); !(math.Abs(u-92.04) <= tolerance) { // f₁ − f₂f₃/2 is below 0
		t.Errorf("many seen three times: got %g, want Chao's 92.04", u)
	}
	if u, _ := ichao(0.4, 3, 2, 1); u != 0 {
		t.Errorf("less than one page seen once: got %g unseen, want 0", u)
	}
}

// TestDescribe checks the features of a URL by hand. 7 of 18 requests gave a relevant page, so the
// prior rate is (7+1)/(18+2) = 0.4, and a host with 2 of 3 has (2 + 2·0.4)/(3 + 2) = 0.56.
func TestDescribe(t *testing.T) {
	got := describe(evidence{parents: 4, relevant: 1, sum: 2.4, best: 0.9}, 0.8, tally{3, 2}, tally{18, 7})
	for part, want := range map[int]float64{
		partBias: 1, partPromise: math.Log(4), partRelevant: math.Ln2, partShare: 0.25,
		partMean: math.Log(0.6 / 0.4), partBest: math.Log(9), partHost: math.Log(0.56/0.44) - math.Log(0.4/0.6),
	} {
		checkNear(t, fmt.Sprint("part ", part), got[part], want)
	}
	checkNear(t, "no chance", logOdds(0), -math.Log(999))
	checkNear(t, "certain", logOdds(1), math.Log(999))
}

func TestReplay(t *testing.T) {
	a := &Crawl{Pages: []Page{{Score: 0.9, Verdict: Verdict{Relevant: true}}, {Score: 0.3}}, Trail: &crawlTrail{Thin: 1, Steps: []Step{
		{Key: 1, Host: 7, Page: 0, Start: true, Links: []uint64{2, 3, 2, 1}}, // a self-link, and a repeated link to 2
		{Key: 2, Host: 7, Page: 1, Links: []uint64{3, 4}},
		{Key: 4, Host: 8, Page: -1},
	}, Waiting: []waitingURL{{3, 9, 0.5}, {2, 9, 0.9}, {6, 9, 0.9}}}} // 2 was fetched, nothing links to 6
	b := &Crawl{Trail: &crawlTrail{Thin: 1, Waiting: []waitingURL{{3, 9, 0.7}}}}
	c := &Crawl{Trail: &crawlTrail{Thin: 1, Waiting: []waitingURL{{3, 9, 0.6}}}}
	r := newReplay([]*Crawl{a, b, c})
	for key, want := range map[uint64]evidence{1: {}, 2: {1, 1, 0.9, 0.9}, 3: {2, 1, 1.2, 0.9}, 4: {1, 0, 0.3, 0.3}} {
		if got := r.evidence[key]; got != want {
			t.Errorf("evidence of %d: %+v, want %+v", key, got, want)
		}
	}
	if r.hosts[7] != (tally{2, 1}) || r.hosts[8] != (tally{1, 0}) || r.all != (tally{3, 1}) {
		t.Errorf("hosts %v, all %v", r.hosts, r.all)
	}
	if len(r.examples) != 2 || r.examples[0].x != describe(evidence{1, 1, 0.9, 0.9}, 0, tally{1, 1}, tally{1, 1}) {
		t.Errorf("examples %v", r.examples)
	}
	if len(r.waiting) != 1 || r.waiting[3].Promise != 0.7 {
		t.Errorf("waiting %v, want 3 at its best promise", r.waiting)
	}
	b.Trail.Thin = 2
	if r := newReplay([]*Crawl{a, b, c}); r.thin != 2 || len(r.evidence) != 2 || len(r.waiting) != 0 {
		t.Errorf("of every other key: %+v", r.evidence)
	}
}

// TestUnlinked, by hand: 4, 2 and 1 fetched relevant pages have one, two and three parents; the
// waiting URLs add an expected ½ and ¼: f = 4½, 2¼, 1, 0. Chao's estimate is 4½·3½/(2·3¼) = 2.423077;
// with f₃/4 · (f₁ − f₂f₃/2) it is 3.266827. Chao's variance, 10.490336, scales with the square of
// their ratio. Two relevant pages without in-links were found.
func TestUnlinked(t *testing.T) {
	r := &replay{thin: 1, fetched: map[uint64]bool{10: true, 11: true, 20: false}, evidence: map[uint64]evidence{20: {parents: 1}, 30: {parents: 1}, 31: {parents: 2}, 32: {parents: 5}}}
	for key, parents := range []float64{1, 1, 1, 1, 2, 2, 3} {
		r.fetched[uint64(key)], r.evidence[uint64(key)] = true, evidence{parents: parents}
	}
	waiting := map[uint64]float64{30: 0.5, 31: 0.25, 32: 0.5}
	n, variance := r.unlinked(waiting)
	checkNear(t, "unlinked", n, 3.266827-2)
	checkNear(t, "its variance", variance, 19.068093)
	r.thin = 2 // drops 11
	n, _ = r.unlinked(waiting)
	checkNear(t, "unlinked of every other key", n, 3.266827-1)
	r.thin = 1
	r.fetched[12], r.fetched[13] = true, true
	if n, variance := r.unlinked(waiting); n != 0 || variance != 0 {
		t.Errorf("all that nothing links to was found, and yet %g ± %g are unseen", n, variance)
	}
}

// TestFrontierSum: N = S + thin·(Σ P + unlinked), with spread √(variance/(unseen+1)² + ½²). A single
// crawl has no start pages of others to correct it.
func TestFrontierSum(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 2))
	crawls := []*Crawl{thinned(newToyWeb(rng, 300, 10, 0.2).crawl(rng, 60), 3)}
	for _, probable := range []bool{false, true} {
		crawls[0].Probabilities = probable
		p, ok := frontier(crawls)
		r := newReplay(crawls)
		m := fitLogistic(r.examples, newPrior(probable))
		chances, waiting, variance := map[uint64]float64{}, 0.0, 0.0
		var xs [][parts]float64
		for _, key := range sortedKeys(r.waiting) {
			w := r.waiting[key]
			x := describe(r.evidence[key], w.Promise, r.hosts[w.Host], r.all)
			xs = append(xs, x)
			chances[key] = m.probability(&x)
		}
		waiting, variance = m.sum(len(xs), func(i int) *[parts]float64 { return &xs[i] })
		unlinked, more := r.unlinked(chances)
		unseen := 3 * (waiting + unlinked)
		median, ci := posterior(r.all.relevant, unseen, math.Sqrt(9*(variance+more)/math.Pow(unseen+1, 2)+0.25), nil)
		if !ok || unlinked == 0 || waiting == 0 {
			t.Fatalf("%v, %g wait, %g unlinked", ok, waiting, unlinked)
		}
		checkNear(t, "size", p.Size, r.all.relevant+median)
		checkNear(t, "lo", p.CI[0], r.all.relevant+ci[0])
		checkNear(t, "hi", p.CI[1], r.all.relevant+ci[1])
	}
}
