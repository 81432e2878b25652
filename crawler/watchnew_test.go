package crawler

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler/fetch"
	"fossick/graph/orders"
	"fossick/internal/testkit"
)

// growingWeb is surveyed and then changes: new pages appear in and beyond the limits, a missing
// page returns, and a failing start page fails once more.
func growingWeb(t *testing.T) (*agingWeb, Options) {
	t.Helper()
	w := &agingWeb{&fakeWeb{pages: map[string]string{
		"http://a.test/":    html("home", "http://a.test/old", "http://a.test/away", "http://b.test/"),
		"http://a.test/old": html("a page that stays"),
	}}, false}
	silent := fetch.Response{State: fetch.StateConnectTimeout}
	w.fail = map[string][]fetch.Response{"http://late.test/": {silent, silent, silent}}
	opt := newOptions(t, w.fakeWeb, "http://a.test/", "http://late.test/")
	opt.Fetcher, opt.Ordering, opt.Threshold, opt.KeepNear, opt.NewPages = w, orders.ByDepth, 0, true, true
	opt.Scope = Scope{Links: LinksSite, Parties: true, MaxDepth: 3}
	if r := crawl(t, opt); r.Counts.Pages != 2 {
		t.Fatalf("%d pages, want 2", r.Counts.Pages)
	}
	w.pages["http://a.test/"] = html("home", "http://a.test/old", "http://a.test/away", "http://b.test/", "http://a.test/1", "http://b.test/2")
	for i := 1; i < 6; i++ {
		w.pages[fmt.Sprintf("http://a.test/%d", i)] = html(fmt.Sprintf("new page %d", i), fmt.Sprintf("http://a.test/%d", i+1), fmt.Sprintf("http://b.test/%d", i))
	}
	w.pages["http://a.test/old"] = html("a page that stays", "http://a.test/b")
	w.pages["http://a.test/b"] = html("as near as the second new page")
	w.pages["http://a.test/away"] = html("back again")
	if l := life(t, opt.Store, "http://late.test/"); len(l.Visits) != 4 || l.Outcome == nil {
		t.Fatalf("%+v, want four tries and an end", l)
	}
	w.fail["http://late.test/"] = []fetch.Response{silent}
	w.pages["http://late.test/"] = html("a start page that was not there")
	w.pages["http://b.test/"] = html("of no party")
	opt.Seeds = nil
	time.Sleep(time.Second)
	return w, opt
}

// TestRoundsNewPages: rounds of a survey find what a new survey would, and nothing else. The next
// round visits the new pages.
func TestRoundsNewPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, opt := growingWeb(t)
		rounds(t, &opt, 2)
		before := len(w.urls())
		r := crawl(t, opt)
		asked := visitsTo(w.urls()[before:])
		want := map[string]int{"http://a.test/": 2, "http://a.test/old": 2, "http://a.test/away": 2, "http://late.test/": 3, "http://a.test/1": 2, "http://a.test/b": 2, "http://a.test/2": 2, "http://a.test/3": 2}
		if !maps.Equal(asked, want) || r.Counts.Pages != 8 || r.Stopped != stopRounds {
			t.Errorf("asked %v, %d pages, stopped: %s; want %v and 8", asked, r.Counts.Pages, r.Stopped, want)
		}
		if l := life(t, opt.Store, "http://a.test/3"); l.Depth != 3 || l.Page == nil || len(l.Visits) != 2 {
			t.Errorf("the deepest page: %+v", l)
		}
		checkVerified(t, opt.Store)
		checkSound(t, opt.Store)
	})
}

// TestRoundsNewPagesLimits: page limits hold for rounds and favour pages near the start pages.
func TestRoundsNewPagesLimits(t *testing.T) {
	for name, limit := range map[string]func(opt *Options){
		"site": func(opt *Options) { opt.MaxPerSite = 4 },
		"all":  func(opt *Options) { opt.MaxPages = 4 },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, opt := growingWeb(t)
				delete(w.pages, "http://late.test/")
				delete(w.fail, "http://late.test/")
				delete(w.pages, "http://a.test/away")
				limit(&opt)
				rounds(t, &opt, 2)
				before := len(w.urls())
				r := crawl(t, opt)
				asked := visitsTo(w.urls()[before:])
				if r.Counts.Pages != 4 || asked["http://a.test/1"] != 2 || asked["http://a.test/b"] != 2 || asked["http://a.test/2"] != 0 || r.Stopped != stopRounds {
					t.Errorf("asked %v, %d pages, stopped: %s", asked, r.Counts.Pages, r.Stopped)
				}
				checkVerified(t, opt.Store)
			})
		})
	}
}

// TestRoundsNewPagesGoOn: a round cut off at any request later requests the rest.
func TestRoundsNewPagesGoOn(t *testing.T) {
	for cut := 1; cut <= 6; cut++ {
		synctest.Test(t, func(t *testing.T) {
			w, opt := growingWeb(t)
			delete(w.fail, "http://late.test/")
			ctx, cancel := context.WithCancel(t.Context())
			before := len(w.urls())
			w.asked = func(string) {
				if len(w.urls()) == before+cut {
					cancel()
				}
			}
			rounds(t, &opt, 1)
			c := testkit.Call(New(opt)).Must(t)
			if r, err := c.Run(ctx); err != nil || r.Stopped != StopInterrupted {
				t.Fatalf("%+v, %v", r, err)
			}
			w.asked = nil
			rounds(t, &opt, 1)
			r := crawl(t, opt)
			asked := visitsTo(w.urls()[before:])
			if len(asked) != 8 || slices.Max(slices.Collect(maps.Values(asked))) > 1 || r.Counts.Pages != 8 {
				t.Errorf("cut off after %d: asked %v, %d pages; want eight, each once", cut, asked, r.Counts.Pages)
			}
			checkVerified(t, opt.Store)
		})
	}
}
