package crawler

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"fossick/crawler/fetch"
)

// versionedRobots is a web whose robots.txt has versions, and lets a day pass after
// each page.
type versionedRobots struct {
	*fakeWeb
	robots func(asked int) (etag, modified, text string) // of the n-th request

	mu    sync.Mutex // guards what follows
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

// chain is a web of n pages of one host, each with a link to the next.
func chain(n int) *fakeWeb {
	w := &fakeWeb{pages: map[string]string{}}
	for i := range n {
		w.pages["http://a.test/"+letters(i)] = html(fmt.Sprint("gold ", i), "/"+letters(i+1), "/secret/"+letters(i))
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
			opt := newOptions(t, w.fakeWeb, "http://a.test/"+letters(0))
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

// TestRobotsOfAnotherName: rules are kept for one user agent; a session under
// another name asks again.
func TestRobotsOfAnotherName(t *testing.T) {
	w := &versionedRobots{fakeWeb: chain(4), now: time.UnixMilli(1e12), robots: func(int) (string, string, string) {
		return `"1"`, "", "User-agent: fossick\nAllow: /\n\nUser-agent: digger\nDisallow: /\n"
	}}
	opt := newOptions(t, w.fakeWeb, "http://a.test/"+letters(0))
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
