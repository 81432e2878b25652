package crawler

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"fossick/crawler/frontier"
	"fossick/crawler/hosts"
	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/store"
)

// TestRescorePasses: an old crawl rescores its best URLs in each pass and all in every fourth. A
// young one, or one with a new mark, rescores all.
func TestRescorePasses(t *testing.T) {
	const urls = 2000
	for _, atOnce := range []int{urls, 100} {
		f := testkit.Call(frontier.New(frontier.Options{})).Must(t)
		asked := askedScorer{keys: map[uint64]int{}}
		q := &Crawler{frontier: f, opt: Options{Scorer: asked, Ordering: orders.Latest}, passes: newPasses(asked, orders.Latest), chances: hosts.NewChances()}
		q.passes.AtOnce = atOnce
		for i := range uint64(urls) {
			f.Push(frontier.Item{ID: frontier.ID(i + 1), Host: f.Host(strconv.Itoa(int(i % 50))), Key: i, Priority: score(i)})
		}
		pass := func() (all int, best int) {
			clear(asked.keys)
			for range 100 {
				q.totals.nextPage()
			}
			for range 8 { // in parts, each a page later
				testkit.Must(t, q.rescoreDue())
				q.totals.nextPage()
			}
			for key := range asked.keys {
				if score(key) > 0.75 {
					best++
				}
			}
			return len(asked.keys), best
		}
		for range 3 {
			if all, _ := pass(); all != urls {
				t.Errorf("a young crawl asks about %d URLs, want all %d", all, urls)
			}
		}
		q.totals.Counts = (store.Counts{Pages: 1000})
		q.rescoreNow()
		for i := 1; i <= 8; i++ {
			all, best := pass()
			if want := urls * 249 / 1000; best != want {
				t.Errorf("pass %d: %d of the best quarter asked about, want %d", i, best, want)
			}
			if i%4 == 0 && all != urls {
				t.Errorf("pass %d: %d URLs asked about, want all", i, all)
			}
			if i%4 != 0 && all > urls/3 {
				t.Errorf("pass %d: %d URLs asked about, want about a quarter", i, all)
			}
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

func score(key uint64) float64 { return float64(key%1000) / 1000 }

type plainScorer struct{}

func (plainScorer) ScorePage(*page.Page, float64) Score { return Score{} }

func (plainScorer) ScoreLinks(dst []float64, _ *page.Page, _ Score) []float64 { return dst }

// askedScorer counts its calls for each URL.
type askedScorer struct {
	plainScorer
	keys map[uint64]int
}

func (s askedScorer) Rescore(key uint64) (float64, bool) {
	s.keys[key]++
	return score(key), true
}

// TestAfter: the URLs rescored per page are bounded, and a pass waits for at most as many pages
// as a hundredth of the queue.
func TestAfter(t *testing.T) {
	for _, c := range []struct {
		queue, inMemory, onDisk int // pages
	}{
		{0, 10, 10}, {1_000, 10, 10}, {2_000, 10, 20}, {4_598, 22, 45}, {8_000, 40, 80}, {10_000, 60, 100}, {20_000, 160, 200},
		{40_000, 360, 400}, {262_144, 2581, 2621}, {4_000_000, 39_960, 40_000},
	} {
		if got := after(c.queue, 0, false); got != c.inMemory {
			t.Errorf("%d URLs in memory: after %d pages, want %d", c.queue, got, c.inMemory)
		}
		if got := after(c.queue, 0, true); got != c.onDisk {
			t.Errorf("%d URLs on disk: after %d pages, want %d", c.queue, got, c.onDisk)
		}
	}
	for pages, want := range map[uint64]int{229: 14, 480: 30, 520: 32, 1_150: 71, 4_000: 100, 1 << 40: 100} {
		if got := after(2_500, pages, false); got != want {
			t.Errorf("2,500 URLs in memory: after %d pages of %d, want %d", got, pages, want)
		}
	}
}

// topics is a scorer of so many topics that have had their first lesson.
type topics int

func (topics) Rescore(uint64) (float64, bool) { return 0, false }

func (t *topics) Begun() int { return int(*t) }

// TestFirstLesson: each topic's first lesson is reported until a pass has begun.
func TestFirstLesson(t *testing.T) {
	begun := topics(0)
	p := newPasses(&begun, orders.Latest)
	for lessons, want := range []bool{false, true, true} {
		if begun = topics(lessons); p.firstLesson() != want {
			t.Errorf("%d topics have begun: %v, want %v", lessons, !want, want)
		}
		p.Begin(uint64(lessons))
		if p.firstLesson() {
			t.Errorf("the first lesson of topic %d is told twice", lessons)
		}
	}
	if newPasses(nil, orders.Latest).firstLesson() {
		t.Error("what does not rescore has a first lesson")
	}
}

// TestSpread: the best quarter by a spread has at least a quarter of all, and at most a bin more.
func TestSpread(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for round := range 200 {
		var s spread
		var all []float64
		for range 1 + rng.IntN(3000) {
			p := math.Exp(-12 * rng.Float64() * float64(round%3))
			if rng.IntN(10) == 0 {
				p = -p
			}
			all = append(all, p)
			s.add(p)
		}
		slices.Sort(all)
		slices.Reverse(all)
		cut := s.best(0.25)
		within := len(all) - len(slices.DeleteFunc(slices.Clone(all), func(p float64) bool { return p >= cut }))
		quarter := len(all) / 4
		step := 0
		for _, p := range all {
			if s.bin(p) == s.bin(max(cut, 0)) {
				step++
			}
		}
		if within < quarter || within > quarter+step {
			t.Fatalf("round %d: %d of %d are at least %v, want %d to %d", round, within, len(all), cut, quarter, quarter+step)
		}
	}
	if cut := new(spread).best(0.25); !math.IsInf(cut, -1) {
		t.Errorf("the best of nothing are from %v on, want all", cut)
	}
}
