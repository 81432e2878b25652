package crawler

import (
	"math"
	"sync/atomic"
	"testing"

	"fossick/internal/page"
	"fossick/store"
)

// promisingScorer expects of URLs something else than the place that it gives them.
type promisingScorer struct{ shiftingScorer }

func (s promisingScorer) Promise(key uint64) (float64, bool) {
	return float64(1+key%89) / 91, key%5 > 0
}

// TestSettle: when a crawl has ended, the store says of each URL that left the
// queue what the scorer expected of it, wherever it stood there. Of each that
// waits it says what the scorer expects. Start pages stay start pages.
func TestSettle(t *testing.T) {
	w := &fakeWeb{pages: manyPages(30, 12)}
	opt := newOptions(t, w, "http://h0.test/0", "http://h4.test/2")
	scorer := promisingScorer{shiftingScorer{wordScorer{0.3}, &atomic.Uint64{}}}
	opt.Scorer, opt.MaxPages = scorer, 100
	crawl(t, opt)
	checked := 0
	check := func(birth store.Birth, score, priority float64) {
		url := birth.URL
		want, known := scorer.Promise(page.Key(url))
		if birth.Via == store.ViaSeed {
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
	for waiter, err := range opt.Store.URLs().Waiters() {
		if err != nil {
			t.Fatal(err)
		}
		waits++
		check(waiter.Birth, waiter.Score, waiter.Priority)
	}
	for e, err := range opt.Store.URLs().Ended("ok") {
		if err != nil {
			t.Fatal(err)
		}
		check(e.Birth, e.Score, -1)
	}
	if waits < 50 || checked < 120 {
		t.Errorf("%d URLs wait and %d were looked at; want 50 and 120", waits, checked)
	}
}

func logOddsOf(p float64) float64 {
	p = max(1e-4, min(1-1e-4, p))
	return math.Log(p / (1 - p))
}
