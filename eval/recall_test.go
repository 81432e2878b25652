package eval

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"fossick/internal/page"
	"fossick/internal/stats"
	"fossick/internal/testkit"
	"fossick/store"
)

func TestLincolnPetersen(t *testing.T) {
	// Seber's textbook case: 200 marked, 100 caught, 20 of them marked. By hand:
	// N = 201·101/21 − 1 = 965.714; var = 201·101·180·80/(21²·22) = 30130.9.
	p := lincolnPetersen(200, 100, 20)
	checkNear(t, "N", p.Size, 965.7143)
	if p.Seen != 280 {
		t.Errorf("seen: got %d, want 280", p.Seen)
	}
	unseen := 965.7142857 - 280
	k := math.Exp(1.959964 * math.Sqrt(math.Log(1+30130.9/(unseen*unseen))))
	if !(math.Abs(p.CI[0]-(280+unseen/k)) <= 0.05) || !(math.Abs(p.CI[1]-(280+unseen*k)) <= 0.05) {
		t.Errorf("interval: got %v, want [%v, %v]", p.CI, 280+unseen/k, 280+unseen*k)
	}

	same := lincolnPetersen(50, 50, 50)
	checkNear(t, "the same pages twice", same.Size, 50)
	checkNear(t, "the same pages twice, lo", same.CI[0], 50)
	checkNear(t, "the same pages twice, hi", same.CI[1], 50+stats.Z95*stats.Z95) // Wilson's lower end of 50 in 50 is 50/(50+z²)
	checkNear(t, "all of the smaller crawl again, hi", lincolnPetersen(50, 80, 50).CI[1], 80*(50+stats.Z95*stats.Z95)/50)
	if none := lincolnPetersen(3, 0, 0); none.Size != 3 || none.CI != (interval95{3, 3}) {
		t.Errorf("the second found nothing: got %+v, want 3", none)
	}
	if apart := lincolnPetersen(10, 10, 0); apart.Size != 120 || apart.CI[1] < 2*apart.CI[0] {
		t.Errorf("nothing in common: got %+v, want 120 and a wide interval", apart)
	}
}

func TestChao(t *testing.T) {
	// By hand: t = 3, f1 = 10, f2 = 4: N = 30 + (2/3)·10·9/(2·5) = 36;
	// var = 6 + (4/9)·10·19²/(4·25) + (4/9)·100·4·81/(4·625) = 6 + 16.0444 + 5.76.
	p := chao2(3, 30, 10, 4)
	checkNear(t, "N", p.Size, 36)
	k := math.Exp(stats.Z95 * math.Sqrt(math.Log(1+27.80444/36)))
	checkNear(t, "lo", p.CI[0], 30+6/k)
	checkNear(t, "hi", p.CI[1], 30+6*k)
	all := chao2(3, 30, 0, 5)
	checkNear(t, "no page found once", all.Size, 30)
	checkNear(t, "no page found once, lo", all.CI[0], 30)
	checkNear(t, "no page found once, hi", all.CI[1], 30*(1+stats.Z95*stats.Z95/60)) // 1 − Wilson's upper end of 0 in 60 is 60/(60+z²)
	// Wilson's upper end of 1 in 2·30 − 1 captures: (x + z²/2 + z·√(x(1 − x/n) + z²/4)) / (n + z²).
	const x, n, z = 1., 59., stats.Z95
	share := (x + z*z/2 + z*math.Sqrt(x*(1-x/n)+z*z/4)) / (n + z*z)
	one := chao2(3, 30, 1, 5)
	checkNear(t, "one page found once, hi", one.CI[1], 30/(1-share))
}

// TestRecallOfPopulation: a recall's interval inverts the ends of the population's interval.
func TestRecallOfPopulation(t *testing.T) {
	e := relevantWeb{Size: 50, Seen: 40, CI: interval95{40, 80}}.recall(20)
	if e.Caution != cautionBound || !e.Upper() {
		t.Errorf("capture–recapture gives no more than a bound: %+v", e)
	}
	if e := (relevantWeb{Size: 50, CI: interval95{40, 80}, Method: methodFrontier}).recall(20); e.Caution != cautionFrontier || e.Upper() {
		t.Errorf("the frontier's estimate is no bound: %+v", e)
	}
	if e.Value != 0.4 || e.CI != (interval95{0.25, 0.5}) || e.Together != 0.8 {
		t.Errorf("%+v, want 0.4 (0.25 to 0.5), together 0.8", e)
	}
}

func TestCapture(t *testing.T) {
	if _, ok := capture([][]string{{"a"}}); ok {
		t.Error("one crawl gave an estimate")
	}
	if _, ok := capture([][]string{nil, nil}); ok {
		t.Error("nothing found gave an estimate")
	}
	p, ok := capture([][]string{{"a", "b", "c"}, {"b", "c", "d"}})
	if want := lincolnPetersen(3, 3, 2); !ok || p != want {
		t.Errorf("two crawls: got %+v, want %+v", p, want)
	}
	p, ok = capture([][]string{{"a", "b"}, {"b", "c"}, {"b", "c", "d"}})
	if want := chao2(3, 4, 2, 1); !ok || p != want {
		t.Errorf("three crawls: got %+v, want %+v", p, want)
	}
	e := p.recall(3)
	checkNear(t, "recall", e.Value, 3/p.Size)
	checkNear(t, "together", e.Together, 4/p.Size)
	if e.CI[0] > e.Value || e.CI[1] < e.Value {
		t.Errorf("recall %v outside its interval %v", e.Value, e.CI)
	}
}

// On independent samples, which the estimators assume, about 95 intervals in 100 must hold the
// true population.
func TestCaptureCoverage(t *testing.T) {
	const population, rounds = 400, 300
	r := rand.New(rand.NewPCG(1, 3))
	for _, captures := range []int{2, 3, 5} {
		held, sum := 0, 0.0
		for range rounds {
			var crawls [][]string
			for range captures {
				var c []string
				for _, i := range r.Perm(population)[:100] {
					c = append(c, strconv.Itoa(i))
				}
				crawls = append(crawls, c)
			}
			p, _ := capture(crawls)
			sum += p.Size
			if p.CI[0] <= population && population <= p.CI[1] {
				held++
			}
		}
		if mean := sum / rounds; !(math.Abs(mean-population) <= 0.05*population) {
			t.Errorf("%d captures: mean estimate %.0f, want about %d", captures, mean, population)
		}
		if share := float64(held) / rounds; share < 0.90 {
			t.Errorf("%d captures: the interval held the truth in %.2f of %d rounds, want about 0.95", captures, share, rounds)
		}
	}
}

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
func (w *toyWeb) crawl(r *rand.Rand, pages int) *judgedCrawl {
	c := &judgedCrawl{Trail: &crawlTrail{Thin: 1}}
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
		s := trailStep{Key: w.key(best), Host: uint64(best % 40), Promise: promise[best], Page: len(c.Pages)}
		delete(promise, best)
		done[best] = true
		for _, to := range w.links[best] {
			s.Links = append(s.Links, w.key(to))
			if !done[to] {
				promise[to] = max(promise[to], w.score[best])
			}
		}
		c.Trail.Steps = append(c.Trail.Steps, s)
		c.Pages = append(c.Pages, judgedPage{URL: fmt.Sprint(best), Score: w.score[best], judgement: judgement{Relevant: w.relevant[best], Known: true}})
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
		p, ok := frontier([]*judgedCrawl{a, b})
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
func thinned(c *judgedCrawl, by uint64) *judgedCrawl {
	out := &judgedCrawl{Pages: c.Pages, Trail: &crawlTrail{Thin: by}}
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
		mix := func(c *judgedCrawl) *judgedCrawl { // make the keys' low bits even and odd alike
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
		whole, _ := frontier([]*judgedCrawl{a, b})
		part, _ := frontier([]*judgedCrawl{thinned(a, 2), thinned(b, 4)})
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
	none := &judgedCrawl{Trail: &crawlTrail{Thin: 1}}
	for name, crawls := range map[string][]*judgedCrawl{
		"no crawl": nil, "no trail": {a, {Pages: a.Pages}}, "nothing fetched": {none, none},
	} {
		if p, ok := frontier(crawls); ok {
			t.Errorf("%s: got %+v", name, p)
		}
	}
	if _, ok := frontier([]*judgedCrawl{a, none}); !ok {
		t.Error("an empty crawl beside a good one: no estimate")
	}
}

// A link that redirects counts for the page it leads to, whichever crawl saw the redirect.
func TestFrontierRedirects(t *testing.T) {
	page := func(i int, relevant bool) judgedPage {
		return judgedPage{URL: fmt.Sprint(i), Score: 0.9, judgement: judgement{Relevant: relevant}}
	}
	a := &judgedCrawl{Pages: []judgedPage{page(1, true), page(2, true)}, Trail: &crawlTrail{Thin: 1, Steps: []trailStep{
		{Key: 1, Promise: 1, Page: 0, Links: []uint64{7}}, {Key: 2, Promise: 0.9, Page: 1},
	}, Redirects: map[uint64]uint64{7: 2}}}
	b := &judgedCrawl{Pages: []judgedPage{page(3, true)}, Trail: &crawlTrail{Thin: 1, Steps: []trailStep{{Key: 3, Promise: 1, Page: 0, Links: []uint64{7, 8}}},
		Waiting: []waitingURL{{Key: 7, Promise: 0.5}, {Key: 8, Promise: 0.5}}}}
	r := newReplay([]*judgedCrawl{a, b})
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
	a := &judgedCrawl{Pages: []judgedPage{{Score: 0.9, judgement: judgement{Relevant: true}}, {Score: 0.3}}, Trail: &crawlTrail{Thin: 1, Steps: []trailStep{
		{Key: 1, Host: 7, Page: 0, Start: true, Links: []uint64{2, 3, 2, 1}}, // a self-link, and a repeated link to 2
		{Key: 2, Host: 7, Page: 1, Links: []uint64{3, 4}},
		{Key: 4, Host: 8, Page: -1},
	}, Waiting: []waitingURL{{3, 9, 0.5}, {2, 9, 0.9}, {6, 9, 0.9}}}} // 2 was fetched, nothing links to 6
	b := &judgedCrawl{Trail: &crawlTrail{Thin: 1, Waiting: []waitingURL{{3, 9, 0.7}}}}
	c := &judgedCrawl{Trail: &crawlTrail{Thin: 1, Waiting: []waitingURL{{3, 9, 0.6}}}}
	r := newReplay([]*judgedCrawl{a, b, c})
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
	if r := newReplay([]*judgedCrawl{a, b, c}); r.thin != 2 || len(r.evidence) != 2 || len(r.waiting) != 0 {
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
	crawls := []*judgedCrawl{thinned(newToyWeb(rng, 300, 10, 0.2).crawl(rng, 60), 3)}
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

func randomExamples(r *rand.Rand, n int, weight [parts]float64) []example {
	out := make([]example, n)
	for i := range out {
		x := &out[i].x
		x[partBias] = 1
		z := weight[partBias]
		for j := 1; j < parts; j++ {
			x[j] = r.NormFloat64()
			z += weight[j] * x[j]
		}
		if r.Float64() < 1/(1+math.Exp(-z)) {
			out[i].y = 1
		}
	}
	return out
}

// At the optimum the slope is 0 along each free weight and not positive along each bound one.
func TestFitLogisticOptimum(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 7))
	for round := range 50 {
		var weight [parts]float64
		for j := range weight {
			weight[j] = r.NormFloat64() * 1.5 // half of them negative
		}
		examples := randomExamples(r, 20+r.IntN(300), weight)
		p := newPrior(round%2 == 1)
		m := fitLogistic(examples, p)
		free := map[int]bool{}
		for _, j := range m.active {
			free[j] = true
		}
		for j := range parts {
			slope := -p.lambda[j] * (m.weight[j] - p.mean[j])
			for i := range examples {
				slope += (examples[i].y - m.probability(&examples[i].x)) * examples[i].x[j]
			}
			switch {
			case free[j] && math.Abs(slope) > 1e-3:
				t.Errorf("round %d: slope %g along weight %d = %g, want 0", round, slope, j, m.weight[j])
			case !free[j] && m.weight[j] != 0:
				t.Errorf("round %d: weight %d is bound and %g", round, j, m.weight[j])
			case j != partBias && m.weight[j] < 0:
				t.Errorf("round %d: weight %d = %g is negative", round, j, m.weight[j])
			}
		}
	}
}

// One class alone, or constant features, must not break the fit.
func TestFitLogisticDegenerate(t *testing.T) {
	for _, y := range []float64{0, 1} {
		examples := make([]example, 40)
		for i := range examples {
			examples[i] = example{[parts]float64{1, 3, 3, 1, 3, 3, 0}, y}
		}
		m := fitLogistic(examples, newPrior(false))
		if p := m.probability(&examples[0].x); !(math.Abs(p-y) <= 0.05) {
			t.Errorf("all of class %g: probability %g", y, p)
		}
		if n, v := m.sum(40, func(i int) *[parts]float64 { return &examples[i].x }); !(math.Abs(n-40*y) <= 2) || v < 0 || math.IsNaN(v) {
			t.Errorf("all of class %g: sum %g ± %g²", y, n, v)
		}
	}
}

// Over many samples, the sum must lie within 1.96 deviations about 95 times in 100.
func TestLogisticSum(t *testing.T) {
	// By hand: without examples the weights are the prior means, 1 for the promise, and the Hessian
	// is λ, 0.01 for the bias. Promises of ln 3 and −ln 3 have p = ¾ and ¼ and p(1−p) = 3/16 each. So
	// the sum is 1, g is 3/8 along the bias, and the variance is 3/8 + (3/8)²/0.01.
	m := fitLogistic(nil, newPrior(true))
	two := [][parts]float64{{partBias: 1, partPromise: math.Log(3)}, {partBias: 1, partPromise: -math.Log(3)}}
	total, variance := m.sum(2, func(i int) *[parts]float64 { return &two[i] })
	checkNear(t, "two chances", total, 1)
	checkNear(t, "their variance", variance, 0.375+0.140625/0.01)
	r := rand.New(rand.NewPCG(4, 1))
	weight := [parts]float64{-2, 0.8, 0.5, 0.6, 0.4, 0.3, 0.2}
	const rounds = 200
	held := 0
	for range rounds {
		m := fitLogistic(randomExamples(r, 400, weight), newPrior(false))
		targets := randomExamples(r, 600, weight)
		truth := 0.0
		for _, e := range targets {
			truth += e.y
		}
		n, v := m.sum(len(targets), func(i int) *[parts]float64 { return &targets[i].x })
		if math.Abs(n-truth) < stats.Z95*math.Sqrt(v) {
			held++
		}
	}
	if share := float64(held) / rounds; share < 0.88 || share > 0.99 {
		t.Errorf("%.3f of the sums lie within 1.96 deviations, want about 0.95", share)
	}
}

// TestFitLogisticPromises: when scores are probabilities and all fetched pages had the same one,
// the observed odds shift the odds of other URLs. Otherwise the scores say nothing about them.
func TestFitLogisticPromises(t *testing.T) {
	at := func(p float64) (x [parts]float64) {
		x[partBias], x[partPromise] = 1, logOdds(p)
		return x
	}
	var examples []example
	for i := range 200 { // scored 0.8, half of them relevant
		examples = append(examples, example{at(0.8), float64(i % 2)})
	}
	low := at(0.01)
	odds := func(p float64) float64 { return p / (1 - p) }
	want := odds(0.01) / odds(0.8)
	if got := odds(fitLogistic(examples, newPrior(true)).probability(&low)); !(math.Abs(math.Log(got/want)) <= 0.5) {
		t.Errorf("odds %.4f for what is promised .01, want near %.4f", got, want)
	}
	if got := fitLogistic(examples, newPrior(false)).probability(&low); got < 0.1 {
		t.Errorf("probability %.4f without knowing that scores are probabilities, want more than .1", got)
	}
}

func TestSightings(t *testing.T) {
	page := func(relevant bool) judgedPage {
		return judgedPage{Score: 0.5, judgement: judgement{Relevant: relevant}}
	}
	a := &judgedCrawl{Pages: []judgedPage{page(true), page(true)}, Trail: &crawlTrail{Thin: 1, Steps: []trailStep{
		{Key: 1, Page: 0, Start: true, Links: []uint64{3, 5, 9}}, {Key: 3, Page: 1},
	}, Waiting: []waitingURL{{Key: 9, Promise: 0.5}}}}
	b := &judgedCrawl{Pages: []judgedPage{page(true), page(true), page(false)}, Trail: &crawlTrail{Thin: 1, Steps: []trailStep{
		{Key: 5, Page: 0, Start: true}, {Key: 6, Page: 1, Start: true}, {Key: 7, Page: 2, Start: true, Links: []uint64{7}},
	}}}
	crawls := []*judgedCrawl{a, b}
	got := newReplay(crawls).sightings(crawls, map[uint64]float64{9: 0.25})
	// a fetched 1 and 3 and links to 5, all relevant, and to 9. Of b's start pages 5 and 6 are
	// relevant; a links to 5. b links only to itself, so it encountered only its start pages.
	if want := (sighting{3.25, 2, 1}); got[0] != want {
		t.Errorf("first crawl: got %+v, want %+v", got[0], want)
	}
	if want := (sighting{2, 1, 0}); got[1] != want {
		t.Errorf("second crawl: got %+v, want %+v", got[1], want)
	}
	// Each crawl encountered the start page that both share.
	c := &judgedCrawl{Pages: []judgedPage{page(true), page(true)}, Trail: &crawlTrail{Thin: 1, Steps: []trailStep{
		{Key: 1, Page: 0, Start: true}, {Key: 8, Page: 1, Start: true},
	}}}
	crawls = []*judgedCrawl{a, c}
	if got, want := newReplay(crawls).sightings(crawls, map[uint64]float64{9: 0.25})[0], (sighting{2.25, 2, 1}); got != want {
		t.Errorf("a start page in common: got %+v, want %+v", got, want)
	}
	// With Thin 2, each key kept counts twice. A start page that failed, or whose key is not
	// kept, does not count.
	crawls = []*judgedCrawl{a, b}
	for _, crawl := range crawls {
		crawl.Trail.Thin = 2
		for i := range crawl.Trail.Steps {
			step := &crawl.Trail.Steps[i]
			step.Key *= 2
			for k := range step.Links {
				step.Links[k] *= 2
			}
		}
		for i := range crawl.Trail.Waiting {
			crawl.Trail.Waiting[i].Key *= 2
		}
		crawl.Trail.Steps = append(crawl.Trail.Steps, trailStep{Key: 40, Page: -1, Start: true}, trailStep{Key: 41, Page: 0, Start: true})
	}
	got = newReplay(crawls).sightings(crawls, map[uint64]float64{18: 0.25})
	if got[0] != (sighting{6.5, 2, 1}) || got[1] != (sighting{4, 1, 0}) {
		t.Errorf("of every other key: %+v", got)
	}
}

// TestStartPagesAlone: crawls that missed all of each other's start pages saw less than half the web.
func TestStartPagesAlone(t *testing.T) {
	var crawls []*judgedCrawl
	for first := uint64(1); first <= 101; first += 100 {
		c := &judgedCrawl{Trail: &crawlTrail{Thin: 1}}
		for k := range uint64(20) { // ten start pages, and ten off topic that the first one links to
			s := trailStep{Key: first + k, Page: int(k), Start: k < 10, Promise: 0.5}
			if k == 0 {
				s.Links = []uint64{first + 10, first + 11, first + 12, first + 13, first + 14, first + 15, first + 16, first + 17, first + 18, first + 19}
			}
			c.Trail.Steps = append(c.Trail.Steps, s)
			c.Pages = append(c.Pages, judgedPage{Score: 0.5, judgement: judgement{Relevant: k < 10}})
		}
		crawls = append(crawls, c)
	}
	p, ok := frontier(crawls)
	if !ok || p.Seen != 20 || p.Size < 40 || p.CI[1] < 100 {
		t.Errorf("%+v, %v; ten of ten start pages were missed, so there must be many more than the 20 found", p, ok)
	}
}

// TestLikelihood, by hand: a crawl encountered 4.5 pages of a population of 19, so each start page
// has the chance (4.5+½)/20; it saw three of four. Three such crawls weigh 3/2 of one.
func TestLikelihood(t *testing.T) {
	one := sighting{met: 4.5, starts: 4, seen: 3}
	for _, c := range []struct {
		all  []sighting
		size float64
		want float64
	}{
		{nil, 19, 0},
		{[]sighting{one}, 19, 3*math.Log(0.25) + math.Log(0.75)},
		{[]sighting{one, one}, 19, 2 * (3*math.Log(0.25) + math.Log(0.75))},
		{[]sighting{one, one, one}, 19, 1.5 * (3*math.Log(0.25) + math.Log(0.75))},
		{[]sighting{{met: 100, starts: 2, seen: 1}}, 10, math.Log(1-1e-6) + math.Log(1e-6)}, // more encountered than exist: nearly certain
		{[]sighting{{starts: 1, seen: 1}}, 1e9, math.Log(1e-6)},
	} {
		checkNear(t, fmt.Sprint(c), logLikelihood(c.all, c.size), c.want)
	}
}

func TestPosterior(t *testing.T) {
	// Small populations, against an integral on a grid two hundred times finer.
	for _, c := range []struct {
		seen           float64
		all            []sighting
		median, lo, hi float64
	}{
		{0, []sighting{{1, 10, 0}}, 10.8131, 2.7132, 254.578},
		{3, []sighting{{4, 10, 2}, {3, 5, 1}, {2, 6, 1}}, 6.7559, 1.2874, 31.3102},
	} {
		median, ci := posterior(c.seen, 2, 0.5, c.all)
		for _, v := range [][2]float64{{median, c.median}, {ci[0], c.lo}, {ci[1], c.hi}} {
			if !(math.Abs(v[0]/v[1]-1) <= 0.02) {
				t.Errorf("%v: got %g, want %g", c.all, v[0], v[1])
			}
		}
	}
	const seen, unseen, spread = 100, 100, 0.4
	// Without start pages: Student's t with 3 degrees, 3.1824 at 97.5 %.
	median, ci := posterior(seen, unseen, spread, nil)
	for _, v := range []struct{ got, want float64 }{
		{median, unseen}, {ci[0], 101*math.Exp(-3.1824*spread) - 1}, {ci[1], 101*math.Exp(3.1824*spread) - 1},
	} {
		if !(math.Abs(v.got-v.want) <= 0.03*v.want) {
			t.Errorf("no start pages: got %.1f, want %.1f", v.got, v.want)
		}
	}
	// A crawl links to 150 of about 200 relevant pages. 15 of 20 start pages encountered agrees
	// with that; 1 of 20 means thousands more.
	agrees, _ := posterior(seen, unseen, spread, []sighting{{150, 20, 15}})
	if agrees < 0.7*unseen || agrees > 1.4*unseen {
		t.Errorf("start pages that agree moved the estimate from %d to %.0f", unseen, agrees)
	}
	more, wide := posterior(seen, unseen, spread, []sighting{{150, 20, 1}})
	if more < 5*unseen || wide[1] < 1500 {
		t.Errorf("1 of 20 start pages came across: got %.0f %v, want many times %d", more, wide, unseen)
	}
	all, _ := posterior(seen, unseen, spread, []sighting{{150, 20, 20}})
	if all > agrees || all < 0.5*unseen {
		t.Errorf("20 of 20: got %.0f, want below %.0f, and no fewer than half of what the frontier says", all, agrees)
	}
	if none, ci := posterior(0, 0, spread, nil); none < 0 || ci[0] < 0 || math.IsNaN(ci[1]) {
		t.Errorf("nothing unseen: got %g %v", none, ci)
	}
}

const trailBase = "http://a.example/"

// trailStore has a start page, a linked page, a redirect, its target, a failure, a denied and a waiting URL.
func trailStore(t *testing.T) *store.Store {
	t.Helper()
	s := testkit.Call(store.Create(filepath.Join(t.TempDir(), "s"), store.Info{})).Must(t)
	b := s.Batch()
	put := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	born := func(id, from store.ID, name string, via store.Via) {
		put(b.PutDiscovery(id, store.Discovery{URL: trailBase + name, From: from, Via: via}))
	}
	stored := func(id store.ID, number uint64, name string, at int64, links ...store.ID) {
		put(b.PutPage(&store.Page{Number: number, ID: id, URL: trailBase + name, Checksum: []byte(name + "0123456789abcdef")[:16], Links: links, At: at, Relevant: true}, s.Compress(nil)))
		put(b.PutOutcome(id, store.Outcome{State: "ok", Page: number, Score: float64(id) / 10, At: at}))
	}
	born(1, 0, "seed", store.ViaSeed)
	born(2, 1, "linked", store.ViaLink)
	born(3, 1, "moved", store.ViaLink)
	born(4, 3, "target", store.ViaRedirect)
	born(5, 1, "broken", store.ViaLink)
	born(6, 1, "forbidden", store.ViaLink)
	born(7, 2, "waits", store.ViaLink)
	stored(1, 1, "seed", 10, 2, 3, 5, 6)
	stored(2, 2, "linked", 20, 7, 3)
	stored(4, 3, "target", 40, 7)
	put(b.PutOutcome(3, store.Outcome{State: "redirect", At: 30, Score: 0.3}))
	put(b.PutOutcome(5, store.Outcome{State: "code", At: 25, Score: 0.5}))
	put(b.PutOutcome(6, store.Outcome{State: "robots_denied", At: 26}))
	put(b.PutQueued(7, store.Queued{Priority: 0.2, Score: 0.7}))
	put(b.PutCounts(&store.Counts{URLs: 7, Pages: 3}))
	put(b.Commit())
	return s
}

func TestLoadTrail(t *testing.T) {
	s := trailStore(t)
	defer closed(t, s)
	c := load(t, s)
	testkit.Must(t, c.loadTrail(context.Background(), s))
	key := func(name string) uint64 { return page.Key(trailBase + name) }
	if !c.Trail.Steps[0].Start || c.Trail.Steps[1].Start {
		t.Error("the first step is a start page, the second is none")
	}
	type want struct {
		name    string
		promise float64
		page    int
		links   []string
	}
	wants := []want{
		{"seed", 0.1, 0, []string{"linked", "target", "broken"}}, {"linked", 0.2, 1, []string{"waits", "target"}},
		{"broken", 0.5, -1, nil}, {"target", 0.4, 2, []string{"waits"}},
	}
	if len(c.Trail.Steps) != len(wants) {
		t.Fatalf("got %d steps, want %d: %+v", len(c.Trail.Steps), len(wants), c.Trail.Steps)
	}
	for i, w := range wants {
		got := c.Trail.Steps[i]
		var links []uint64
		for _, name := range w.links {
			links = append(links, key(name))
		}
		if got.Key != key(w.name) || got.Promise != w.promise || got.Page != w.page || !slices.Equal(got.Links, links) || got.Host != page.Key("a.example:80") {
			t.Errorf("step %d: got %+v, want %+v", i, got, w)
		}
	}
	if len(c.Trail.Waiting) != 1 || c.Trail.Waiting[0].Key != key("waits") || c.Trail.Waiting[0].Promise != 0.7 {
		t.Errorf("waiting: got %+v", c.Trail.Waiting)
	}
	if c.Trail.Redirects[key("moved")] != key("target") || len(c.Trail.Redirects) != 1 {
		t.Errorf("redirects: got %v", c.Trail.Redirects)
	}

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := load(t, s).loadTrail(ctx, s); err == nil {
		t.Error("a cancelled load gave no error")
	}
}

func TestThinning(t *testing.T) {
	for _, tt := range []struct{ n, most, want uint64 }{{0, 10, 1}, {10, 10, 1}, {11, 10, 2}, {21, 10, 2}, {22, 10, 4}, {1 << 24, 1 << 21, 8}} {
		if got := thinning(tt.n, tt.most); got != tt.want {
			t.Errorf("thinning(%d, %d): got %d, want %d", tt.n, tt.most, got, tt.want)
		}
	}
}
