package crawler

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"

	"fossick/internal/page"
	"fossick/internal/testkit"
)

// newText returns a page of unique words with links to three more such pages, of all. One in
// onTopic pages is on topic (0: none).
func newText(url string, onTopic int, all uint32) string {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(url))
	rng := rand.New(rand.NewPCG(sum.Sum64(), 1))
	var words []string
	for range 60 {
		words = append(words, fmt.Sprintf("w%x", rng.Uint32()))
	}
	if onTopic > 0 && rng.IntN(onTopic) == 0 {
		words = append(words, "gold")
	}
	base := url[:strings.LastIndexByte(url, '/')+1]
	return html(strings.Join(words, " "), fmt.Sprint(base, rng.Uint32N(all)), fmt.Sprint(base, rng.Uint32N(all)), fmt.Sprint(base, rng.Uint32N(all)))
}

// budgetWeb has good hosts, endless off-topic sites, and a site with one page in ten on topic.
func budgetWeb(t *testing.T) (*fakeWeb, Options) {
	w := &fakeWeb{pages: map[string]string{}}
	links := []string{"http://endless.test/1", "http://a.many.example/1", "http://fair.test/1"}
	for i := range 30 {
		for j := range 10 {
			u := fmt.Sprintf("http://good%d.test/%d", i, j)
			w.pages[u] = html(fmt.Sprintf("gold of house %d, room %d", i*7919, j*104729), fmt.Sprintf("http://good%d.test/%d", i, j+1))
		}
		links = append(links, fmt.Sprintf("http://good%d.test/0", i))
	}
	w.pages["http://seed.test/"] = html("gold", links...)
	w.made = func(url string) string {
		host := page.Host(url)
		switch {
		case strings.HasSuffix(url, "/robots.txt"):
		case host == "endless.test:80":
			return newText(url, 0, 1<<31)
		case host == "fair.test:80":
			return newText(url, 10, 1200)
		case strings.HasSuffix(host, ".many.example:80"): // a site of many hosts
			text := newText(url, 0, 1<<31)
			n := strings.Count(text, "e")
			return strings.ReplaceAll(text, "http://"+strings.TrimSuffix(host, ":80"), fmt.Sprintf("http://n%d.many.example", n))
		}
		return ""
	}
	opt := newOptions(t, w, "http://seed.test/")
	opt.KeepNear = true
	return w, opt
}

func (w *fakeWeb) askedAt(site string) (n int) {
	for _, u := range w.urls() {
		if page.Site(u) == site {
			n++
		}
	}
	return n
}

// TestSiteBudget: a worthless site gets only its budget, in one session or two; a useful one goes
// on.
func TestSiteBudget(t *testing.T) {
	t.Parallel()
	w, opt := budgetWeb(t)
	opt.MaxPages = 5000
	if r := crawl(t, opt); r.Stopped != StopEmpty {
		t.Errorf("stopped by %s after %d pages", r.Stopped, r.Counts.Pages)
	}
	for _, site := range []string{"endless.test", "many.example"} {
		if n := w.askedAt(site); n != budgetLeast {
			t.Errorf("%s was asked for %d pages, want %d", site, n, budgetLeast)
		}
	}
	if fair := w.askedAt("fair.test"); fair < 1000 {
		t.Errorf("fair.test was asked for %d pages", fair)
	}
	asked := len(w.log)
	w.pages["http://more.test/"] = html("gold more", "http://endless.test/4", "http://b.many.example/4")
	opt.Seeds = append(opt.Seeds, "http://more.test/")
	crawl(t, opt)
	if n := w.askedAt("endless.test") + w.askedAt("many.example"); n != 2*budgetLeast || len(w.log) == asked {
		t.Errorf("the two were asked for %d pages in two sessions", n)
	}
	checkSound(t, opt.Store)
	reason := ""
	for e := range testkit.All(t, opt.Store.URLs().Ended("trap")) {
		if page.Site(e.URL) == "endless.test" {
			reason = e.Reason
		}
	}
	if !strings.HasPrefix(reason, "the site endless.test gave 500 answers and 0 pages on topic; elsewhere one answer in ") {
		t.Errorf("reason %q", reason)
	}
}

// TestNoSiteBudget: there is no budget for the start pages' site, for the only known site, or
// with --traps follow.
func TestNoSiteBudget(t *testing.T) {
	testkit.Only(t, "TestSiteBudget has the main way")
	t.Parallel()
	for name, change := range map[string]func(o *Options){
		"start":  func(o *Options) { o.Seeds = append(o.Seeds, "http://endless.test/0") },
		"follow": func(o *Options) { o.FollowTraps = true },
	} {
		w, opt := budgetWeb(t)
		opt.MaxPages = 3000
		change(&opt)
		if r := crawl(t, opt); r.Stopped != StopMaxPages {
			t.Errorf("%s: stopped by %s; endless.test was asked for %d pages", name, r.Stopped, w.askedAt("endless.test"))
		}
	}
	w, opt := budgetWeb(t)
	w.pages = map[string]string{"http://seed.test/": "→http://endless.test/2", "http://endless.test/2": html("nothing", "http://endless.test/3")}
	opt.MaxPages = budgetLeast + 50
	crawl(t, opt)
	if n := w.askedAt("endless.test"); n < budgetLeast+50 {
		t.Errorf("alone: endless.test was asked for %d pages", n)
	}
}
