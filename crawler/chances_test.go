package crawler

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler/fetch"
	"fossick/crawler/hosts"
	"fossick/graph/orders"
	"fossick/internal/testkit"
	"fossick/store"
)

// busyPages is a host whose start page links to n pages, in order.
func busyPages(n int) map[string]string {
	links := make([]string, n)
	pages := map[string]string{}
	for i := range n {
		links[i] = fmt.Sprintf("/%02d", i)
		pages["http://a.test"+links[i]] = html(fmt.Sprintf("gold %d", i))
	}
	pages["http://a.test/"] = html("gold", links...)
	return pages
}

// TestRetriesWait: a failed URL waits behind URLs of equal worth at any host, in orderings by
// scores and by counts.
func TestRetriesWait(t *testing.T) {
	for _, ordering := range []string{"relevance", "bfs"} {
		synctest.Test(t, func(t *testing.T) {
			w := &fakeWeb{pages: busyPages(6), fail: map[string][]fetch.Response{"http://a.test/01": {{State: fetch.StateCode, Code: http.StatusServiceUnavailable}}}}
			opt := newOptions(t, w, "http://a.test/")
			opt.Workers = 1
			opt.Ordering, _ = orders.OrderingByName(ordering)
			if r := crawl(t, opt); r.Counts.Pages != 7 {
				t.Errorf("%d pages, want 7", r.Counts.Pages)
			}
			if got, want := pathsOf(w.urls()), "/ /00 /01 /02 /03 /04 /05 /01"; got != want {
				t.Errorf("%s: asked for %s, want %s", ordering, got, want)
			}
			if q := life(t, opt.Store, "http://a.test/01"); len(q.Visits) != 2 || q.Outcome.State != "ok" {
				t.Errorf("%+v", q)
			}
		})
	}
}

func pathsOf(urls []string) string {
	var paths []string
	for _, u := range urls {
		if path := strings.TrimPrefix(u, "http://a.test"); path != "/robots.txt" {
			paths = append(paths, path)
		}
	}
	return strings.Join(paths, " ")
}

// TestRetriesWaitAfterResume: the next session delays a failed URL, with its full priority kept.
func TestRetriesWaitAfterResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWeb{pages: busyPages(6), fail: map[string][]fetch.Response{"http://a.test/01": {{State: fetch.StateCode, Code: http.StatusServiceUnavailable}}}}
		opt := newOptions(t, w, "http://a.test/")
		opt.Workers, opt.MaxPages = 1, 3
		crawl(t, opt)
		failed, other := life(t, opt.Store, "http://a.test/01"), life(t, opt.Store, "http://a.test/05")
		if failed.Queued == nil || other.Queued == nil || failed.Queued.Priority != other.Queued.Priority || len(failed.Visits) != 1 {
			t.Fatalf("%+v and %+v wait; want the same priority in the journal, and one visit", failed.Queued, other.Queued)
		}
		before := len(w.urls())
		opt.MaxPages = 0
		crawl(t, opt)
		if got, want := pathsOf(w.urls()[before:]), "/03 /04 /05 /01"; got != want {
			t.Errorf("asked for %s, want %s", got, want)
		}
	})
}

// TestRetriesAreBounded: a failing host gets half of all requests plus ten as retries.
func TestRetriesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pages := testkit.Rounds(8, 30)
		w := &fakeWeb{pages: busyPages(pages), fail: map[string][]fetch.Response{}}
		for i := range pages {
			w.fail[fmt.Sprintf("http://a.test/%02d", i)] = slices.Repeat([]fetch.Response{{State: fetch.StateCode, Code: 500}}, 9)
		}
		opt := newOptions(t, w, "http://a.test/")
		opt.MaxWait = 24 * time.Hour
		r := crawl(t, opt)
		h, err := opt.Store.Host("a.test:80")
		if err != nil || r.Counts.States["code"] != uint64(pages) || h.Retries > 10+h.Requests/2 || h.Retries < h.Requests/4 || h.Promised != 0 {
			t.Errorf("states %v, %d of %d requests were retries, %d to come, %v", r.Counts.States, h.Retries, h.Requests, h.Promised, err)
		}
	})
}

// TestRevisitsInDoubtComeLast: stored pages without a failed visit of page or host come first,
// then the others by their chances, also in the next session.
func TestRevisitsInDoubtComeLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWeb{pages: busyPages(4)}
		w.pages["http://b.test/"] = html("gold of b")
		opt := newOptions(t, w, "http://a.test/", "http://b.test/")
		opt.Workers = 1
		crawl(t, opt)
		opt.Seeds = nil
		if kept, err := store.Chances(opt.Store); err != nil || kept != nil {
			t.Errorf("%d bytes are kept of failures, %v; want none", len(kept), err)
		}
		opt.Refresh = 5 * time.Minute
		again := func() string {
			time.Sleep(10 * time.Minute)
			before := len(w.urls())
			crawl(t, opt)
			return pathsOf(w.urls()[before:])
		}
		w.fail = map[string][]fetch.Response{"http://a.test/00": {{State: fetch.StateCode, Code: http.StatusServiceUnavailable}}}
		if got := again(); strings.HasPrefix(got, "http://b.test/") || strings.HasSuffix(got, " /00") {
			t.Errorf("asked for %s; want the deeper pages first, which change more often", got)
		}
		got := again()
		if want := "http://b.test/ "; !strings.HasPrefix(got, want) || !strings.HasSuffix(got, " /00") {
			t.Errorf("asked for %s, want b.test first and /00 last", got)
		}
		book := testkit.Call(hosts.LoadChances(opt.Store)).Must(t)
		for url, sure := range map[string]bool{"http://a.test/01": false, "http://b.test/": true} {
			chance, err := book.Revisit(url, func() ([]store.Visit, error) { return life(t, opt.Store, url).Visits, nil }, time.Now())
			if err != nil || (chance == 1) != sure || chance < .5 {
				t.Errorf("%s: chance %g, %v", url, chance, err)
			}
		}
	})
}
