package crawler

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler/fetch"
	"fossick/internal/page"
	"fossick/internal/testkit"
)

// mirrorWeb has two hosts. The second mirrors the first byte for byte, except for a page with
// further links. All links are relative, except those of /c.
func mirrorWeb() *fakeWeb {
	w := &fakeWeb{pages: map[string]string{}, took: 100 * time.Millisecond}
	for _, host := range []string{"http://h0.test", "http://h1.test"} {
		w.pages[host+"/"] = html("index", "a", "/b")
		w.pages[host+"/a"] = html("a page", "c", "/")
		w.pages[host+"/b"] = html("another page on " + host)
		w.pages[host+"/c"] = html("a page whose author knows one host", "http://h0.test/", "http://h0.test/a")
	}
	w.pages["http://h1.test/b"] = html("gold on the mirror alone", "only")
	w.pages["http://h1.test/only"] = html("gold that no other host has")
	return w
}

const mirrorPages, mirrorDuplicates = 6, 3

// TestMirror: a mirror's pages are duplicates, but its links are followed to its own pages.
func TestMirror(t *testing.T) {
	seeds := []string{"http://h0.test/", "http://h1.test/"}
	opt := newOptions(t, mirrorWeb(), seeds...)
	r := crawl(t, opt)
	if r.Counts.Pages != mirrorPages || r.Counts.States["duplicate"] != mirrorDuplicates {
		t.Errorf("one crawl: %d pages, %v; want %d and %d duplicates", r.Counts.Pages, r.Counts.States, mirrorPages, mirrorDuplicates)
	}
	if l := life(t, opt.Store, "http://h1.test/only"); l.Outcome == nil || l.Outcome.State != "ok" {
		t.Errorf("a page of the mirror alone: %+v", l.Outcome)
	}
	checkVerified(t, opt.Store)
	for _, agents := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			x := newTeam(t, mirrorWeb(), agents, 2, seeds...)
			x.settle()
			var paths []string
			for _, u := range slices.Concat(x.finish()...) {
				paths = append(paths, page.Path(u))
			}
			slices.Sort(paths)
			if n := x.counts(); !slices.Equal(paths, []string{"/", "/a", "/b", "/b", "/c", "/only"}) || n.States["duplicate"] != mirrorDuplicates {
				t.Errorf("%d agents store %v, %v", agents, paths, n.States)
			}
			for _, m := range x.agents {
				checkVerified(t, m.opt.Store)
			}
		})
	}
}

// TestEarlierChecksums: pages with an earlier build's checksums are neither new nor changed.
func TestEarlierChecksums(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := mirrorWeb()
		opt := newOptions(t, w, "http://h0.test/")
		crawl(t, opt)
		b := opt.Store.Batch()
		for p := range testkit.All(t, opt.Store.Pages()) {
			body := testkit.Call(opt.Store.Body(p.Number)).Must(t)
			parsed := testkit.Call(page.Parse(body, page.ParseOptions{URL: p.URL})).Must(t)
			old, sum := *p, parsed.AbsoluteChecksum()
			old.Raw, old.Checksum = nil, sum[:]
			testkit.Must(t, b.ReplacePage(p, &old, opt.Store.Compress(body)))
		}
		testkit.Must(t, b.Commit())
		checkVerified(t, opt.Store)

		w.pages["http://h0.test/a?again=1"] = w.pages["http://h0.test/a"]
		opt.Seeds = []string{"http://h0.test/a?again=1"}
		crawl(t, opt)
		if l := life(t, opt.Store, "http://h0.test/a?again=1"); l.Outcome == nil || l.Outcome.State != string(fetch.StateDuplicate) {
			t.Errorf("a page that repeats one of an earlier build: %+v", l.Outcome)
		}
		time.Sleep(time.Hour)
		opt.Seeds, opt.Refresh = nil, time.Minute
		if r, want := crawl(t, opt), (RefreshCounts{Asked: 4, NotModified: 4}); r.Refreshed != want {
			t.Errorf("pages asked for again: %+v, want %+v", r.Refreshed, want)
		}
	})
}

// TestNearDuplicatesAcross: of an article on many hosts one page stays, whoever owns the hosts.
// Articles with half of their words in common both stay. All links are followed.
func TestNearDuplicatesAcross(t *testing.T) {
	const hosts = 6
	rng := rand.New(rand.NewPCG(3, 4))
	text, half := words(rng, 400), words(rng, 200)
	web := func() *fakeWeb {
		w := &fakeWeb{pages: map[string]string{}, took: 100 * time.Millisecond}
		for h := range hosts {
			host := fmt.Sprintf("http://h%d.test", h)
			w.pages[host+"/"] = html(fmt.Sprintf("index of host %d", h), "/article", "/half")
			w.pages[host+"/article"] = article("News", text+fmt.Sprintf(" seen on %d May", h), "/further")
			w.pages[host+"/half"] = article("Half", half+" "+words(rand.New(rand.NewPCG(5, uint64(h))), 200))
			w.pages[host+"/further"] = html(fmt.Sprintf("gold of host %d alone", h))
		}
		return w
	}
	var seeds []string
	for h := range hosts {
		seeds = append(seeds, fmt.Sprintf("http://h%d.test/", h))
	}
	for _, agents := range []int{1, 2, 3} {
		for _, keep := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				x := newTeamWith(t, web(), agents, hosts, func(o *Options) { o.KeepNear = keep }, seeds...)
				x.settle()
				urls := slices.Concat(x.finish()...)
				articles := slices.DeleteFunc(slices.Clone(urls), func(u string) bool { return page.Path(u) != "/article" })
				want, near := hosts*3+1, uint64(hosts-1)
				if keep {
					want, near = hosts*4, 0
				}
				n := x.counts()
				if len(urls) != want || n.States["duplicate"] != near || n.NearDuplicates != near || !keep && len(articles) != 1 {
					t.Errorf("%d agents, keep %v: %d pages, %+v, %v; want %d and %d near-duplicates", agents, keep, len(urls), n, articles, want, near)
				}
				of := map[string]string{} // URL of a near-duplicate → the other agent's page
				for _, m := range x.agents {
					checkVerified(t, m.opt.Store)
					for e := range testkit.All(t, m.opt.Store.URLs().Ended(string(fetch.StateDuplicate))) {
						original, rest, _ := strings.Cut(strings.TrimPrefix(e.Reason, "near-duplicate of "), " (similarity ")
						if !(e.Resemblance >= .9 && e.Resemblance <= 1) || e.Page == 0 && rest == "" {
							t.Errorf("%s ended: %+v", e.URL, e)
						}
						if of[e.URL] = original; e.Page != 0 {
							of[e.URL] = articles[0]
						}
					}
				}
				for url, original := range of { // may since be a near-duplicate of a third page
					for range hosts {
						if next, also := of[original]; also {
							original = next
						}
					}
					if original != articles[0] {
						t.Errorf("%s ended as a near-duplicate of %s, which is not stored; want %s in the end", url, original, articles[0])
					}
				}
			})
		}
	}
}
