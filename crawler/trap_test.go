package crawler

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"fossick/internal/testkit"
	"fossick/store"
)

// Limits of package hosts.
const (
	cutAfter    = 200 // answers of a pattern
	farmAnswers = 8   // pages of each host that indicate a farm
	maxRepeats  = 3   // of a folder in a path
	budgetLeast = 500 // answers of a worthless site
)

// trapWeb has an endless calendar, soft-404 pages, and a shelf of good pages with numeric names.
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

// TestTraps: the trap is left after cutAfter answers, the shelf is fetched whole. A resumed crawl
// with --traps follow gets the rest.
func TestTraps(t *testing.T) {
	t.Parallel()
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
	for e := range testkit.All(t, opt.Store.URLs().Ended("trap")) {
		reasons[e.Outcome.Reason]++
	}
	if why := fmt.Sprintf("%d of %d answers at /gone/* had nothing new", cutAfter-1, cutAfter); len(reasons) != 2 || reasons[why] == 0 {
		t.Errorf("reasons %v", reasons)
	}
	checkVerified(t, opt.Store)

	opt.FollowTraps, opt.Seeds = true, nil
	r = crawl(t, opt)
	if want := uint64(1 + 200 + 2000 + 2000); r.Counts.Pages != want {
		t.Errorf("%d pages in all when traps are followed, want %d", r.Counts.Pages, want)
	}
	if r.Counts.States["trap"] != 0 {
		t.Errorf("states %v, want no traps", r.Counts.States)
	}
	checkVerified(t, opt.Store)
}

// TestCircularPath: a circular path is never requested.
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
	checkVerified(t, opt.Store)
}

func checkVerified(t *testing.T, s *store.Store) {
	t.Helper()
	if problems, err := s.Verify(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("verify: %v, %v", problems, err)
	}
}
