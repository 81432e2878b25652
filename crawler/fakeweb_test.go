package crawler

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"fossick/crawler/fetch"
	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/store"
)

// fakeWeb is a Fetcher of pages in memory with a server's log.
type fakeWeb struct {
	pages map[string]string           // URL → HTML, "→URL" for a redirect, or "!code"
	addrs map[string]string           // host → address, "" if a proxy resolves it; others have unique ones
	took  time.Duration               // duration of an exchange
	gate  func(ctx context.Context)   // called inside each exchange
	fail  map[string][]fetch.Response // answers to give first, in order
	asked func(url string)            // called before each exchange
	made  func(url string) string     // makes a page missing in pages; "" for none

	mu  sync.Mutex // guards log and fail
	log []served
}

type served struct {
	host, url  string
	start, end time.Time
}

func (w *fakeWeb) Resolve(_ context.Context, host string) (netip.Addr, error) {
	if a, ok := w.addrs[host]; ok {
		if a == "" {
			return netip.Addr{}, nil // resolved by a proxy
		}
		return netip.MustParseAddr(a), nil
	}
	sum := store.HashURL(host)
	return netip.AddrFrom4([4]byte{203, sum[0], sum[1], sum[2]}), nil
}

func (w *fakeWeb) Fetch(ctx context.Context, req fetch.Request) *fetch.Response {
	r := &fetch.Response{URL: req.URL, Start: time.Now(), Header: http.Header{}}
	if w.asked != nil {
		w.asked(req.URL)
	}
	if w.gate != nil {
		w.gate(ctx)
	}
	time.Sleep(w.took)
	w.answer(r)
	if req.Stream != nil && r.State == fetch.StateOK {
		req.Stream(bytes.NewReader(r.Body))
		r.Body = nil
	}
	if ctx.Err() != nil {
		r = &fetch.Response{URL: req.URL, Start: r.Start, State: fetch.StateNone, Err: ctx.Err()}
	}
	r.Took = time.Since(r.Start)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, served{page.Host(req.URL), req.URL, r.Start, time.Now()})
	return r
}

func (w *fakeWeb) answer(r *fetch.Response) {
	w.mu.Lock()
	if queue := w.fail[r.URL]; len(queue) > 0 {
		w.fail[r.URL] = queue[1:]
		w.mu.Unlock()
		r.State, r.Code, r.RetryAfter = queue[0].State, queue[0].Code, queue[0].RetryAfter
		return
	}
	w.mu.Unlock()
	body, ok := w.pages[r.URL]
	if !ok && w.made != nil {
		body = w.made(r.URL)
		ok = body != ""
	}
	switch {
	case !ok:
		r.State, r.Code = fetch.StateCode, 404
	case strings.HasPrefix(body, "→"):
		r.State, r.Code, r.Location = fetch.StateRedirect, 301, strings.TrimPrefix(body, "→")
	default:
		r.State, r.Code, r.ContentType, r.Body = fetch.StateOK, 200, "text/html", []byte(body)
		r.WireBytes = int64(len(body))
	}
}

// urls returns the requested pages in order, without robots.txt.
func (w *fakeWeb) urls() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var urls []string
	for _, s := range w.log {
		if !strings.HasSuffix(s.url, "/robots.txt") {
			urls = append(urls, s.url)
		}
	}
	return urls
}

func html(text string, links ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<html><title>%s</title><body><p>%s</p>", text, text)
	for i, l := range links {
		fmt.Fprintf(&b, `<p><a href="%s">link %d</a></p>`, l, i)
	}
	return b.String()
}

// wordScorer scores a page by eq. 1 with K = {gold}, so λ/|K| is 0 or 1.
type wordScorer struct{ rho float64 }

func (s wordScorer) ScorePage(p *page.Page, parent float64) Score {
	lambda := 0.0
	if strings.Contains(p.Text, "gold") {
		lambda = 1
	}
	r := (1-s.rho)*lambda + s.rho*parent
	return Score{Value: r, Relevant: lambda == 1, Terms: []store.Term{{Name: "R", Value: r}}}
}

func (s wordScorer) ScoreLinks(dst []float64, p *page.Page, score Score) []float64 {
	for range p.Links {
		dst = append(dst, score.Value)
	}
	return dst
}

func ordering(t *testing.T, name string) orders.Ordering {
	t.Helper()
	o := testkit.Call(orders.OrderingByName(name)).Must(t)
	return o
}

// newOptions returns options of a test crawl: one worker, no rests.
func newOptions(t *testing.T, w *fakeWeb, seeds ...string) Options {
	t.Helper()
	s := testkit.Call(store.Create(t.TempDir(), store.Info{Topic: "gold"})).Must(t)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return Options{
		Store: s, Fetcher: w, Scorer: wordScorer{0.3}, Ordering: ordering(t, "relevance"),
		Seeds: seeds, Workers: 1, Delay: Delay{Fixed: true},
	}
}

func crawl(t *testing.T, opt Options) Result {
	t.Helper()
	c := testkit.Call(New(opt)).Must(t)
	r := testkit.Call(c.Run(t.Context())).Must(t)
	return r
}

func life(t *testing.T, s *store.Store, url string) *store.Life {
	t.Helper()
	l := testkit.Call(s.URLs().Life(url)).Must(t)
	return l
}
