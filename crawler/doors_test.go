package crawler

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"fossick/crawler/fetch"
	"fossick/internal/page"
	"fossick/internal/testkit"
)

// guarded serves planted challenges, one kind for each host, with links that a crawl must not
// follow; and keeps a log.
type guarded struct {
	answers map[string]string // host → answer as in package fetch's testdata

	mu  sync.Mutex
	log []served
}

func (g *guarded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	if raw := g.answers[r.Host]; r.URL.Path == "/robots.txt" || raw == "" {
		_, _ = io.WriteString(w, "User-agent: *\nAllow: /\n") // a client that is gone is no concern
	} else {
		head, body, _ := strings.Cut(raw, "\n\n")
		a, err := http.ReadResponse(bufio.NewReader(strings.NewReader(head+"\n\n")), nil)
		if err != nil {
			panic(fmt.Sprintf("%s: %v", r.Host, err))
		}
		maps.Copy(w.Header(), a.Header)
		w.WriteHeader(a.StatusCode)
		_, _ = io.WriteString(w, strings.Replace(body, "</body>", `<a href="/secret">gold</a></body>`, 1))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.log = append(g.log, served{r.Host, r.URL.Path, start, time.Now()})
}

// TestCrawlOfChallenges: every planted challenge ends its URL, nothing of it is stored or
// followed, and its host rests as after a failure, by the server's log.
func TestCrawlOfChallenges(t *testing.T) {
	archive := testkit.Call(txtar.ParseFile("fetch/testdata/challenges.txtar")).Must(t)
	g := &guarded{answers: map[string]string{}}
	srv := httptest.NewServer(g)
	defer srv.Close()
	at := netip.MustParseAddrPort(srv.Listener.Addr().(*net.TCPAddr).String())
	names, seeds := map[string]netip.AddrPort{}, []string{}
	for _, f := range archive.Files {
		host := strings.TrimSuffix(f.Name, ".http") + ".test"
		g.answers[host], names[host] = string(f.Data), at
		seeds = append(seeds, "http://"+host+"/", "http://"+host+"/second")
	}
	fetcher := testkit.Call(fetch.New(fetch.Options{Hosts: names, AllowNet: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})).Must(t)
	defer fetcher.Close()
	opt := newOptions(t, &fakeWeb{}, seeds...)
	opt.Fetcher, opt.Workers = fetcher, 8
	r := crawl(t, opt)
	if n := len(seeds); r.Counts.Pages != 0 || r.Counts.States["challenge"] != uint64(n) || len(r.Counts.States) != 1 {
		t.Errorf("%d pages, states %v; want %d challenges", r.Counts.Pages, r.Counts.States, n)
	}
	last := map[string]served{}
	for _, s := range g.log {
		if s.url == "/secret" {
			t.Errorf("%s: a link of the challenge was followed", s.host)
		}
		if before, twice := last[s.host]; twice && s.start.Sub(before.end) < time.Second-10*time.Millisecond {
			t.Errorf("%s: asked again after %v, want a second", s.host, s.start.Sub(before.end))
		}
		if s.url != "/robots.txt" {
			last[s.host] = s
		}
	}
	if len(last) != len(archive.Files) || len(g.log) != 3*len(archive.Files) {
		t.Errorf("%d hosts, %d requests; want %d, and three each", len(last), len(g.log), len(archive.Files))
	}
	for _, url := range seeds {
		if l := life(t, opt.Store, url); l.Page != nil || l.Outcome.Next == 0 || len(l.Visits) != 1 || !strings.Contains(l.Outcome.Reason, "challenge or block page (") {
			t.Errorf("%s: page %v, outcome %+v", url, l.Page, l.Outcome)
		}
	}
	checkSound(t, opt.Store)
}

// TestChallengesInARow: each challenge is asked for once, and the host rests twice as long
// after each; Retry-After is obeyed, and other hosts go on.
func TestChallengesInARow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWeb{pages: map[string]string{"http://b.test/": html("gold")}, fail: map[string][]fetch.Response{}}
		var seeds []string
		for i := range 6 {
			url := fmt.Sprintf("http://a.test/%d", i)
			seeds = append(seeds, url)
			w.fail[url] = []fetch.Response{{State: fetch.StateChallenge, Code: 403}}
		}
		w.fail[seeds[5]][0].RetryAfter = 90 * time.Second
		w.fail["http://a.test/9"] = []fetch.Response{{State: fetch.StateChallenge, Code: 200}}
		opt := newOptions(t, w, append(seeds, "http://b.test/", "http://a.test/9")...)
		start := time.Now()
		r := crawl(t, opt)
		if r.Counts.Pages != 1 || r.Counts.States["challenge"] != 7 || r.Counts.Codes[403] != 6 || r.Counts.Codes[200] != 0 {
			t.Errorf("%d pages, states %v, codes %v; want 1, 7 challenges, and 403 six times", r.Counts.Pages, r.Counts.States, r.Counts.Codes)
		}
		var at []time.Duration
		for _, s := range w.log {
			switch {
			case s.host == "a.test:80" && !strings.HasSuffix(s.url, ".txt"):
				at = append(at, s.start.Sub(start))
			case s.host == "b.test:80" && s.start.Sub(start) > time.Second:
				t.Errorf("%s was asked for after %v", s.url, s.start.Sub(start))
			}
		}
		want := []time.Duration{0, 1, 3, 7, 15, 31, 121}
		for i := range want {
			want[i] *= time.Second
		}
		if !slices.Equal(at, want) {
			t.Errorf("the host was asked after %v, want %v", at, want)
		}
	})
}

// TestChallengeBeforeRobots: a host whose robots.txt is behind a challenge is asked for no
// page, and that is why its URLs end.
func TestChallengeBeforeRobots(t *testing.T) {
	w := &fakeWeb{pages: map[string]string{"http://a.test/": html("gold")}, fail: map[string][]fetch.Response{
		"http://a.test/robots.txt": {{State: fetch.StateChallenge, Code: 403}},
	}}
	opt := newOptions(t, w, "http://a.test/", "http://a.test/2")
	r := crawl(t, opt)
	if r.Counts.States["challenge"] != 2 || r.Counts.Pages != 0 || len(w.urls()) != 0 || len(w.log) != 1 {
		t.Errorf("states %v, asked for %v; want 2 challenges and one request", r.Counts.States, w.log)
	}
	if l := life(t, opt.Store, "http://a.test/"); !strings.HasPrefix(l.Outcome.Reason, "robots.txt is behind a challenge") {
		t.Errorf("reason %q", l.Outcome.Reason)
	}
}

// TestDoorsOfAStoredPage: a challenge leaves a stored page and its state alone; a demand for
// payment becomes the URL's state, and the page stays.
func TestDoorsOfAStoredPage(t *testing.T) {
	w := &fakeWeb{pages: map[string]string{"http://a.test/": html("gold")}, fail: map[string][]fetch.Response{}}
	opt := newOptions(t, w, "http://a.test/")
	crawl(t, opt)
	opt.Refresh = time.Minute
	for week, c := range []struct{ now, then fetch.State }{{fetch.StateChallenge, fetch.StateOK}, {fetch.StatePaymentRequired, fetch.StatePaymentRequired}} {
		w.fail["http://a.test/"] = []fetch.Response{{State: c.now}}
		opt.Now = func() time.Time { return time.Now().Add(time.Duration(week+1) * 8 * 24 * time.Hour) }
		crawl(t, opt)
		l := life(t, opt.Store, "http://a.test/")
		if l.Outcome.State != string(c.then) || l.Page == nil || len(l.Visits) != week+2 || l.Visits[week+1].State != string(c.now) {
			t.Errorf("after %s: outcome %+v, page %v, visits %+v; want %s", c.now, l.Outcome, l.Page, l.Visits, c.then)
		}
	}
}

// TestPaymentIsNoFailure: URLs that cost money end at once, and their host does not back off.
func TestPaymentIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWeb{fail: map[string][]fetch.Response{}, pages: map[string]string{"http://a.test/free": html("gold")}}
		seeds := []string{"http://a.test/free"}
		for i := range 20 {
			seeds = append(seeds, fmt.Sprintf("http://a.test/%d", i))
			w.fail[seeds[i+1]] = []fetch.Response{{State: fetch.StatePaymentRequired, Code: 402}}
		}
		opt := newOptions(t, w, seeds...)
		start := time.Now()
		r := crawl(t, opt)
		if r.Counts.States["payment_required"] != 20 || r.Counts.Pages != 1 || r.Counts.Codes[402] != 20 || len(w.urls()) != 21 {
			t.Errorf("%d pages, states %v, codes %v, %d requests; want 20 for payment, and none twice", r.Counts.Pages, r.Counts.States, r.Counts.Codes, len(w.urls()))
		}
		if took := time.Since(start); took > 0 {
			t.Errorf("the crawl took %v: the host backed off", took)
		}
		if l := life(t, opt.Store, seeds[1]); time.UnixMilli(l.Outcome.Next).Sub(start) < 29*Day {
			t.Errorf("the next visit is on %v", time.UnixMilli(l.Outcome.Next))
		}
		if h, err := opt.Store.Host(page.Host(seeds[0])); err != nil || h.Failures != 0 {
			t.Errorf("host %+v, %v; want no failures", h, err)
		}
	})
}
