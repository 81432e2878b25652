package main

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fossick/crawler"
	"fossick/datasets"
	"fossick/datasets/web"
	"fossick/internal/fulltest"
	"fossick/store"
)

// TestWatchNews watches a web whose sitemaps tell of changes, wrongly on a half of the hosts.
// Their word is held against the pages: who is true is believed, and who is wrong is not. In a
// round pages with news come before the others of their host. Under a budget sitemaps count,
// and take no more than their part.
func TestWatchNews(t *testing.T) {
	t.Parallel()
	log := &requestLog{}
	set, err := datasets.Open("demo", datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	served, addr := changingDemo(t, set, log, web.ChangePlan{Mean: time.Duration(fulltest.Rounds(1500, 4000)) * time.Millisecond, Adverts: .5, Wrong: .5})
	dir := filepath.Join(t.TempDir(), "crawl")
	plan := killPlan{args: append(demoSeeds(t), "--max-pages", itoa(fulltest.Rounds(70, 250)), "--exclude", `[?&]|/calendar/|/threads`)}
	var errs bytes.Buffer
	if code := run(t.Context(), plan.command(addr, dir), io.Discard, &errs); code != exitDone {
		t.Fatalf("crawl: %d, %s", code, errs.String())
	}
	rounds := fulltest.Rounds(3, 12)
	r := watch(t, dir, "--rounds", itoa(rounds), "--every", itoa(fulltest.Rounds(700, 2500))+"ms", "--delay", "10ms")
	asked := 0
	for _, q := range log.requests(t) {
		if q.Path == "/sitemap.xml" {
			asked++
		}
	}
	if n := r.News; n.Hosts == 0 || int(n.Asked) != asked || asked != n.Hosts*rounds || n.Changed == 0 || n.New == 0 || n.NotModified == 0 {
		t.Errorf("%d requests for sitemaps; %+v", asked, n)
	}
	right, wrong, told := beliefs(t, served, dir)
	t.Logf("of hosts with an opinion on them %d are taken for what they are, %d are not, %d are open", right, wrong, told-right-wrong)
	// An opinion may be wrong one time in ten, and three rounds bring few.
	if right < fulltest.Rounds(1, 12) || wrong > fulltest.Rounds(told/5, max(1, right/4)) {
		t.Errorf("of %d hosts %d are taken for what they are, %d are not", told, right, wrong)
	}
	before := len(log.requests(t))
	b := watch(t, dir, "--budget", itoa(40*24*60*60), "--max-time", itoa(fulltest.Rounds(1, 4))+"s", "--delay", "10ms", "--policy", "learn")
	requests := log.requests(t)[before:]
	maps := 0
	for _, q := range requests {
		if strings.HasPrefix(q.Path, "/sitemap") {
			maps++
		}
	}
	if int(b.News.Asked) != maps || maps > b.News.Hosts+len(requests)/5 || int(b.Visits-r.Visits)+maps+robots(requests) != len(requests) {
		t.Errorf("%d requests, %d for sitemaps; %+v, %d visits", len(requests), maps, b.News, b.Visits-r.Visits)
	}
}

func robots(all []request) (n int) {
	for _, q := range all {
		if q.Path == "/robots.txt" {
			n++
		}
	}
	return n
}

// beliefs counts hosts that are rightly and wrongly believed or doubted.
func beliefs(t *testing.T, served *web.Web, dir string) (right, wrong, all int) {
	t.Helper()
	s, err := store.OpenWhenFree(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	for h, err := range s.Hosts() {
		if err != nil {
			t.Fatal(err)
		}
		if h.Announced == nil || len(h.Announced.Sources) == 0 {
			continue
		}
		all++
		truth := served.Truth("http://" + strings.TrimSuffix(h.Name, ":80") + "/").Lastmod
		honest := truth == web.TrueLastmod
		switch believed, doubted := crawler.Believed(h.Announced), crawler.Doubted(h.Announced); {
		case believed && honest, doubted && !honest:
			right++
		case believed, doubted:
			wrong++
		}
		t.Logf("%s: %s, %d of %d checks failed", h.Name, truth, h.Announced.Failed, h.Announced.Checks)
	}
	return right, wrong, all
}
