package crawler

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fossick/crawler/journal"
	"fossick/store"
)

func words(rng *rand.Rand, n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("w%d", rng.IntN(5000))
	}
	return strings.Join(all, " ")
}

func article(title, text string, links ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<title>%s</title><p>%s</p>", title, text)
	for _, l := range links {
		fmt.Fprintf(&b, `<p><a href="%s">more</a></p>`, l)
	}
	return b.String()
}

// nearWeb has an article, its printer version and a mirror with other links, another article in
// the same frame, and a tiny page in two versions.
func nearWeb() *fakeWeb {
	rng := rand.New(rand.NewPCG(1, 2))
	text, frame := words(rng, 300), words(rng, 300)
	return &fakeWeb{pages: map[string]string{
		"http://a.test/": article("Start", "hello", "/one", "/print", "http://b.test/copy",
			"/frame1", "/frame2", "/tiny1", "/tiny2", "/same"),
		"http://a.test/one":           article("One", text+" seen on 1 May"),
		"http://a.test/same":          article("One", text+" seen on 1 May"),
		"http://a.test/print":         article("One - for printing", text+" seen on 2 June", "/only-in-print"),
		"http://b.test/copy":          article("Copies", text, "http://b.test/new"),
		"http://a.test/frame1":        article("Frame, first", frame+" "+words(rng, 60)),
		"http://a.test/frame2":        article("Frame, second", frame+" "+words(rng, 60)),
		"http://a.test/tiny1":         article("Tiny", "one two three four five six seven eight nine ten 1"),
		"http://a.test/tiny2":         article("Tiny", "one two three four five six seven eight nine ten 2"),
		"http://b.test/new":           article("New", "gold by way of a mirror"),
		"http://a.test/only-in-print": article("Only", "gold by way of a printer version"),
	}}
}

// TestNearDuplicates: the article is stored once, and links of its near-duplicates are followed.
func TestNearDuplicates(t *testing.T) {
	opt := newOptions(t, nearWeb(), "http://a.test/")
	r := crawl(t, opt)
	if r.Counts.Pages != 8 || r.Counts.States["duplicate"] != 3 || r.Counts.NearDuplicates != 2 {
		t.Errorf("%d pages, states %v, %d near-duplicates; want 8, 3 duplicates, 2 of them near", r.Counts.Pages, r.Counts.States, r.Counts.NearDuplicates)
	}
	one := life(t, opt.Store, "http://a.test/one")
	for _, url := range []string{"http://a.test/print", "http://b.test/copy"} {
		l := life(t, opt.Store, url)
		if l.Outcome.State != "duplicate" || l.Outcome.Page != one.Outcome.Page || l.Outcome.Resemblance < 0.9 || l.Outcome.Resemblance >= 1 ||
			!strings.Contains(l.Outcome.Reason, fmt.Sprintf("near-duplicate of page %d (similarity 0.9", one.Outcome.Page)) {
			t.Errorf("%s has the outcome %+v", url, l.Outcome)
		}
	}
	if l := life(t, opt.Store, "http://a.test/same"); l.Outcome.State != "duplicate" || l.Outcome.Resemblance != 0 {
		t.Errorf("the page of the same content has the outcome %+v", l.Outcome)
	}
	for _, url := range []string{"http://a.test/only-in-print", "http://b.test/new", "http://a.test/frame2", "http://a.test/tiny2"} {
		if l := life(t, opt.Store, url); l.Outcome == nil || l.Outcome.State != "ok" {
			t.Errorf("%s has the outcome %+v, want ok", url, l.Outcome)
		}
	}
	checkVerified(t, opt.Store)

	// With KeepNear, a resumed crawl fetches them.
	opt.KeepNear, opt.Seeds = true, nil
	r = crawl(t, opt)
	if r.Counts.Pages != 10 || r.Counts.States["duplicate"] != 1 || r.Counts.NearDuplicates != 0 {
		t.Errorf("kept: %d pages, states %v, %d near-duplicates; want 10, 1 duplicate, none near", r.Counts.Pages, r.Counts.States, r.Counts.NearDuplicates)
	}
	if l := life(t, opt.Store, "http://a.test/print"); l.Outcome.State != "ok" || len(l.Visits) != 2 {
		t.Errorf("the printer version has %d visits and the outcome %+v, want 2 and ok", len(l.Visits), l.Outcome)
	}
	checkVerified(t, opt.Store)
}

// TestNearDuplicatesAcrossSessions: pages of an earlier session count.
func TestNearDuplicatesAcrossSessions(t *testing.T) {
	w := nearWeb()
	opt := newOptions(t, w, "http://a.test/one")
	crawl(t, opt)
	opt.Seeds = []string{"http://a.test/print"}
	if r := crawl(t, opt); r.Counts.NearDuplicates != 1 {
		t.Errorf("%d near-duplicates, want 1", r.Counts.NearDuplicates)
	}
	checkVerified(t, opt.Store)
}

// TestNearDuplicatesAtOnce: of versions read at the same time the owner keeps one.
func TestNearDuplicatesAtOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	text := words(rng, 800)
	const versions = 8
	w := &fakeWeb{pages: map[string]string{}}
	var seeds []string
	for i := range versions {
		url := fmt.Sprintf("http://h%d.test/", i)
		seeds = append(seeds, url)
		w.pages[url] = article("One", fmt.Sprintf("%s %d", text, i), "/next")
	}
	var asked sync.WaitGroup // the owner is idle once all pages are requested
	asked.Add(versions)
	w.asked = func(url string) {
		if slices.Contains(seeds, url) {
			asked.Done()
			asked.Wait()
		}
	}
	opt := newOptions(t, w, seeds...)
	opt.Workers = versions
	c, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	p := newPool(&c.opt, c.reader, c.rules, c.requests)
	p.begin(t.Context())
	r, err := c.run(&pagesAtOnce{pool: p, pages: versions})
	if err != nil || r.Counts.Pages != 1 || r.Counts.NearDuplicates != versions-1 {
		t.Errorf("%d pages, %d near-duplicates, %v; want 1 and %d", r.Counts.Pages, r.Counts.NearDuplicates, err, versions-1)
	}
	checkVerified(t, opt.Store)
}

// pagesAtOnce is a worker pool that returns its first pages together.
type pagesAtOnce struct {
	*pool
	pages int // to wait for
	read  []*jobResult
}

func (p *pagesAtOnce) Wait(wake time.Time) event {
	for {
		e := p.pool.Wait(wake)
		if p.pages == 0 || e.What != jobEnded || e.Outcome.task != taskPage {
			return e
		}
		p.read = append(p.read, e.Outcome)
		if p.pages--; p.pages == 0 {
			e.Outcome = p.Ready()
			return e
		}
	}
}

func (p *pagesAtOnce) Ready() *jobResult {
	if p.pages > 0 || len(p.read) == 0 {
		return nil
	}
	o := p.read[0]
	p.read = p.read[1:]
	return o
}

// TestNearOfDamage: a page with a lost body is like no other page, and the crawl goes on.
func TestNearOfDamage(t *testing.T) {
	opt := newOptions(t, nearWeb(), "http://a.test/one")
	crawl(t, opt)
	disk := journal.NewDisk(opt.Store)
	for _, candidate := range []store.Candidate{{Number: 77}, {Number: 1, ContentType: "image/png"}, {Number: 1, URL: "no URL"}} {
		if p, err := disk.Read(&candidate, func() error { return nil }); p != nil || err != nil {
			t.Errorf("%+v: page %v, %v; want none", candidate, p, err)
		}
	}
}
