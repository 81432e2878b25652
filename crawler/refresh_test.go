package crawler

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler/fetch"
	"fossick/internal/page"
	"fossick/store"
	"fossick/store/change"
)

// agingWeb is a fakeWeb with ETags and conditional requests.
type agingWeb struct {
	*fakeWeb
	blind bool // ignores conditions
}

func (w *agingWeb) Fetch(ctx context.Context, req fetch.Request) *fetch.Response {
	r := w.fakeWeb.Fetch(ctx, req)
	if w.blind {
		return r
	}
	return version(req, r)
}

// version answers 304 if the request has the content's ETag, and otherwise sets the ETag.
func version(req fetch.Request, r *fetch.Response) *fetch.Response {
	if r.State != fetch.StateOK {
		return r
	}
	tag := fmt.Sprintf("%q", store.HashURL(string(r.Body)))
	if req.ETag == tag {
		return &fetch.Response{URL: req.URL, State: fetch.StateNotModified, Code: 304, Start: r.Start, Took: r.Took, Header: r.Header}
	}
	r.Header.Set("ETag", tag)
	return r
}

// agedCrawl crawls six pages; then one is new, one gone, one fails, one moved, two are unchanged.
func agedCrawl(t *testing.T, blind bool) (*agingWeb, Options) {
	t.Helper()
	w := &agingWeb{&fakeWeb{pages: map[string]string{
		"http://a.test/":     html("gold", "http://a.test/same", "http://a.test/new", "http://b.test/gone", "http://b.test/fails", "http://b.test/moved"),
		"http://a.test/same": html("gold that stays"), "http://a.test/new": html("gold of old"),
		"http://b.test/gone": html("gold that goes"), "http://b.test/fails": html("gold that fails"), "http://b.test/moved": html("gold that moves"),
	}}, blind}
	opt := newOptions(t, w.fakeWeb, "http://a.test/")
	opt.Fetcher = w
	if r := crawl(t, opt); r.Counts.Pages != 6 {
		t.Fatalf("%d pages, want 6", r.Counts.Pages)
	}
	w.pages["http://a.test/new"] = html("gold of today", "http://c.test/found")
	w.pages["http://c.test/found"] = html("gold that is found")
	delete(w.pages, "http://b.test/gone")
	w.fail = map[string][]fetch.Response{"http://b.test/fails": {{State: fetch.StateConnectTimeout}}}
	w.pages["http://b.test/moved"] = "→http://b.test/here"
	w.pages["http://b.test/here"] = html("gold that is here now")
	opt.Seeds = nil
	return w, opt
}

// TestRefresh revisits stored pages, with and without ETags. A changed page is stored anew, a
// missing one gets its new state, a failed one waits for the next refresh.
func TestRefresh(t *testing.T) {
	for _, blind := range []bool{false, true} {
		t.Run(fmt.Sprintf("blind %v", blind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { checkRefreshAged(t, blind) })
		})
	}
}

func checkRefreshAged(t *testing.T, blind bool) {
	w, opt := agedCrawl(t, blind)
	opt.Refresh = time.Minute
	before := len(w.log)
	if r := crawl(t, opt); r.Refreshed != (RefreshCounts{}) || len(w.log) != before {
		t.Errorf("%+v of pages just stored, want none", r.Refreshed)
	}
	time.Sleep(2 * time.Minute)
	opt.MaxPages = 6 // does not limit stored pages
	r := crawl(t, opt)
	if want := (RefreshCounts{Asked: 6, NotModified: 2, Changed: 1, Gone: 2, Failed: 1}); r.Refreshed != want || r.Stopped != StopMaxPages {
		t.Errorf("%+v, stopped for %s; want %+v", r.Refreshed, r.Stopped, want)
	}
	if want := map[string]uint64{"ok": 4, "code": 1, "redirect": 1}; !maps.Equal(r.Counts.States, want) || r.Counts.Pages != 6 {
		t.Errorf("%d pages, states %v; want 6 and %v", r.Counts.Pages, r.Counts.States, want)
	}
	checkVerified(t, opt.Store)
	checkRefreshed(t, opt.Store)

	before = len(w.urls())
	opt.MaxPages = 0
	r = crawl(t, opt)
	asked := w.urls()[before:]
	slices.Sort(asked)
	if want := []string{"http://b.test/fails", "http://b.test/here", "http://c.test/found"}; !slices.Equal(asked, want) || r.Counts.Pages != 8 {
		t.Errorf("%d pages after asking for %v, want 8 after %v", r.Counts.Pages, asked, want)
	}
	checkVerified(t, opt.Store)

	time.Sleep(2 * time.Minute)
	before = len(w.urls())
	opt.Scope.Exclude = regexp.MustCompile("//a")
	if r = crawl(t, opt); r.Refreshed.Asked == 0 || slices.ContainsFunc(w.urls()[before:], opt.Scope.Exclude.MatchString) {
		t.Errorf("%+v by asking for %v, want no excluded page", r.Refreshed, w.urls()[before:])
	}
}

func checkRefreshed(t *testing.T, s *store.Store) {
	t.Helper()
	l := life(t, s, "http://a.test/new")
	body, err := s.Body(l.Page.Number)
	if err != nil || !strings.Contains(string(body), "gold of today") || l.Page.Bytes != int64(len(body)) {
		t.Errorf("the changed page has %q, %v", body, err)
	}
	if v := l.Visits; len(v) != 2 || !v[1].Change.Changed() {
		t.Errorf("visits %+v: the second should tell of a change", v)
	}
	if l := life(t, s, "http://c.test/found"); l.FoundBy != "http://a.test/new" || l.Queued == nil {
		t.Errorf("a link of the changed page: %+v", l)
	}
	for url, state := range map[string]string{"http://b.test/gone": "code", "http://b.test/moved": "redirect"} {
		l := life(t, s, url)
		if l.Outcome.State != state || !l.Outcome.Stored || l.Page == nil || l.Page.URL != url || l.Outcome.Next == 0 {
			t.Errorf("%s: %+v, page %+v; want %s and the stored page", url, l.Outcome, l.Page, state)
		}
		if body, err := s.Body(l.Outcome.Page); err != nil || !strings.Contains(string(body), "gold that") {
			t.Errorf("%s: %q, %v", url, body, err)
		}
	}
	if l := life(t, s, "http://a.test/same"); l.Page.Checked <= l.Page.At || l.Page.ETag == "" && l.Visits[1].State == "not_modified" {
		t.Errorf("the unchanged page: %+v, %+v", l.Page, l.Visits)
	}
	if l := life(t, s, "http://b.test/fails"); l.Outcome.State != "ok" || len(l.Visits) != 2 || l.Page.Checked != 0 {
		t.Errorf("the page that failed: %+v, %+v", l.Outcome, l.Visits)
	}
}

// TestRefreshWithdraws: a page that now says noindex loses its content, not its record.
func TestRefreshWithdraws(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const url = "http://a.test/private"
		kept := "<title>gold</title><p>gold that its author takes back"
		w := &fakeWeb{pages: map[string]string{"http://a.test/": html("gold", url), url: kept}}
		opt := newOptions(t, w, "http://a.test/")
		later := time.Duration(0) // offset of the clock; sleeping would run the store's tickers
		opt.Now = func() time.Time { return time.Now().Add(later) }
		crawl(t, opt)
		opt.Seeds, opt.Refresh = nil, time.Minute
		w.pages[url] = `<meta name="robots" content="noindex">` + kept
		for range 2 { // the second visit finds it withdrawn
			later += 365 * 24 * time.Hour
			if r := crawl(t, opt); r.Refreshed.Gone != 1 || r.Counts.States["robots_denied"] != 1 || r.Counts.Pages != 2 {
				t.Errorf("%+v, %+v: want one page gone", r.Refreshed, r.Counts)
			}
			l := life(t, opt.Store, url)
			if p := l.Page; l.Outcome.State != "robots_denied" || p == nil || !p.Withdrawn || p.Title != "" || p.Signature != nil || !p.Relevant {
				t.Errorf("%+v, page %+v", l.Outcome, l.Page)
			}
			if body, err := opt.Store.Body(l.Page.Number); err != nil || len(body) != 0 {
				t.Errorf("its body is %q, %v", body, err)
			}
			checkVerified(t, opt.Store)
		}
		w.pages[url] = kept
		later += 365 * 24 * time.Hour
		if r := crawl(t, opt); r.Refreshed.Changed != 1 || r.Counts.States["ok"] != 2 {
			t.Errorf("%+v, %+v: want the page back", r.Refreshed, r.Counts)
		}
		l := life(t, opt.Store, url)
		if body, err := opt.Store.Body(l.Page.Number); err != nil || !strings.Contains(string(body), "takes back") || l.Page.Withdrawn {
			t.Errorf("%q, %v, %+v", body, err, l.Page)
		}
		checkVerified(t, opt.Store)
	})
}

// TestModified: which Last-Modified a visit records.
func TestModified(t *testing.T) {
	const was, later = "Tue, 14 Nov 2023 22:13:20 GMT", "Tue, 14 Nov 2023 22:15:00 GMT"
	for name, c := range map[string]struct {
		told string
		kind change.Kind
		want int64
	}{
		"as it was":                     {was, change.None, 0},
		"changed, and denied":           {was, change.Text, 1.7e9},
		"changed":                       {later, change.Text, 1.7e9 + 100},
		"touched":                       {later, change.None, 1.7e9 + 100},
		"of a clock ahead of ours":      {"Tue, 14 Nov 2033 22:13:20 GMT", change.Content, 1.8e9},
		"nothing":                       {"", change.Text, 0},
		"no date":                       {"yesterday", change.Text, 0},
		"the time before all computers": {"Thu, 01 Jan 1970 00:00:00 GMT", change.Text, 0},
	} {
		r := &fetch.Response{Start: time.Unix(1.8e9, 5), Header: http.Header{"Last-Modified": {c.told}}}
		if got := modified(&store.Page{Modified: was}, r, c.kind); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestJudge(t *testing.T) {
	old := &store.Page{Number: 7, Checksum: make([]byte, len(page.Checksum{})), Raw: make([]byte, len(page.Checksum{}))}
	same, other, asksNot := &page.Page{}, &page.Page{Checksum: page.Checksum{1}}, &page.Page{NoIndex: true}
	ok := &fetch.Response{State: fetch.StateOK}
	for name, c := range map[string]struct {
		answer answer
		want   revisitVerdict
		counts RefreshCounts
	}{
		"our network was down":      {answer{Response: ok, Excused: true, Passing: true}, verdictRetry, RefreshCounts{Asked: 1}},
		"the host fails":            {answer{Response: ok, Passing: true}, verdictFailed, RefreshCounts{Asked: 1, Failed: 1}},
		"304":                       {answer{Response: &fetch.Response{State: fetch.StateNotModified}}, verdictSame, RefreshCounts{Asked: 1, NotModified: 1}},
		"the same content":          {answer{Response: ok, Page: same, With: 7}, verdictSame, RefreshCounts{Asked: 1, NotModified: 1}},
		"the same, not to be kept":  {answer{Response: ok, Page: asksNot, With: 7}, verdictWithdrawn, RefreshCounts{Asked: 1, Gone: 1}},
		"other content":             {answer{Response: ok, Page: other}, verdictChanged, RefreshCounts{Asked: 1, Changed: 1}},
		"another language":          {answer{Response: ok, Page: other, Unwanted: true}, verdictUnwanted, RefreshCounts{Asked: 1, Gone: 1}},
		"the content of another":    {answer{Response: ok, Page: other, With: 9}, verdictRepeats, RefreshCounts{Asked: 1, Gone: 1}},
		"moved":                     {answer{Response: &fetch.Response{State: fetch.StateRedirect}}, verdictMoved, RefreshCounts{Asked: 1, Gone: 1}},
		"not there":                 {answer{Response: &fetch.Response{State: fetch.StateCode, Code: 404}}, verdictGone, RefreshCounts{Asked: 1, Gone: 1}},
		"no page but a film by now": {answer{Response: &fetch.Response{State: fetch.StateWrongType}}, verdictGone, RefreshCounts{Asked: 1, Gone: 1}},
	} {
		var s RefreshCounts
		if got := s.judge(old, c.answer); got != c.want || s != c.counts {
			t.Errorf("%s: verdict %d, %+v; want %d, %+v", name, got, s, c.want, c.counts)
		}
	}
}

// TestChecked: an answer without a version keeps the old one.
func TestChecked(t *testing.T) {
	at := time.UnixMilli(5000)
	old := store.Page{ETag: "a", Modified: "then"}
	p := checked(old, &fetch.Response{Start: at, Header: http.Header{"Etag": {"b"}}})
	if p.ETag != "b" || p.Modified != "then" || p.Checked != 5000 || old.ETag != "a" {
		t.Errorf("%+v", p)
	}
}

// TestNextVisitIsKept: the journal has an estimate for each ended URL.
func TestNextVisitIsKept(t *testing.T) {
	w := &fakeWeb{pages: map[string]string{
		"http://a.test/robots.txt": "User-agent: *\nDisallow: /no\n",
		"http://a.test/":           html("gold", "/gone", "/no", "http://b.test/", "/moved"),
		"http://a.test/moved":      "→http://a.test/",
	}, fail: map[string][]fetch.Response{"http://a.test/gone": {{State: fetch.StateCode, Code: 410}}}}
	opt := newOptions(t, w, "http://a.test/")
	crawl(t, opt)
	for url, want := range map[string]time.Duration{
		"http://a.test/": interval(0), "http://a.test/gone": 0, "http://a.test/no": Day,
		"http://b.test/": 30 * Day, "http://a.test/moved": 30 * Day,
	} {
		f := life(t, opt.Store, url).Outcome
		got := time.Duration(0)
		if f.Next != 0 {
			got = time.UnixMilli(f.Next).Sub(time.UnixMilli(f.At))
		}
		if (got - want).Abs() > time.Minute {
			t.Errorf("%s, %s: next visit after %v, want %v", url, f.State, got, want)
		}
	}
}

func TestAfterAnswer(t *testing.T) {
	days := func(n float64) time.Duration { return time.Duration(n * float64(Day)) }
	for _, tc := range []struct {
		r     fetch.Response
		depth int
		want  time.Duration
	}{
		{fetch.Response{State: fetch.StateOK}, 0, days(7.66)},
		{fetch.Response{State: fetch.StateOK}, 9, days(3.77)},
		{fetch.Response{State: fetch.StateOK}, 90, days(3.77)},
		{fetch.Response{State: fetch.StateRedirect, Code: 302}, 0, days(7.66)},
		{fetch.Response{State: fetch.StateRedirect, Code: 301}, 0, days(30)},
		{fetch.Response{State: fetch.StateCode, Code: 404}, 3, days(30)},
		{fetch.Response{State: fetch.StateCode, Code: 410}, 3, 0},
		{fetch.Response{State: fetch.StateCode, Code: 500}, 3, days(1)},
		{fetch.Response{State: fetch.StateCode, Code: 503, RetryAfter: days(9)}, 3, days(9)},
		{fetch.Response{State: fetch.StateConnectTimeout}, 1, days(2)},
		{fetch.Response{State: fetch.StateNoIP}, 1, days(2)},
		{fetch.Response{State: fetch.StateNoIP, Err: fmt.Errorf("a: %w", fetch.ErrNoSuchHost)}, 1, days(30)},
		{fetch.Response{State: fetch.StateGuardDenied}, 1, 0},
		{fetch.Response{State: fetch.StateTooLarge}, 1, days(30)},
	} {
		if got := revisitAfterAnswer(&tc.r, tc.depth); (got - tc.want).Abs() > time.Second {
			t.Errorf("%s %d at depth %d: after %v, want %v", tc.r.State, tc.r.Code, tc.depth, got, tc.want)
		}
	}
}
