package crawler

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler/fetch"
	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/internal/testkit"
)

// chanceScorer reads the chance that a target is on topic, in percent, from its URL.
type chanceScorer struct{}

func (chanceScorer) chance(url string) float64 {
	var host, percent, n int
	if _, err := fmt.Sscanf(url, "http://h%d.example/%d/%d", &host, &percent, &n); err != nil {
		return 0.5
	}
	return float64(percent) / 100
}

func (s chanceScorer) ScorePage(p *page.Page, _ float64) Score {
	return Score{Value: 1, Relevant: s.chance(p.URL) >= 0.5}
}

func (s chanceScorer) ScoreLinks(dst []float64, p *page.Page, _ Score) []float64 {
	for _, l := range p.Links {
		dst = append(dst, s.chance(l.URL))
	}
	return dst
}

func (chanceScorer) ScoreUnlinked(_ string, parent float64) float64 { return parent }

func (chanceScorer) Rescore(uint64) (float64, bool) { return 0, false }
func (chanceScorer) Promise(uint64) (float64, bool) { return 0, false }

// patientWeb has a start page with links to good and bad pages, on so many hosts each.
func patientWeb(t *testing.T, good, bad int) func(string) Answer {
	return func(u string) Answer {
		links := ""
		if strings.HasSuffix(u, "/start") {
			for host := range good + bad {
				percent := 90
				if host >= good {
					percent = 10
				}
				for n := range 40 {
					links += fmt.Sprintf("<a href=http://h%d.example/%d/%d>x</a> ", host, percent, n)
				}
			}
		}
		p, err := page.Parse([]byte("<title>"+u+"</title>"+strings.Repeat(u+" ", 9)+links), page.ParseOptions{URL: u, ContentType: "text/html"})
		if err != nil {
			t.Error(err)
		}
		return Answer{Page: p, Took: 100 * time.Millisecond}
	}
}

// TestPatience: with a page limit a crawl waits for good links, unless told not to. It always
// ends.
func TestPatience(t *testing.T) {
	order := ordering(t, "relevance")
	const pages = 41
	for _, c := range []struct {
		name      string
		good, bad int
		set       func(*Options)
		relevant  int           // at least
		most      time.Duration // longest duration
	}{
		{"one good host", 1, 9, func(o *Options) { o.MaxPages = pages }, 38, 43 * 1100 * time.Millisecond},
		{"not told to wait", 1, 9, func(o *Options) { o.MaxPages, o.Patience = pages, 1 }, 5, 8 * 1100 * time.Millisecond},
		{"paid with time", 1, 9, func(o *Options) { o.MaxTime = 6 * time.Second }, 5, 7 * 1100 * time.Millisecond},
		{"too little time to wait", 1, 9, func(o *Options) { o.MaxPages, o.MaxTime = pages, 8*time.Second }, 5, 9 * 1100 * time.Millisecond},
		{"time enough", 1, 9, func(o *Options) { o.MaxPages, o.MaxTime = pages, time.Minute }, 37, time.Minute},
		{"no good host", 0, 10, func(o *Options) { o.MaxPages = pages }, 1, 20 * 1100 * time.Millisecond},
		{"all of it", 1, 2, func(o *Options) { o.MaxPages = 200 }, 41, 43 * 3 * 1100 * time.Millisecond},
	} {
		opt := Options{
			Scorer: chanceScorer{}, Ordering: order, Seeds: []string{"http://h0.example/start"}, Workers: 32,
			Delay: Delay{Fixed: true, Rest: time.Second}, FollowTraps: true, KeepNear: true,
		}
		c.set(&opt)
		r := testkit.Call(Virtual(t.Context(), opt, patientWeb(t, c.good, c.bad))).Must(t)
		relevant := 0
		for _, p := range r.Pages {
			if p.Score.Relevant {
				relevant++
			}
		}
		t.Logf("%s: %d of %d in %v, %s", c.name, relevant, len(r.Pages), r.Took, r.Stopped)
		if relevant < c.relevant || r.Took > c.most || opt.MaxPages > 0 && opt.MaxTime == 0 && len(r.Pages) != min(int(opt.MaxPages), 1+40*(c.good+c.bad)) {
			t.Errorf("%s: %d of %d in %v, %s; want %d in %v", c.name, relevant, len(r.Pages), r.Took, r.Stopped, c.relevant, c.most)
		}
	}
}

// TestPatienceAtManyHosts: a patient crawl takes at most three times as long as a greedy one.
func TestPatienceAtManyHosts(t *testing.T) {
	const hosts, each = 300, 40
	web := func(u string) Answer {
		var links strings.Builder
		if u == "http://h0.example/start" {
			for host := range hosts {
				fmt.Fprintf(&links, "<a href=http://h%d.example/%d/start>x</a> ", host, 95-40*host/hosts)
			}
		} else if of, ok := strings.CutSuffix(u, "start"); ok {
			for n := range each {
				fmt.Fprintf(&links, "<a href=%s%d>x</a> ", of, n)
			}
		}
		p, err := page.Parse([]byte("<title>"+u+"</title>"+strings.Repeat(u+" ", 9)+links.String()), page.ParseOptions{URL: u, ContentType: "text/html"})
		if err != nil {
			t.Error(err)
		}
		return Answer{Page: p, Took: 100 * time.Millisecond}
	}
	order := ordering(t, "relevance")
	crawl := func(patience float64) (took time.Duration, chance float64) {
		r := testkit.Call(Virtual(t.Context(), Options{
			Scorer: chanceScorer{}, Ordering: order, Seeds: []string{"http://h0.example/start"}, Workers: 32, MaxPages: 8 * hosts,
			Delay: Delay{Fixed: true, Rest: time.Second}, FollowTraps: true, KeepNear: true, Patience: patience,
		}, web)).Must(t)
		for _, p := range r.Pages {
			chance += chanceScorer{}.chance(p.Page.URL) / float64(len(r.Pages))
		}
		return r.Took, chance
	}
	quick, taken := crawl(1)
	slow, waited := crawl(0)
	t.Logf("greedy: %v, mean chance %.3f; waiting: %v, %.3f", quick, taken, slow, waited)
	if slow > defaultPatience*quick || waited < taken+0.1 {
		t.Errorf("waiting took %v for a mean chance of %.3f, greedy %v for %.3f; want %v at most, and .1 more", slow, waited, quick, taken, defaultPatience*quick)
	}
}

// TestPatienceNeedsRests: if no host rests, there is no wait and no price.
func TestPatienceNeedsRests(t *testing.T) {
	for _, c := range []struct {
		delay Delay
		want  float64
	}{
		{Delay{}, defaultPatience},
		{Delay{Fixed: true, Rest: time.Second}, defaultPatience},
		{Delay{Fixed: true}, 1},
		{Delay{Off: true}, 1},
	} {
		opt := Options{Delay: c.delay, MaxPages: 10, Ordering: orders.Latest}
		if got := opt.WaitsUpTo(); got != c.want {
			t.Errorf("%+v: patience %g, want %g", c.delay, got, c.want)
		}
	}
}

// TestDeadHostsAreNotWaitedFor: good links at dead hosts delay nothing.
func TestDeadHostsAreNotWaitedFor(t *testing.T) {
	order := ordering(t, "relevance")
	synctest.Test(t, func(t *testing.T) {
		links, dead := []string(nil), []fetch.Response(nil)
		for range 10 {
			dead = append(dead, fetch.Response{State: fetch.StateConnectError})
		}
		w := &fakeWeb{pages: map[string]string{}, fail: map[string][]fetch.Response{}, took: 10 * time.Millisecond}
		for n := range 40 {
			links = append(links, fmt.Sprintf("http://h%d.example/90/%d", n%8+2, n), fmt.Sprintf("http://h1.example/10/%d", n))
			w.fail[fmt.Sprintf("http://h%d.example/robots.txt", n%8+2)] = dead
			w.pages[fmt.Sprintf("http://h1.example/10/%d", n)] = html(fmt.Sprint("page ", n))
		}
		w.pages["http://h0.example/start"] = html("start", links...)
		opt := newOptions(t, w, "http://h0.example/start")
		opt.Scorer, opt.Ordering, opt.Workers, opt.MaxPages, opt.KeepNear = chanceScorer{}, order, 32, 30, true
		opt.Delay = Delay{Fixed: true, Rest: 100 * time.Millisecond}
		began := time.Now()
		r := crawl(t, opt)
		if took := time.Since(began); r.Counts.Pages != 30 || took > 5*time.Second {
			t.Errorf("%d pages in %v; want 30 in some 3.4 s", r.Counts.Pages, took)
		}
	})
}
