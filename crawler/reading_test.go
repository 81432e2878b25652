package crawler

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler/fetch"
	"fossick/internal/page"
)

// TestPageTooCostly: a page beyond the budget ends with a reason, and costs no other.
// The clock goes on by 200 ms whenever it is read, as it is after every few tags.
func TestPageTooCostly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWeb{pages: map[string]string{
			"http://a.test/": html("gold"+strings.Repeat("<br>", 2000), "http://a.test/1"),
			"http://b.test/": html("gold of another kind", "http://b.test/1"),
		}}
		opt := newOptions(t, w, "http://a.test/", "http://b.test/")
		var reads atomic.Int64
		began := time.Now()
		opt.Now = func() time.Time { return began.Add(time.Duration(reads.Add(1)) * 200 * time.Millisecond) }
		crawl(t, opt)
		l := life(t, opt.Store, "http://a.test/")
		if l.Fate == nil || l.Fate.State != string(fetch.StateTooLarge) || !strings.Contains(l.Fate.Reason, "page_too_costly") {
			t.Errorf("the costly page ended as %+v, want too_large and page_too_costly", l.Fate)
		}
		if l := life(t, opt.Store, "http://b.test/"); l.Fate == nil || l.Fate.State != string(fetch.StateOK) {
			t.Errorf("the other ended as %+v, want ok", l.Fate)
		}
	})
}

// slowScorer takes a minute a page.
type slowScorer struct {
	wordScorer
	pages *atomic.Int32
}

func (s slowScorer) ScorePage(p *page.Page, parent float64) Score {
	s.pages.Add(1)
	time.Sleep(time.Minute)
	return s.wordScorer.ScorePage(p, parent)
}

// TestEndWithinPages: pages that take long to be read are broken off a grace
// after an interrupt, or --max-time, and those behind them are not begun. All
// of them wait in the queue for the next session.
func TestEndWithinPages(t *testing.T) {
	for name, want := range map[string]Stop{"interrupt": StopInterrupted, "max-time": StopNothing} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &fakeWeb{pages: map[string]string{}}
				var seeds []string
				for i := range 8 * runtime.GOMAXPROCS(0) {
					u := fmt.Sprintf("http://h%d.test/", i)
					seeds, w.pages[u] = append(seeds, u), html(fmt.Sprint("gold ", i))
				}
				opt := newOptions(t, w, seeds...)
				opt.Workers = len(seeds)
				scored := new(atomic.Int32)
				opt.Scorer = slowScorer{wordScorer{0.3}, scored}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if name == "max-time" {
					opt.MaxTime = time.Second
				} else {
					time.AfterFunc(time.Second, cancel)
				}
				c, err := New(opt)
				if err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				r, err := c.Run(ctx)
				if err != nil || r.Stopped != want || r.Counts.Pages != 0 || r.Counts.States[string(fetch.StateOK)] != 0 {
					t.Errorf("%+v %v, want no page, stopped by %s", r, err, want)
				}
				// What a scorer has begun it ends; nothing begins after that.
				if n := int(scored.Load()); n > runtime.GOMAXPROCS(0) || time.Since(start) > 61*time.Second {
					t.Errorf("%d pages scored, %v in all; want one a core", n, time.Since(start))
				}
				if l := life(t, opt.Store, seeds[0]); l.Fate != nil || l.Queued == nil {
					t.Errorf("a page broken off: %+v, want it queued", l)
				}
			})
		})
	}
}
