package crawler

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/store"
)

// TestManySeeds: more start pages than fit in one batch are all queued once, in order.
func TestManySeeds(t *testing.T) {
	t.Parallel()
	const n = 20_000 // Badger's batches end at 46,000 entries, three a URL
	seeds := make([]string, n)
	for i := range seeds {
		seeds[i] = fmt.Sprintf("http://h%d.test/", i)
	}
	opt := newOptions(t, &fakeWeb{}, seeds...)
	for range 2 {
		c := testkit.Call(New(opt)).Must(t)
		if c.totals.URLs != n || c.frontier.Len() != n {
			t.Errorf("%d URLs known, %d wait; want %d", c.totals.URLs, c.frontier.Len(), n)
		}
		testkit.Must(t, c.frontier.Close())
	}
	if l := life(t, opt.Store, seeds[n-1]); l.ID != n || l.Queued == nil {
		t.Errorf("the last start page is %+v, want number %d, waiting", l, n)
	}
}

// TestSeedOutOfNarrowerScope: an old start page may be out of a later, narrower scope.
func TestSeedOutOfNarrowerScope(t *testing.T) {
	opt := newOptions(t, &fakeWeb{pages: map[string]string{"http://a.test/": html("gold")}}, "http://a.test/")
	crawl(t, opt)
	opt.Scope.TLD = []string{"example"}
	c := testkit.Call(New(opt)).Must(t)
	testkit.Must(t, c.frontier.Close())
}

// TestSeedOutOfScope: a start page out of scope is an error without side effects.
func TestSeedOutOfScope(t *testing.T) {
	opt := newOptions(t, &fakeWeb{}, "http://a.test/", "http://b.example/")
	opt.Scope.TLD = []string{"test"}
	if _, err := New(opt); err == nil || !strings.Contains(err.Error(), "http://b.example/") {
		t.Fatalf("error %v, want one that names the page", err)
	}
	if n, err := opt.Store.Counts(); err != nil || n.URLs != 0 {
		t.Errorf("%d URLs are in the store, %v; want none", n.URLs, err)
	}
}

// TestLinkKinds: b's links only discover unless b has a start page (paper B).
func TestLinkKinds(t *testing.T) {
	pages := map[string]string{
		"http://a.test/":  `<a href="http://b.test/">b</a><a href="http://c.test/">c</a>`,
		"http://b.test/":  `<a href="/1">1</a><a href="/2">2</a><a href="/3">3</a>`,
		"http://b.test/1": `<a href="/3">3</a>`,
		"http://b.test/2": `<a href="http://d.test/">this is d</a>`,
		"http://b.test/3": `3`,
		"http://c.test/":  `<a href="http://d.test/">d</a>`,
		"http://d.test/":  `d`,
	}
	tests := []struct {
		order string
		seeds []string
		want  []string
	}{
		{"mcs", []string{"http://a.test/"}, []string{"http://a.test/", "http://b.test/", "http://c.test/", "http://b.test/1", "http://b.test/2", "http://d.test/", "http://b.test/3"}},
		{"lexbfs", []string{"http://a.test/"}, []string{"http://a.test/", "http://b.test/", "http://c.test/", "http://b.test/1", "http://b.test/2", "http://b.test/3", "http://d.test/"}},
		// b has a start page, so its links count.
		{"mcs", []string{"http://b.test/"}, []string{"http://b.test/", "http://b.test/1", "http://b.test/3", "http://b.test/2", "http://d.test/"}},
		{"lexbfs", []string{"http://b.test/"}, []string{"http://b.test/", "http://b.test/1", "http://b.test/3", "http://b.test/2", "http://d.test/"}},
	}
	for _, tc := range tests {
		w := &fakeWeb{pages: pages}
		opt := newOptions(t, w, tc.seeds...)
		opt.Ordering = ordering(t, tc.order)
		crawl(t, opt)
		if got := w.urls(); !slices.Equal(got, tc.want) {
			t.Errorf("%s from %v: got %v, want %v", tc.order, tc.seeds, got, tc.want)
		}
	}
}

// TestCountingSessions crawls in sessions with orderings that count links.
func TestCountingSessions(t *testing.T) {
	t.Parallel()
	for _, order := range []string{"mns", "lexbfs"} { // TestCrawlEqualsSimulation has the others
		o := ordering(t, order)
		whole, cut := &fakeWeb{pages: manyPages(7, 9)}, &fakeWeb{pages: manyPages(7, 9)}
		opt, opt2 := newOptions(t, whole, "http://h0.test/0"), newOptions(t, cut, "http://h0.test/0")
		opt.Ordering, opt2.Ordering = o, o
		crawl(t, opt)
		for opt2.MaxPages = 5; opt2.MaxPages < 70; opt2.MaxPages += 5 {
			crawl(t, opt2)
		}
		if !slices.Equal(whole.urls(), cut.urls()) {
			t.Errorf("%s: in one go %v\nin parts  %v", order, whole.urls(), cut.urls())
		}
	}
}

// TestRescoringKeepsLinkOrder: new scores do not affect orderings by links alone.
func TestRescoringKeepsLinkOrder(t *testing.T) {
	t.Parallel()
	for _, order := range []string{"bfs", "dfs", "mcs", "lexdfs"} {
		o := ordering(t, order)
		plain, shifting := &fakeWeb{pages: manyPages(7, 9)}, &fakeWeb{pages: manyPages(7, 9)}
		opt, opt2 := newOptions(t, plain, "http://h0.test/0"), newOptions(t, shifting, "http://h0.test/0")
		opt.Ordering, opt2.Ordering = o, o
		opt2.Scorer = shiftingScorer{wordScorer{0.3}, new(atomic.Uint64)}
		crawl(t, opt)
		crawl(t, opt2)
		if !slices.Equal(plain.urls(), shifting.urls()) {
			t.Errorf("%s: %v\nrescored %v", order, plain.urls(), shifting.urls())
		}
	}
}

// TestPlaceMoved: with a rescoring scorer, the journal records only large moves.
func TestPlaceMoved(t *testing.T) {
	for _, c := range []struct {
		name            string
		rescores        bool
		priority, score float64 // 0.5 and 0.4 in the journal
		want            bool
	}{
		{"the same", false, 0.5, 0.4, false},
		{"a little better", false, 0.51, 0.3, true},
		{"the same, rescored", true, 0.5, 0.4, false},
		{"a little better, by a worse parent", true, 0.65, 0.3, false},
		{"a little worse, by a worse parent", true, 0.35, 0.3, false},
		{"a parent a little better", true, 0.5, 0.52, false},
		{"a better parent", true, 0.5, 0.63, true},
		{"much better, by a worse parent", true, 0.75, 0.3, true},
		{"much worse", true, 0.25, 0.3, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &Crawler{opt: Options{Scorer: plainScorer{}, Ordering: orders.Latest}, orders: []orders.Ordering{orders.Latest}}
			if c.rescores {
				w.opt.Scorer = askedScorer{}
			}
			if got := w.moved(0, store.Queued{Score: 0.4}, 0.5, c.priority, c.score); got != c.want {
				t.Errorf("priority %v by a parent of %v: journalled %v, want %v", c.priority, c.score, got, c.want)
			}
		})
	}
}

type promisingScorer struct{ shiftingScorer }

func (s promisingScorer) Promise(key uint64) (float64, bool) {
	return float64(1+key%89) / 91, key%5 > 0
}

// TestSettle: after a crawl, the store has the scorer's expectation of each discovered URL.
func TestSettle(t *testing.T) {
	w := &fakeWeb{pages: manyPages(30, 12)}
	opt := newOptions(t, w, "http://h0.test/0", "http://h4.test/2")
	scorer := promisingScorer{shiftingScorer{wordScorer{0.3}, &atomic.Uint64{}}}
	opt.Scorer, opt.MaxPages = scorer, 100
	crawl(t, opt)
	checked := 0
	check := func(discovery store.Discovery, score, priority float64) {
		url := discovery.URL
		want, known := scorer.Promise(page.Key(url))
		if discovery.Via == store.ViaSeed {
			want, known = 1, true
		}
		if !known {
			return
		}
		checked++
		if math.Abs(logOddsOf(score)-logOddsOf(want)) > 0.1 || priority >= 0 && math.Abs(logOddsOf(priority)-logOddsOf(want)) > 0.1 {
			t.Errorf("%s: score %v and priority %v, want %v", url, score, priority, want)
		}
	}
	waits := 0
	for waiter := range testkit.All(t, opt.Store.URLs().Waiters()) {
		waits++
		check(waiter.Discovery, waiter.Score, waiter.Priority)
	}
	for e := range testkit.All(t, opt.Store.URLs().Ended("ok")) {
		check(e.Discovery, e.Score, -1)
	}
	if waits < 50 || checked < 120 {
		t.Errorf("%d URLs wait and %d were looked at; want 50 and 120", waits, checked)
	}
}

func logOddsOf(p float64) float64 {
	p = max(1e-4, min(1-1e-4, p))
	return math.Log(p / (1 - p))
}
