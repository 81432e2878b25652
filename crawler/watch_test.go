package crawler

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"fossick/internal/testkit"
	"fossick/store"
)

// every is short, as the store's tickers run while the tests sleep.
const every = time.Minute

func rounds(t *testing.T, opt *Options, n int) {
	t.Helper()
	r := testkit.Call(NewRounds(opt.Store, every, n, opt.NewPages)).Must(t)
	opt.Revisits, opt.RevisitsOnly = r, !opt.NewPages
}

func visitsTo(urls []string) map[string]int {
	n := map[string]int{}
	for _, u := range urls {
		n[u]++
	}
	return n
}

// TestRounds revisits stored pages, including missing ones, which may return.
func TestRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, opt := agedCrawl(t, false)
		opt.Text = func(body []byte, _, _ string) string { return string(body) }
		time.Sleep(time.Second)
		rounds(t, &opt, 3)
		w.asked = func(url string) {
			if url == "http://b.test/gone" && len(w.urls()) > 6+2*6 {
				w.pages[url] = html("gold that goes") // back in the third round
			}
		}
		before, began := len(w.urls()), time.Now()
		r := crawl(t, opt)
		asked := visitsTo(w.urls()[before:])
		if len(asked) != 6 || r.Stopped != stopRounds || r.Refreshed.Asked != 18 || time.Since(began) < 2*every {
			t.Errorf("%v in %v, %+v, stopped: %s; want six pages, three times each, in two minutes", asked, time.Since(began), r.Refreshed, r.Stopped)
		}
		for url, n := range asked {
			if n != 3 {
				t.Errorf("%s was asked %d times, want 3", url, n)
			}
		}
		if l := life(t, opt.Store, "http://b.test/gone"); l.Outcome.State != "ok" || len(l.Visits) != 4 || l.Visits[1].Code != 404 || l.Visits[3].State != "not_modified" && l.Visits[3].State != "ok" {
			t.Errorf("the page that came back: %+v, %+v", l.Outcome, l.Visits)
		}
		if l := life(t, opt.Store, "http://c.test/found"); l.Queued == nil {
			t.Errorf("a link that turned up: %+v, want it to wait", l)
		}
		all, err := store.Rounds(opt.Store)
		if err != nil || len(all) != 3 || all[2].Ended == 0 || all[1].Began-all[0].Began != every.Milliseconds() {
			t.Errorf("rounds on record: %v, %v", all, err)
		}
		checkVerified(t, opt.Store)
	})
}

// TestRoundsGoOn: a round that was cut off first requests its remaining pages.
func TestRoundsGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, opt := agedCrawl(t, false)
		time.Sleep(time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		before := len(w.urls())
		w.asked = func(string) {
			if len(w.urls()) == before+2 {
				cancel()
			}
		}
		rounds(t, &opt, 2)
		c, err := New(opt)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := c.Run(ctx); err != nil || r.Stopped != StopInterrupted {
			t.Fatalf("%+v, %v", r, err)
		}
		cut := len(w.urls()) - before
		w.asked = nil
		time.Sleep(10 * time.Second)
		rounds(t, &opt, 1)
		crawl(t, opt)
		asked := visitsTo(w.urls()[before:])
		if cut == 0 || cut >= 6 || len(asked) != 6 || len(w.urls())-before != 6 {
			t.Errorf("%d before the cut, %v in all, want each of six pages once", cut, asked)
		}
		all, err := store.Rounds(opt.Store)
		if err != nil || len(all) != 1 || all[0].Ended == 0 {
			t.Errorf("rounds on record: %v, %v", all, err)
		}
	})
}
