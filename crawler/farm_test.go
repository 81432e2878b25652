package crawler

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"fossick/internal/page"
	"fossick/internal/testkit"
)

// newWords returns n random new words.
func newWords(rng *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		for range 6 {
			b.WriteByte(byte('a' + rng.IntN(26)))
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// farmPage is the page of each name under a site, with links to five more names.
func farmPage(url, name func() string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<title>Welcome to %s</title><p>%s is the best place for all that you want, at prices that you like.", url(), url())
	for range 5 {
		n := name()
		fmt.Fprintf(&b, `<p>Visit <a href="http://%s/">%s</a> as well.`, n, n)
	}
	return b.String()
}

// TestHostFarms: sites that answer to every name or port are left after cutAfter pages. Their
// hosts with content, or with links from elsewhere, are kept. With --traps follow the crawl goes
// on.
func TestHostFarms(t *testing.T) {
	testkit.Only(t, "seconds of processor time; TestTraps has the main way")
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	for kind, name := range map[string]func() string{
		"words":   func() string { return strings.ReplaceAll(newWords(rng, 1), " ", "") + ".farm.test" },
		"numbers": func() string { return fmt.Sprintf("n%d.farm.test", rng.IntN(1e9)) },
		"nested":  func() string { return strings.ReplaceAll(newWords(rng, 2+rng.IntN(8)), " ", ".") + "farm.test" },
		"ports":   func() string { return fmt.Sprintf("farm.test:%d", 1024+rng.IntN(60000)) },
	} {
		t.Run(kind, func(t *testing.T) {
			w := &fakeWeb{pages: map[string]string{
				"http://a.test/":          html("gold", "http://"+name()+"/", "http://blog.farm.test/", "http://late.farm.test/"),
				"http://late.farm.test/":  html(newWords(rng, 40), "http://late.farm.test/2"),
				"http://late.farm.test/2": html(newWords(rng, 40)),
			}}
			for i := range 30 {
				u := "http://blog.farm.test/"
				if i > 0 {
					u += fmt.Sprint(i)
				}
				w.pages[u] = html(newWords(rng, 40), fmt.Sprintf("http://blog.farm.test/%d", i+1), "http://"+name()+"/")
			}
			var mu sync.Mutex // guards rng, as workers fetch concurrently
			w.made = func(url string) string {
				mu.Lock()
				defer mu.Unlock()
				if strings.HasSuffix(url, "robots.txt") {
					return ""
				}
				return farmPage(func() string { return page.Host(url) }, name)
			}
			opt := newOptions(t, w, "http://a.test/")
			opt.KeepNear, opt.Workers = true, 4
			r := crawl(t, opt)
			visited := func() (n int) {
				for _, u := range w.urls() {
					if w.pages[u] == "" {
						n++
					}
				}
				return n
			}
			// Names of two labels and of more are two patterns. Good hosts and fetches in flight
			// come on top.
			patterns := 1
			if kind == "nested" {
				patterns = 2
			}
			if n := visited(); n < cutAfter-2*farmAnswers || n > patterns*(cutAfter+opt.Workers) {
				t.Errorf("%d pages of the farm fetched, want %d", n, patterns*cutAfter)
			}
			for u := range w.pages {
				if n := strings.Count(" "+strings.Join(w.urls(), " ")+" ", " "+u+" "); n != 1 {
					t.Errorf("%s fetched %d times, want once", u, n)
				}
			}
			if r.Stopped != StopEmpty || r.Counts.States["trap"] == 0 {
				t.Errorf("stopped for %s, states %v; want traps", r.Stopped, r.Counts.States)
			}
			for e := range testkit.All(t, opt.Store.URLs().Ended("trap")) {
				if !strings.Contains(e.Outcome.Reason, "answers at hosts like") {
					t.Errorf("%s: %q", e.URL, e.Outcome.Reason)
				}
			}
			checkVerified(t, opt.Store)

			before := visited()
			w.pages["http://b.test/"] = html("new gold", "http://blog.farm.test/new")
			w.pages["http://blog.farm.test/new"] = html(newWords(rng, 40), "http://"+name()+"/")
			opt.Seeds = []string{"http://b.test/"}
			crawl(t, opt)
			if n := visited() - before; n > 0 {
				t.Errorf("%d pages of the farm fetched by a resumed crawl, want none", n)
			}
			opt.FollowTraps, opt.Seeds, opt.MaxPages = true, nil, r.Counts.Pages+300
			if r := crawl(t, opt); r.Stopped != StopMaxPages {
				t.Errorf("told to follow, it stopped for %s with %d pages", r.Stopped, r.Counts.Pages)
			}
			checkVerified(t, opt.Store)
		})
	}
}

// TestHonestHosts: hundreds of hosts of one site with a common frame are all fetched.
func TestHonestHosts(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	const hosts, pages = 300, 3
	frame := "Home News About us Contact All rights reserved " + newWords(rng, 30)
	w := &fakeWeb{pages: map[string]string{}}
	for h := range hosts {
		for p := range pages {
			w.pages[fmt.Sprintf("http://user%d.free.test/%d", h, p)] = html(frame+newWords(rng, 40),
				fmt.Sprintf("http://user%d.free.test/%d", h, (p+1)%pages), fmt.Sprintf("http://user%d.free.test/0", (h+1)%hosts))
		}
	}
	opt := newOptions(t, w, "http://user0.free.test/0")
	if r := crawl(t, opt); r.Counts.Pages != hosts*pages || r.Counts.States["trap"] != 0 {
		t.Errorf("%d pages, states %v; want %d and no trap", r.Counts.Pages, r.Counts.States, hosts*pages)
	}
}
