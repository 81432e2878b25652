package crawler

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fossick/crawler/fetch"
	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/store"
)

// versionedRobots is a web whose robots.txt changes, and where a day passes after each page.
type versionedRobots struct {
	*fakeWeb
	robots func(asked int) (etag, modified, text string) // at the n-th request

	mu    sync.Mutex // guards the rest
	now   time.Time
	asked []fetch.Request
}

func (w *versionedRobots) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *versionedRobots) Fetch(ctx context.Context, req fetch.Request) *fetch.Response {
	if !strings.HasSuffix(req.URL, "/robots.txt") {
		r := w.fakeWeb.Fetch(ctx, req)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.now = w.now.Add(25 * time.Hour)
		return r
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, req)
	r := &fetch.Response{URL: req.URL, State: fetch.StateOK, Code: 200, Start: w.now, Header: http.Header{}, ContentType: "text/plain"}
	etag, modified, text := w.robots(len(w.asked))
	switch {
	case req.ETag != "" && req.ETag == etag, req.LastModified != "" && req.LastModified == modified:
		r.State, r.Code = fetch.StateNotModified, 304
	case strings.HasPrefix(text, "!"):
		r.State, r.Code = fetch.StateCode, 500
	default:
		r.Header.Set("ETag", etag)
		r.Header.Set("Last-Modified", modified)
		r.Body = []byte(text)
	}
	return r
}

// chain is a host with n pages, each linked to the next.
func chain(n int) *fakeWeb {
	w := &fakeWeb{pages: map[string]string{}}
	for i := range n {
		w.pages["http://a.test/"+pageName(i)] = html(fmt.Sprint("gold ", i), "/"+pageName(i+1), "/secret/"+pageName(i))
	}
	return w
}

func TestRobotsAreAskedForByVersion(t *testing.T) {
	const (
		rules  = "User-agent: *\nDisallow: /secret/\n"
		closed = "User-agent: *\nDisallow: /\n"
	)
	for _, c := range []struct {
		name   string
		robots func(asked int) (etag, modified, text string)
		asked  []string // ETag|Last-Modified of each request
		pages  uint64
	}{
		{"unchanged by ETag", func(int) (string, string, string) { return `"1"`, "", rules }, []string{"|", `"1"|`, `"1"|`, `"1"|`}, 4},
		{"unchanged by date", func(int) (string, string, string) { return "", "Mon", rules }, []string{"|", "|Mon", "|Mon", "|Mon"}, 4},
		{"no version", func(int) (string, string, string) { return "", "", rules }, []string{"|", "|", "|", "|"}, 4},
		{"too long a version", func(int) (string, string, string) { return strings.Repeat("x", 300), "", rules }, []string{"|", "|", "|", "|"}, 4},
		{"changed", func(n int) (string, string, string) {
			if n == 3 {
				return `"3"`, "", closed
			}
			return `"1"`, "", rules
		}, []string{"|", `"1"|`, `"1"|`}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &versionedRobots{fakeWeb: chain(4), robots: c.robots, now: time.UnixMilli(1e12)}
			opt := newOptions(t, w.fakeWeb, "http://a.test/"+pageName(0))
			opt.Fetcher, opt.Now, opt.FollowTraps = w, w.clock, true
			r := crawl(t, opt)
			var asked []string
			for _, req := range w.asked {
				asked = append(asked, req.ETag+"|"+req.LastModified)
			}
			if got := strings.Join(asked, " "); !strings.HasPrefix(got, strings.Join(c.asked, " ")) {
				t.Errorf("asked for robots.txt with %q, want %q", asked, c.asked)
			}
			if r.Counts.Pages != c.pages {
				t.Errorf("%d pages, want %d", r.Counts.Pages, c.pages)
			}
			for _, u := range w.urls() {
				if strings.Contains(u, "/secret/") {
					t.Errorf("%s was asked for, against the rules", u)
				}
			}
		})
	}
}

// TestRobotsOfAnotherName: a session with another user agent requests the rules again.
func TestRobotsOfAnotherName(t *testing.T) {
	w := &versionedRobots{fakeWeb: chain(4), now: time.UnixMilli(1e12), robots: func(int) (string, string, string) {
		return `"1"`, "", "User-agent: fossick\nAllow: /\n\nUser-agent: digger\nDisallow: /\n"
	}}
	opt := newOptions(t, w.fakeWeb, "http://a.test/"+pageName(0))
	opt.Fetcher, opt.FollowTraps, opt.MaxPages = w, true, 1
	opt.Now = func() time.Time { return time.UnixMilli(1e12) } // the rules stay fresh
	if r := crawl(t, opt); r.Counts.Pages != 1 {
		t.Fatalf("%d pages, want 1", r.Counts.Pages)
	}
	opt.Agent, opt.MaxPages = "digger", 3
	if r := crawl(t, opt); r.Counts.Pages != 1 || len(w.asked) != 2 || w.asked[1].ETag != "" {
		t.Errorf("as digger: %d pages, robots.txt asked for %d times", r.Counts.Pages, len(w.asked))
	}
}

// TestRobotsOfAnEarlierBuild: rules that an earlier build kept are requested anew, without a condition: the
// site would answer that they have not changed.
func TestRobotsOfAnEarlierBuild(t *testing.T) {
	w := &versionedRobots{fakeWeb: chain(4), now: time.UnixMilli(1e12), robots: func(int) (string, string, string) {
		return `"1"`, "", "License: https://a.test/rsl.xml\nUser-agent: *\nAllow: /\n"
	}}
	opt := newOptions(t, w.fakeWeb, "http://a.test/"+pageName(0))
	opt.Fetcher, opt.FollowTraps, opt.MaxPages = w, true, 1
	opt.Now = func() time.Time { return time.UnixMilli(1e12) }
	crawl(t, opt)
	b := opt.Store.Batch()
	for h, err := range opt.Store.Hosts() {
		if h.RobotsVersion = 0; err != nil || b.PutHost(h) != nil {
			t.Fatal(err)
		}
	}
	testkit.Must(t, b.Commit())
	opt.MaxPages = 2
	if crawl(t, opt); len(w.asked) != 2 || w.asked[1].ETag != "" {
		t.Errorf("robots.txt was asked for with %+v", w.asked)
	}
	if p := life(t, opt.Store, "http://a.test/"+pageName(1)).Page; !slices.Contains(p.Rights, "robots.txt: license https://a.test/rsl.xml") {
		t.Errorf("rights %q", p.Rights)
	}
}

// TestRobotsTagLines: every X-Robots-Tag line counts.
func TestRobotsTagLines(t *testing.T) {
	for _, c := range []struct {
		lines             []string
		noIndex, noFollow bool
	}{
		{nil, false, false},
		{[]string{"otherbot: none"}, false, false},
		{[]string{"otherbot: none", "noindex"}, true, false},
		{[]string{"noindex", "otherbot: none"}, true, false},
		{[]string{"fossick: nofollow", "NOINDEX, noarchive"}, true, true},
	} {
		p, err := page.Parse([]byte("<p>text"), page.ParseOptions{
			URL: "http://h.test/", ContentType: "text/html", RobotsTag: robotsTag(http.Header{"X-Robots-Tag": c.lines}),
		})
		if err != nil || p.NoIndex != c.noIndex || p.NoFollow != c.noFollow {
			t.Errorf("%q: noindex %v, nofollow %v, %v; want %v, %v", c.lines, p.NoIndex, p.NoFollow, err, c.noIndex, c.noFollow)
		}
	}
}

// TestTDMRep: a host's tdmrep.json is requested once a day, if needed and allowed, and obeyed.
func TestTDMRep(t *testing.T) {
	const (
		file    = "http://a.test/.well-known/tdmrep.json"
		open    = `[{"location":"/secret/","tdm-reservation":1}`
		secret  = open + `]`
		damaged = open + `,{"loc`
		all     = `[{"location":"/","tdm-reservation":1}]`
	)
	for _, c := range []struct {
		name    string
		purpose page.Purpose
		robots  string
		files   []string // the file's text by day, the last one for all later days; "": none, "!": code 500
		asked   int      // requests of the file
		pages   uint64
		secret  bool // whether pages below /secret/ are requested
		note    string
	}{
		{"obeyed", page.ForTraining, "", []string{secret}, 4, 4, false, ""},
		{"for research", page.ForResearch, "", []string{secret}, 4, 4, false, ""},
		{"for search", page.ForSearch, "", []string{secret}, 0, 4, true, ""},
		{"no purpose", "", "", []string{secret}, 0, 4, true, ""},
		{"none there", page.ForTraining, "", []string{""}, 8, 4, true, ""},
		{"all", page.ForTraining, "", []string{all}, 1, 0, false, ""},
		{"robots.txt refuses it", page.ForTraining, "User-agent: *\nDisallow: /.well-known/\n", []string{secret}, 0, 4, true, ""},
		{"holds on where the host fails", page.ForTraining, "", []string{secret, "!"}, 4, 4, false, ""},
		{"changed", page.ForTraining, "", []string{secret, all}, 2, 1, false, ""},
		{"damaged", page.ForTraining, "", []string{damaged}, 4, 4, false, "tdmrep.json: byte"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := chain(4)
			w.fail = map[string][]fetch.Response{}
			if c.robots != "" {
				w.pages["http://a.test/robots.txt"] = c.robots
			}
			now, asked := atomic.Int64{}, 0 // asked: by the only worker
			now.Store(1e12)
			w.asked = func(url string) {
				switch {
				case url == file:
					says := c.files[min(asked, len(c.files)-1)]
					asked++
					delete(w.pages, file)
					if says == "!" {
						w.fail[file] = []fetch.Response{{State: fetch.StateCode, Code: 500}}
					} else if says != "" {
						w.pages[file] = says
					}
				case !strings.HasSuffix(url, "/robots.txt"):
					now.Add((25 * time.Hour).Milliseconds())
				}
			}
			opt := newOptions(t, w, "http://a.test/"+pageName(0))
			opt.Purpose, opt.FollowTraps = c.purpose, true
			// Time passes, so that a failed host has rested.
			opt.Now = func() time.Time { return time.UnixMilli(now.Add(time.Minute.Milliseconds())) }
			r := crawl(t, opt)
			secret := strings.Contains(strings.Join(w.urls(), " "), "/secret/")
			if asked < c.asked || c.asked == 0 && asked > 0 || r.Counts.Pages != c.pages || secret != c.secret {
				t.Errorf("%d pages, the file asked for %d times, /secret/ asked for: %v", r.Counts.Pages, asked, secret)
			}
			if int(r.Counts.Requests) != len(w.log) {
				t.Errorf("%d requests counted of %d", r.Counts.Requests, len(w.log))
			}
			journalled, note := 0, ""
			for x := range testkit.All(t, opt.Store.Exchanges("a.test:80")) {
				if x.For == store.ForTDMRep {
					journalled, note = journalled+1, x.Note
				}
			}
			if journalled != asked || !strings.Contains(note, c.note) {
				t.Errorf("%d exchanges of %d journalled, with %q", journalled, asked, note)
			}
		})
	}
}

// TestTDMRepIsKept: a session on the same day obeys without a request, and the journal says why a
// page was skipped.
func TestTDMRepIsKept(t *testing.T) {
	w := chain(4)
	refused := "http://a.test/" + pageName(2)
	file := page.TDMRepURL(refused)
	w.pages[file] = `[{"location":"` + page.Path(refused) + `","tdm-reservation":1}]`
	opt := newOptions(t, w, "http://a.test/"+pageName(0))
	opt.Purpose, opt.MaxPages = page.ForTraining, 1
	for range 2 {
		crawl(t, opt)
		opt.MaxPages = 0
	}
	if n := strings.Count(strings.Join(w.urls(), " "), file); n != 1 {
		t.Errorf("asked for %d times", n)
	}
	l := life(t, opt.Store, refused)
	if l.Outcome == nil || l.Outcome.State != string(fetch.StateRobotsDenied) || !strings.HasPrefix(l.Outcome.Reason, "tdmrep.json: tdm-reservation 1") || len(l.Visits) != 0 {
		t.Errorf("%+v", l)
	}
}

// TestOneNormalFormForACrawl: all URLs use the crawl's own parameters in every session.
func TestOneNormalFormForACrawl(t *testing.T) {
	w := &fakeWeb{pages: map[string]string{
		"http://a.test/":          html("gold", "/p?utm_x=1&view=2", "/q?view=1"),
		"http://a.test/p?utm_x=1": "→http://a.test/r?view=3&gclid=4",
		"http://a.test/q":         html("gold dust", "/?view=9"),
		"http://a.test/r?gclid=4": html("gold ore"),
	}}
	opt := newOptions(t, w, "http://a.test/")
	opt.URLs = page.NewNormalizer([]string{"view"})
	for opt.MaxPages = 1; opt.MaxPages <= 4; opt.MaxPages++ {
		crawl(t, opt)
	}
	got, want := w.urls(), []string{"http://a.test/", "http://a.test/p?utm_x=1", "http://a.test/q", "http://a.test/r?gclid=4"}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("asked for %q, want %q", got, want)
	}
}
