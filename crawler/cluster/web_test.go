package cluster

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"fossick/crawler"
	"fossick/crawler/fetch"
	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/store"
)

// web is a set of sites whose pages link to each other and to the next site's pages. It logs
// requests.
type web struct {
	sites, pages int
	took         time.Duration // duration of a fetch; 0: 50 ms
	last         int           // pages of the last site; 0: as many as on the others
	tree         bool          // only one path leads to each page of a site
	mirrors      bool          // every other page of a site also exists on each other site
	dead         bool          // every other site does not answer

	mu  sync.Mutex // guards log
	log []asked
}

type asked struct {
	host, url  string
	start, end time.Time
}

func (w *web) Resolve(_ context.Context, host string) (netip.Addr, error) {
	sum := store.HashURL(host)
	return netip.AddrFrom4([4]byte{203, sum[0], sum[1], sum[2]}), nil
}

func (w *web) Fetch(_ context.Context, req fetch.Request) *fetch.Response {
	r := &fetch.Response{URL: req.URL, Start: time.Now(), Header: http.Header{}}
	time.Sleep(cmp.Or(w.took, 50*time.Millisecond))
	r.Took = time.Since(r.Start)
	w.mu.Lock()
	w.log = append(w.log, asked{page.Host(req.URL), req.URL, r.Start, time.Now()})
	w.mu.Unlock()
	var s, p int
	switch n, _ := fmt.Sscanf(req.URL, "http://s%d.test/%d", &s, &p); {
	case w.dead && s%2 == 1:
		r.State = fetch.StateConnectTimeout
		return r
	case n < 2 || s >= w.sites || p >= w.of(s):
		r.State, r.Code = fetch.StateCode, 404
		return r
	}
	r.State, r.Code, r.ContentType = fetch.StateOK, 200, "text/html"
	a, b, c, word := (p+1)%w.of(s), (7*p+3)%w.of(s), p, "stone"
	switch {
	case w.tree:
		a, b, c = 2*p+1, 2*p+2, 0
	case w.mirrors:
		a, b, c = p+1, p+2, 0
	}
	if p%3 == 0 || w.mirrors {
		word = "gold"
	}
	r.Body = fmt.Appendf(nil, `<title>%s %d of %d</title><a href="/%d">a</a> <a href="/%d">b</a> <a href="http://s%d.test/%d">c</a>`, word, p, s, a, b, (s+1)%w.sites, c)
	if w.mirrors && p%2 == 1 {
		r.Body = fmt.Appendf(nil, `<title>gold %d of all</title>`, p)
	}
	return r
}

func (w *web) of(site int) int {
	if site == w.sites-1 && w.last > 0 {
		return w.last
	}
	return w.pages
}

// gold finds pages relevant whose title has the word gold.
type gold struct{}

func (gold) ScorePage(p *page.Page, _ float64) crawler.Score {
	if strings.Contains(p.Title, "gold") {
		return crawler.Score{Value: .9, Relevant: true}
	}
	return crawler.Score{Value: .1}
}

func (gold) ScoreLinks(dst []float64, p *page.Page, s crawler.Score) []float64 {
	for range p.Links {
		dst = append(dst, s.Value)
	}
	return dst
}

// alike scores all pages alike.
type alike struct{ gold }

func (alike) ScorePage(*page.Page, float64) crawler.Score {
	return crawler.Score{Value: .5, Relevant: true}
}

// storeOf returns an agent's new store.
func storeOf(t *testing.T, agent string) *store.Store {
	t.Helper()
	s := testkit.Call(store.Create(t.TempDir(), store.Info{Agent: agent})).Must(t)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// crawlOf returns the options of a crawl into a store, with a fixed delay of 0.
func crawlOf(t *testing.T, s *store.Store, f crawler.Fetcher, scorer crawler.Scorer) crawler.Options {
	t.Helper()
	order := testkit.Call(orders.OrderingByName("relevance")).Must(t)
	return crawler.Options{Store: s, Fetcher: f, Scorer: scorer, Ordering: order, Seeds: []string{"http://s0.test/0"}, Workers: 6, Delay: crawler.Delay{Fixed: true}, Patience: 1}
}
