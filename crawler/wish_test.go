package crawler

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler/fetch"
	"fossick/internal/testkit"
	"fossick/store"
)

const year = 365 * 24 * time.Hour

// TestWishBindsItsHost: one host at an address asks for a year or a day, or always fails. The
// other hosts keep their pace in this session and the next, and the wish is kept.
func TestWishBindsItsHost(t *testing.T) {
	const took, delay, pages = 100 * time.Millisecond, time.Second, 12
	busy := fetch.Response{State: fetch.StateCode, Code: 503, RetryAfter: year}
	for name, wish := range map[string]struct {
		answers []fetch.Response // for /
		robots  string
		rest    time.Duration
	}{
		store.RestForRetryAfter: {[]fetch.Response{busy}, "", year},
		store.RestForCrawlDelay: {nil, "User-agent: *\nCrawl-delay: 86400\n", 24 * time.Hour},
		store.RestForFailures:   {[]fetch.Response{{State: fetch.StateCode, Code: 500}, {State: fetch.StateCode, Code: 500}}, "", 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &fakeWeb{pages: map[string]string{}, took: took, addrs: map[string]string{"evil.test:80": "203.0.113.1", "good.test:80": "203.0.113.1"}}
				w.pages["http://evil.test/"] = html("gold evil", "http://evil.test/more")
				w.pages["http://evil.test/more"] = html("gold evil more")
				if wish.robots != "" {
					w.pages["http://evil.test/robots.txt"] = wish.robots
				}
				w.fail = map[string][]fetch.Response{"http://evil.test/": wish.answers}
				for i := range pages {
					w.pages[fmt.Sprintf("http://good.test/%d", i)] = html(fmt.Sprint("gold good", i), fmt.Sprintf("http://good.test/%d", i+1))
				}
				opt := newOptions(t, w, "http://evil.test/", "http://good.test/0")
				opt.Delay, opt.MaxWait, opt.MaxPages = Delay{Fixed: true, Rest: delay}, 10*time.Second, pages/2
				start := time.Now()
				crawl(t, opt)
				h := testkit.Call(opt.Store.Host("evil.test:80")).Must(t)
				if until := time.UnixMilli(h.Next); name != store.RestForFailures && (h.RestFor != name || h.RestMillis != wish.rest.Milliseconds() || until.Before(start.Add(wish.rest))) {
					t.Errorf("evil rests for %s, %d ms, until %v", h.RestFor, h.RestMillis, until)
				}
				opt.MaxPages = 0
				crawl(t, opt)
				good, last := 0, time.Time{}
				for i, s := range w.log {
					if gap := s.start.Sub(last); i > 0 && gap < delay {
						t.Errorf("%s came %v after another at its address, want %v", s.url, gap, delay)
					}
					last = s.end
					switch {
					case s.host == "good.test:80":
						good++
					case s.url == "http://evil.test/more" && wish.rest > time.Hour:
						t.Errorf("%s was asked for, though evil wants to rest", s.url)
					}
				}
				if good != pages+2 { // robots.txt and the last one's link
					t.Errorf("good.test was asked %d times, want %d", good, pages+2)
				}
				if all := time.Duration(len(w.log)+4) * (took + delay); last.Sub(start) > all {
					t.Errorf("it took %v, want %v at most for %d requests", last.Sub(start), all, len(w.log))
				}
				checkSound(t, opt.Store)
			})
		})
	}
}

// liar is a name server that returns the given addresses.
type liar map[string][]netip.Addr

func (l liar) LookupNetIP(_ context.Context, _, name string) ([]netip.Addr, error) {
	return l[name], nil
}

// TestLyingNames: names that list another host's address do not delay that host.
func TestLyingNames(t *testing.T) {
	t.Parallel()
	const pages, liars = 8, 6
	var good, evil atomic.Int32
	at := func(addr string, handler http.HandlerFunc) netip.AddrPort {
		l := testkit.Call(net.Listen("tcp", addr)).Must(t)
		srv := &httptest.Server{Listener: l, Config: &http.Server{Handler: handler}}
		srv.Start()
		t.Cleanup(srv.Close)
		return netip.MustParseAddrPort(l.Addr().String())
	}
	victim := at("127.0.0.1:0", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		good.Add(1)
		var n int
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &n)
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, html(fmt.Sprint("gold", n), fmt.Sprintf("/%d", min(n+1, pages-1))))
	})
	attacker := at("127.0.0.2:0", func(w http.ResponseWriter, r *http.Request) {
		evil.Add(1)
		if strings.HasPrefix(r.Host, "delay") {
			_, _ = io.WriteString(w, "User-agent: *\nCrawl-delay: 86400\n")
			return
		}
		w.Header().Set("Retry-After", "31536000")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	names := liar{"good.test": {victim.Addr()}}
	var seeds []string
	for i := range liars {
		name := fmt.Sprintf("%s%d.test", []string{"delay", "later", "nothing"}[i%3], i)
		if names[name] = []netip.Addr{victim.Addr(), attacker.Addr()}; i%3 == 2 {
			names[name] = names[name][:1]
		}
		seeds = append(seeds, fmt.Sprintf("http://%s:%d/", name, attacker.Port()))
	}
	fetcher := testkit.Call(fetch.New(fetch.Options{
		Resolver: names, AllowNet: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, ConnectTimeout: 2 * time.Second,
	})).Must(t)
	defer fetcher.Close()
	opt := newOptions(t, &fakeWeb{}, append(seeds, fmt.Sprintf("http://good.test:%d/0", victim.Port()))...)
	opt.Fetcher, opt.Workers, opt.MaxWait = fetcher, 4, 5*time.Second
	opt.MaxPages = pages / 2
	crawl(t, opt)
	opt.MaxPages = 0
	r := crawl(t, opt)
	if r.Counts.Pages != pages || good.Load() != pages {
		t.Errorf("%d pages, %d asked for, want the victim's %d", r.Counts.Pages, good.Load(), pages)
	}
	if n := evil.Load(); n == 0 {
		t.Error("the attacker was not asked for anything: the test means nothing")
	}
	for h := range testkit.All(t, opt.Store.Hosts()) {
		if want := victim.Addr().String(); strings.HasPrefix(h.Name, "good") != (h.Address == want) {
			t.Errorf("%s is said to be at %q", h.Name, h.Address)
		}
	}
	checkSound(t, opt.Store)
}
