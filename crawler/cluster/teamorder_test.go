package cluster

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler"
	"fossick/crawler/fetch"
	"fossick/internal/fulltest"
	"fossick/internal/page"
	"fossick/store"
)

// worths is a teamWeb whose links say what their targets are worth: the pages of one host much,
// those of the next ones less.
type worths struct {
	hosts, pages int
	asked        *askedAtOnce
}

// askedAtOnce counts who is askedAtOnce at a time, and was at most.
type askedAtOnce struct{ now, most atomic.Int64 }

func (a *askedAtOnce) begin() {
	n := a.now.Add(1)
	for most := a.most.Load(); n > most && !a.most.CompareAndSwap(most, n); most = a.most.Load() {
	}
}

func (w worths) worth(h, p int) float64 {
	return float64((p*7919+h*104729)%1000) / 1000 / float64(1+h%8)
}

func (w worths) Resolve(_ context.Context, host string) (netip.Addr, error) {
	sum := store.HashURL(host)
	return netip.AddrFrom4([4]byte{203, sum[0], sum[1], sum[2]}), nil
}

func (w worths) Fetch(_ context.Context, req fetch.Request) *fetch.Response {
	r := &fetch.Response{URL: req.URL, Start: time.Now(), Header: http.Header{}}
	w.asked.begin()
	defer w.asked.now.Add(-1)
	time.Sleep(5 * time.Millisecond)
	r.Took = time.Since(r.Start)
	var h, p int
	if n, _ := fmt.Sscanf(req.URL, "http://h%d.test/%d", &h, &p); n < 2 {
		r.State, r.Code = fetch.StateCode, 404
		return r
	}
	r.State, r.Code, r.ContentType = fetch.StateOK, 200, "text/html"
	r.Body = fmt.Appendf(nil, "<title>%d of %d</title>", p, h)
	for i := range 12 {
		to, at := (h*5+p+i*3)%w.hosts, (p*13+i*29+1)%w.pages
		r.Body = fmt.Appendf(r.Body, `<a href="http://h%d.test/%d">%g</a> `, to, at, w.worth(to, at))
	}
	return r
}

// told believes what links say.
type told struct{ worths }

func (t told) ScorePage(p *page.Page, _ float64) crawler.Score {
	var h, n int
	_, _ = fmt.Sscanf(p.URL, "http://h%d.test/%d", &h, &n)
	return crawler.Score{Value: t.worth(h, n), Relevant: true}
}

func (t told) ScoreLinks(dst []float64, p *page.Page, _ crawler.Score) []float64 {
	for _, l := range p.Links {
		x, _ := strconv.ParseFloat(l.Anchor, 64)
		dst = append(dst, x)
	}
	return dst
}

// bestOf is what the pages of a crawl by so many agents are worth.
func bestOf(t *testing.T, agents int, rest time.Duration, patience float64) (sum float64) {
	const workers = 16
	w := worths{64, 400, new(askedAtOnce)}
	var last crawler.Progress
	waits := false
	r, urls := crawlAsTeam(t, &teamWeb{}, agents, func(o *crawler.Options) {
		o.Fetcher, o.Scorer, o.MaxPages, o.Workers = w, told{w}, 300, workers
		o.Patience, o.Delay.Rest = patience, rest
		o.Progress = func(p crawler.Progress) {
			last = p
			waits = waits || p.Patience != nil && p.Patience.Waits && p.Patience.Price > p.Patience.Free && p.Patience.Hosts > 0
		}
	})
	if mayWait := rest > 0 && patience != 1; waits != mayWait || (last.Patience != nil) != mayWait || mayWait && last.Patience.Held < rest {
		t.Errorf("a crawl that may wait (%v) tells of %+v", mayWait, last.Patience)
	}
	if slices.Max(last.Turns.Within[:]) == 0 {
		t.Error("no turns of the agents are told")
	}
	for _, u := range urls {
		var h, p int
		_, _ = fmt.Sscanf(u, "http://h%d.test/%d", &h, &p)
		sum += w.worth(h, p)
	}
	if most := w.asked.most.Load(); most > workers {
		t.Errorf("%d agents askedAtOnce %d hosts at a time by %d workers", agents, most, workers)
	}
	t.Logf("%d agents, rests of %v, patience %g: %.1f in %v", agents, rest, patience, sum, r.Counts.Elapsed)
	return sum
}

// TestBestFirst: the pages of eight agents are worth as much as those of a crawl alone, though
// the hosts of some have little.
func TestBestFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, eight := bestOf(t, 1, 0, 0), bestOf(t, 8, 0, 0)
		if eight < one {
			t.Errorf("the pages of eight agents are worth %.1f, those of one %.1f", eight, one)
		}
	})
}

// TestPatience: where hosts rest, agents wait for the better links of any of them.
func TestPatience(t *testing.T) {
	fulltest.Only(t, "seconds of processor time")
	synctest.Test(t, func(t *testing.T) {
		greedy, waits := bestOf(t, 8, time.Second, 1), bestOf(t, 8, time.Second, 0)
		if waits < 1.3*greedy {
			t.Errorf("the pages of eight agents that wait are worth %.1f, of those that do not %.1f", waits, greedy)
		}
	})
}
