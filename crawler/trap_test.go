package crawler

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"fossick/store"
)

func TestPatternOf(t *testing.T) {
	for url, want := range map[string]string{
		"http://a.test":              "/",
		"http://a.test/":             "/",
		"http://a.test/about.html":   "/*.html",
		"http://a.test/wiki/Ireland": "/wiki/*",
		"http://a.test/events/2026/list.html?month=5&view=day":    "/events/0/*.html?month&view",
		"http://a.test/events/2025/list.html?view=week&month=12":  "/events/0/*.html?month&view",
		"http://a.test/x?sid=00ab12&page=3":                       "/*?page&sid",
		"http://a.test/deep/4/5/6/":                               "/deep/0/",
		"http://a.test/deep/4/":                                   "/deep/0/",
		"http://a.test/s/9f86d081884c7d65/view":                   "/s/0/*",
		"http://a.test/pix/josh12/a.jpg":                          "/pix/josh0/*.jpg",
		"http://a.test/?a":                                        "/?a",
		"http://a.test/a//b/":                                     "/a//b/",
		"http://a.test/release-notes.d/":                          "/release-notes.d/",
		"http://a.test/q?" + strings.Repeat("x1=1&", 3) + "x22=3": "/*?x0",
	} {
		if got := patternOf(url); got != want {
			t.Errorf("%s: pattern %s, want %s", url, got, want)
		}
	}
}

func TestCircular(t *testing.T) {
	for url, trap := range map[string]bool{
		"http://a.test/a/b/c/d/e/f/g/":                              false,
		"http://a.test/2011/11/11/11/11/":                           false, // a date and a number
		"http://a.test/en/docs/en/docs/en/":                         false,
		"http://a.test/en/docs/en/docs/en/docs/en/":                 true,
		"http://a.test/a/a/a/a":                                     true,
		"http://a.test/x?u=/a/a/a/a/a/a/a":                          false,
		"http://a.test////////":                                     false,
		"http://a.test/" + strings.Repeat("x/y1/", 2):               false,
		"http://a.test" + strings.Repeat("/q", 3) + "/z":            false,
		"http://a.test/0/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17": false,
		"http://a.test/" + numbered(40):                             true,
	} {
		if got := circular(url); (got != "") != trap {
			t.Errorf("%s: circular %q, want %v", url, got, trap)
		}
	}
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d/", i)
	}
	return b.String()
}

// trapWeb has a calendar without end, missing pages that say 200, and a shelf of
// good pages with numbers for names, which must not be taken for a trap.
func trapWeb() *fakeWeb {
	w := &fakeWeb{pages: map[string]string{}}
	var shelf strings.Builder
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 200 {
		fmt.Fprintf(&shelf, `<a href="/shelf/%d">book</a> `, i)
		var text strings.Builder
		for range 60 {
			text.WriteByte(' ')
			for range 5 {
				text.WriteByte(byte('a' + rng.IntN(26)))
			}
		}
		w.pages[fmt.Sprintf("http://a.test/shelf/%d", i)] = "<title>Book</title><p>" + text.String()
	}
	w.pages["http://a.test/"] = "<p>home " + shelf.String() + `<a href="/cal?m=0">calendar</a><a href="/gone/0">gone</a>`
	for m := range 2000 {
		w.pages[fmt.Sprintf("http://a.test/cal?m=%d", m)] = fmt.Sprintf(`<title>Month %d</title><p>month %d <a href="?m=%d">next</a><a href="?m=%d">later</a>`, m, m, m+1, 2*m+1)
		w.pages[fmt.Sprintf("http://a.test/gone/%d", m)] = fmt.Sprintf(`<p>not found <a href="/gone/%d">a</a><a href="/gone/%d">b</a>`, 2*m+1, 2*m+2)
	}
	return w
}

// TestTraps crawls it: the trap is left after cutAfter answers, the shelf is
// fetched whole, every URL says why it was not fetched, and a resumed crawl that
// is told to follow gets the rest.
func TestTraps(t *testing.T) {
	w := trapWeb()
	opt := newOptions(t, w, "http://a.test/")
	r := crawl(t, opt)
	count := func(part string) (n int) {
		for _, u := range w.urls() {
			if strings.Contains(u, part) {
				n++
			}
		}
		return n
	}
	for part, most := range map[string]int{"/cal?": cutAfter, "/gone/": cutAfter} {
		if n := count(part); n != most {
			t.Errorf("%d pages of %s fetched, want %d", n, part, most)
		}
	}
	if n := count("/shelf/"); n != 200 {
		t.Errorf("%d of 200 good pages fetched", n)
	}
	if r.Counts.States["trap"] == 0 {
		t.Errorf("states %v, want traps", r.Counts.States)
	}
	reasons := map[string]int{}
	for e, err := range opt.Store.EndedIn("trap") {
		if err != nil {
			t.Fatal(err)
		}
		reasons[e.Fate.Reason]++
	}
	if why := fmt.Sprintf("%d of %d answers at /gone/* had nothing new", cutAfter-1, cutAfter); len(reasons) != 2 || reasons[why] == 0 {
		t.Errorf("reasons %v", reasons)
	}
	verified(t, opt.Store)

	opt.FollowTraps, opt.Seeds = true, nil
	r = crawl(t, opt)
	if want := uint64(1 + 200 + 2000 + 2000); r.Counts.Pages != want {
		t.Errorf("%d pages in all when traps are followed, want %d", r.Counts.Pages, want)
	}
	if r.Counts.States["trap"] != 0 {
		t.Errorf("states %v, want no traps", r.Counts.States)
	}
	verified(t, opt.Store)
}

// TestCircularPath sees that a path that goes in circles ends before it starts.
func TestCircularPath(t *testing.T) {
	w := &fakeWeb{pages: map[string]string{}}
	for n := range 40 {
		path := "http://a.test/" + strings.Repeat("in/", n)
		w.pages[path] = html(fmt.Sprintf("folder %d of many", n), path+"in/")
	}
	opt := newOptions(t, w, "http://a.test/")
	r := crawl(t, opt)
	if r.Counts.Pages != maxRepeats+1 || r.Counts.States["trap"] != 1 {
		t.Errorf("%d pages, states %v; want %d and one trap", r.Counts.Pages, r.Counts.States, maxRepeats+1)
	}
	verified(t, opt.Store)
}

func verified(t *testing.T, s *store.Store) {
	t.Helper()
	if problems, err := s.Verify(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("verify: %v, %v", problems, err)
	}
}
