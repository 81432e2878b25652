package crawler

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler/fetch"
	"fossick/internal/page"
	"fossick/internal/testkit"
)

// TestPageTooCostly: a page beyond the time budget affects no other. Each reading adds 200 ms.
func TestPageTooCostly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWeb{pages: map[string]string{
			"http://a.test/": html("gold"+strings.Repeat("<br>", 2000), "http://a.test/1"),
			"http://b.test/": html("gold of another kind", "http://b.test/1"),
		}}
		opt := newOptions(t, w, "http://a.test/", "http://b.test/")
		var reads atomic.Int64
		began := time.Now()
		opt.Now = func() time.Time { return began.Add(time.Duration(reads.Add(1)) * 200 * time.Millisecond) }
		crawl(t, opt)
		l := life(t, opt.Store, "http://a.test/")
		if l.Outcome == nil || l.Outcome.State != string(fetch.StateTooLarge) || !strings.Contains(l.Outcome.Reason, "page_too_costly") {
			t.Errorf("the costly page ended as %+v, want too_large and page_too_costly", l.Outcome)
		}
		if l := life(t, opt.Store, "http://b.test/"); l.Outcome == nil || l.Outcome.State != string(fetch.StateOK) {
			t.Errorf("the other ended as %+v, want ok", l.Outcome)
		}
	})
}

// slowScorer takes a minute for each page.
type slowScorer struct {
	wordScorer
	pages *atomic.Int32
}

func (s slowScorer) ScorePage(p *page.Page, parent float64) Score {
	s.pages.Add(1)
	time.Sleep(time.Minute)
	return s.wordScorer.ScorePage(p, parent)
}

// TestEndWithinPages: after an interrupt or --max-time, slow pages wait for the next session.
func TestEndWithinPages(t *testing.T) {
	for name, want := range map[string]Stop{"interrupt": StopInterrupted, "max-time": StopNothing} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &fakeWeb{pages: map[string]string{}}
				var seeds []string
				for i := range 8 * runtime.GOMAXPROCS(0) {
					u := fmt.Sprintf("http://h%d.test/", i)
					seeds, w.pages[u] = append(seeds, u), html(fmt.Sprint("gold ", i))
				}
				opt := newOptions(t, w, seeds...)
				opt.Workers = len(seeds)
				scored := new(atomic.Int32)
				opt.Scorer = slowScorer{wordScorer{0.3}, scored}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if name == "max-time" {
					opt.MaxTime = time.Second
				} else {
					time.AfterFunc(time.Second, cancel)
				}
				c, err := New(opt)
				if err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				r, err := c.Run(ctx)
				if err != nil || r.Stopped != want || r.Counts.Pages != 0 || r.Counts.States[string(fetch.StateOK)] != 0 {
					t.Errorf("%+v %v, want no page, stopped by %s", r, err, want)
				}
				// A scorer finishes the page it has begun; no other begins.
				if n := int(scored.Load()); n > runtime.GOMAXPROCS(0) || time.Since(start) > 61*time.Second {
					t.Errorf("%d pages scored, %v in all; want one a core", n, time.Since(start))
				}
				if l := life(t, opt.Store, seeds[0]); l.Outcome != nil || l.Queued == nil {
					t.Errorf("a page broken off: %+v, want it queued", l)
				}
			})
		})
	}
}

const (
	inEnglish = "This is what the reader of the page has to know about gold: that it was found by people who are not in a hurry."
	inGerman  = "Das ist die Seite über das gold, und sie ist von den Leuten, die mit der Arbeit im Berg nicht zu schnell sind."
	inFrench  = "Le gold est sur la table et il ne veut pas que les autres soient avec lui dans cette maison qui est à nous."
)

func TestLanguagesOfACrawl(t *testing.T) {
	w := &fakeWeb{pages: map[string]string{
		"http://a.test/": html(inEnglish, "/fr", "/de", "/short") +
			`<a href="/es" hreflang="es">español</a> <a href="/en2" hreflang="en-GB">more</a>`,
		"http://a.test/fr": html(inFrench, "/fr2", "/both") + `<a hreflang=en href="/en">in English</a>` +
			`<link rel=alternate hreflang="de-AT" href="/de2"><link rel=alternate hreflang=it href="/it">`,
		"http://a.test/de":    html(inGerman, "/de3"),
		"http://a.test/short": html("gold 5", "/both"),
		"http://a.test/both":  html(inEnglish + " And both pages link here."),
		"http://a.test/en":    html(inEnglish + " In other words."),
		"http://a.test/en2":   html(inEnglish + " And more."),
		"http://a.test/de2":   html(inGerman + " Und mehr."),
		"http://a.test/de3":   html(inGerman + " Und noch mehr."),
		"http://b.test/":      html(inFrench, "/en"),
		"http://b.test/en":    html(inEnglish + " From a French start page."),
	}}
	opt := newOptions(t, w, "http://a.test/", "http://b.test/")
	opt.Scope.Langs = []string{"en", "de"}
	r := crawl(t, opt)
	asked := w.urls()
	slices.Sort(asked)
	want := strings.Fields("http://a.test/ http://a.test/both http://a.test/de http://a.test/de2 http://a.test/de3 http://a.test/en " +
		"http://a.test/en2 http://a.test/fr http://a.test/short http://b.test/ http://b.test/en")
	if !slices.Equal(asked, want) {
		t.Errorf("asked for\n%q\nwant\n%q", asked, want)
	}
	if r.Counts.Pages != 9 || r.Counts.States["wrong_type"] != 2 || r.Counts.States["ok"] != 9 {
		t.Errorf("%d pages, states %v; want 9 pages, 2 of another language", r.Counts.Pages, r.Counts.States)
	}
	for url, why := range map[string]string{
		"http://a.test/fr":  "the page's language is fr, not one of en, de: the page is not kept",
		"http://a.test/fr2": "the language of the page that links here is fr, not one of en, de",
		"http://a.test/es":  "the link says hreflang es, not one of en, de",
		"http://a.test/it":  "the link says hreflang it, not one of en, de",
		"http://b.test/":    "the page's language is fr",
	} {
		if l := life(t, opt.Store, url); l.Outcome == nil || l.Page != nil || !strings.HasPrefix(l.Outcome.Reason, why) {
			t.Errorf("%s: outcome %+v, want the reason %q and no page", url, l.Outcome, why)
		}
	}
	// The translation takes the French page's place in the queue.
	if f := life(t, opt.Store, "http://a.test/de2").Outcome; f.Score != life(t, opt.Store, "http://a.test/fr").Outcome.Score {
		t.Errorf("the translation left the queue with %g", f.Score)
	}
}

// TestLatest: only the last pages are remembered, and no short ones.
func TestLatest(t *testing.T) {
	l := latest{room: rememberPages * 2}
	for n := uint64(1); n <= 30; n++ {
		l.add(n, &page.Page{Signature: page.Signature{byte(n)}})
		l.add(100+n, &page.Page{})
	}
	var numbers []uint64
	for _, r := range l.pages {
		numbers = append(numbers, r.number)
	}
	slices.Sort(numbers)
	if want := []uint64{23, 24, 25, 26, 27, 28, 29, 30}; !slices.Equal(numbers, want) {
		t.Errorf("remembered %v, want %v", numbers, want)
	}
}

// TestBudget: reading time counts, time while the process was stopped hardly, and ctx ends the
// reading.
func TestBudget(t *testing.T) {
	now := time.Unix(0, 0)
	ctx, cancel := context.WithCancel(t.Context())
	spent := budget(ctx, func() time.Time { return now })
	after := func(d time.Duration) error {
		now = now.Add(d)
		return spent()
	}
	if err := after(time.Hour); err != nil { // counts as readTimeStep
		t.Fatalf("an hour away: %v", err)
	}
	for left := readTimeLimit - readTimeStep; left > 0; left -= time.Millisecond {
		if err := after(time.Millisecond); err != nil {
			t.Fatalf("%v before the end: %v", left, err)
		}
	}
	if err := after(time.Millisecond); !errors.Is(err, errTooCostly) {
		t.Errorf("beyond the budget: %v", err)
	}
	cancel()
	if err := after(0); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestWantsLang(t *testing.T) {
	for _, c := range []struct {
		langs, code string
		want        bool
	}{
		{"", "fr", true}, {"en", "", true}, {"en", "en", true}, {"en", "fr", false}, {"no", "nb", true}, {"nn", "no", true},
		{"no", "da", false}, {"he", "iw", true}, {"in", "id", true}, {"en,ji", "yi", true},
	} {
		s := Scope{Langs: strings.FieldsFunc(c.langs, func(r rune) bool { return r == ',' })}
		if got := s.wantsLang(c.code); got != c.want {
			t.Errorf("--lang %s: a page in %q is wanted: %v", c.langs, c.code, got)
		}
		if why := s.foreign(&page.Page{Lang: c.code}); (why == "") != c.want {
			t.Errorf("--lang %s: a page in %q: %q", c.langs, c.code, why)
		}
	}
}

// TestRedirectTarget: a Location is resolved as in browsers, relative to the requested URL.
func TestRedirectTarget(t *testing.T) {
	urls := page.NewNormalizer(nil)
	for _, test := range []struct{ location, want string }{
		{"/b", "http://a.test/b"},
		{"b?x#y", "http://a.test/dir/b?x"},
		{"//b.test", "http://b.test/"},
		{" /a\tb c ", "http://a.test/ab%20c"},
		{"/100%_off", "http://a.test/100%25_off"},
		{`\\127.0.0.1:22\x`, "http://127.0.0.1:22/x"},
		{`/\b.test/x`, "http://b.test/x"},
		{"///b.test/x", "http://b.test/x"},
		{"http:b", "http://a.test/dir/b"},
		{"https:b", "https://b/"},
		{"http://%62.test/", "http://b.test/"},
		{"?x", "http://a.test/dir/page?x"},
		{"http://[bad/", ""},
		{"javascript:alert(1)", ""},
		{"http://a.test:65536/", ""},
	} {
		got, err := redirectTarget(urls, &fetch.Response{URL: "http://a.test/dir/page", Header: http.Header{"Location": {test.location}}})
		if got != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%q leads to %q, %v; want %q", test.location, got, err, test.want)
		}
	}
}

// TestPartyScope: leaving a party differs from being too deep in it or excluded.
func TestPartyScope(t *testing.T) {
	site := Scope{Links: LinksSite, Parties: true, MaxDepth: 2, Exclude: regexp.MustCompile("/no/")}
	host := site
	host.Links = LinksHost
	plain := site
	plain.Parties = false
	for _, tt := range []struct {
		name, to string
		scope    Scope
		link     page.Link
		depth    int
		want     string // prefix of the reason
		off      bool   // it is a candidate seed
	}{
		{"inside", "http://www.a.test/2", site, page.Link{}, 1, "", false},
		{"another host of the site", "https://b.a.test:8080/", site, page.Link{}, 1, "", false},
		{"too deep", "http://www.a.test/2", site, page.Link{}, 3, "deeper than 2 links", false},
		{"another site", "http://b.test/", site, page.Link{}, 1, "other site", true},
		{"another site, too deep", "http://b.test/", site, page.Link{}, 3, "other site", true},
		{"without parties", "http://b.test/", plain, page.Link{}, 3, "deeper than 2 links", false},
		{"excluded", "http://b.test/no/", site, page.Link{}, 3, "excluded by /no/", false},
		{"not to be followed", "http://b.test/", site, page.Link{NoFollow: true}, 1, "the link says rel=nofollow", false},
		{"the host by https", "https://www.a.test/2", host, page.Link{}, 1, "", false},
		{"another host", "http://b.a.test/", host, page.Link{}, 1, "other host", true},
		{"another port", "http://www.a.test:8080/", host, page.Link{}, 1, "other host", true},
	} {
		tt.link.URL = tt.to
		got := tt.scope.skipLink(&page.Page{URL: "http://www.a.test/"}, &tt.link, tt.depth)
		if len(got) < len(tt.want) || got[:len(tt.want)] != tt.want || (got == "") != (tt.want == "") || OffParty(got) != tt.off {
			t.Errorf("%s: %q, a candidate %v; want %q, %v", tt.name, got, OffParty(got), tt.want, tt.off)
		}
	}
}

// FuzzNormalFormOnTheWire: the server receives exactly page's normal form, to which robots.txt
// was applied. Two letters that browsers leave in paths but RFC 3986 forbids are sent escaped.
func FuzzNormalFormOnTheWire(f *testing.F) {
	for _, s := range []string{
		"http://example.com/a/../b?c=d#e", "HTTP:\\\\Bücher.example:80/%7e%zz", "http://a.b/é?q=a|b&c='d'\"<>`{}[]^", "http://a.b",
		"http://a.b:8080/%2e%2E/x;p=1//y/", "http://a.b/?%zz&%&=&a", "http://a_b.c/\\x\ty", "http://a.b/x%2Fy^z|?^|", "http://8.8.8.8/", "http://[2606:4700::1]:81/*!'()~",
	} {
		f.Add(s)
	}
	asked := make(chan string, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.RequestURI
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<p>x")
	}))
	f.Cleanup(srv.Close)
	proxy := testkit.Call(url.Parse(srv.URL)).Must(f)
	fetcher := testkit.Call(fetch.New(fetch.Options{Proxy: proxy})).Must(f)
	f.Cleanup(fetcher.Close)
	// Colly's parser refuses a host label that begins with more digits than 64 bits hold.
	longNumber := regexp.MustCompile(`^http://[^/]*[0-9]{18,}`)
	f.Fuzz(func(t *testing.T, raw string) {
		normal, err := page.Normalize(raw)
		if err != nil || !strings.HasPrefix(normal, "http:") { // with https a proxy sees only the host
			return
		}
		if longNumber.MatchString(normal) {
			return
		}
		resp := fetcher.Fetch(t.Context(), fetch.Request{URL: normal})
		if resp.State == fetch.StateGuardDenied {
			return
		}
		if resp.State != fetch.StateOK {
			t.Fatalf("%q, of %q: %s, %v", normal, raw, resp.State, resp.Err)
		}
		path, _, _ := strings.Cut(normal, "?")
		want := strings.NewReplacer("^", "%5E", "|", "%7C").Replace(path) + strings.TrimPrefix(normal, path)
		if got := <-asked; got != want {
			t.Fatalf("asked for %q, want %q", got, want)
		}
	})
}

// shell is a page made by scripts, with links in its <noscript>.
func shell(links ...string) string {
	s := `<html><title>gold</title><body><div id="root"></div><script src="/app.js"></script><noscript>Enable JavaScript`
	for _, l := range links {
		s += fmt.Sprintf(` <a href="%s">gold</a>`, l)
	}
	return s + "</noscript>"
}

// withShells makes page /5 of each host a shell with fewer links.
func withShells(web map[string]string, hosts int) map[string]string {
	for h := range hosts {
		web[fmt.Sprintf("http://h%d.test/5", h)] = shell("/6", fmt.Sprintf("http://h%d.test/5", (h+1)%hosts))
	}
	return web
}

// TestShells: a page made by scripts is not stored, but its links are followed.
func TestShells(t *testing.T) {
	w := &fakeWeb{pages: map[string]string{
		"http://a.test/":       html("gold", "/shell", "/same"),
		"http://a.test/shell":  shell("/behind"),
		"http://a.test/same":   shell("/behind"),
		"http://a.test/behind": html("gold again"),
	}}
	opt := newOptions(t, w, "http://a.test/")
	for _, pages := range []uint64{1, 2, 9} { // sessions
		opt.MaxPages = pages
		crawl(t, opt)
	}
	n, err := opt.Store.Counts()
	if err != nil || n.Pages != 2 || n.Relevant != 2 || n.States["script_only"] != 2 || n.States["ok"] != 2 || len(w.urls()) != 4 {
		t.Errorf("%+v, %v, asked for %q; want 2 pages and 2 made by script", n, err, w.urls())
	}
	for _, url := range []string{"http://a.test/shell", "http://a.test/same"} {
		l := life(t, opt.Store, url)
		if l.Outcome == nil || l.Page != nil || l.Outcome.Next == 0 || !strings.HasPrefix(l.Outcome.Reason, "scripts make this page") || l.Visits[0].State != "ok" {
			t.Errorf("%s: outcome %+v, page %v, visits %+v", url, l.Outcome, l.Page, l.Visits)
		}
	}
	if l := life(t, opt.Store, "http://a.test/behind"); l.FoundBy == "http://a.test/" || l.Page == nil {
		t.Errorf("the page behind was found by %q", l.FoundBy)
	}
}

// withData is a shell whose script has a text and a link.
func withData(text, link string) string {
	return fmt.Sprintf(`<html><title>gold</title><body><div id="root"></div><script src="/app.js"></script><script id="__NEXT_DATA__" type="application/json">{"title":"%s","url":%q,"body":%q}</script>`,
		text, link, strings.Repeat("Of "+text+" there is a lot. ", 9))
}

// TestIslands: a shell with data is stored like a page, and its story says so, also after a revisit.
func TestIslands(t *testing.T) {
	const url = "http://a.test/data"
	w := &agingWeb{fakeWeb: &fakeWeb{pages: map[string]string{"http://a.test/": html("gold", "/data"), url: withData("gold dust", "/behind"), "http://a.test/behind": html("gold again")}}}
	opt := newOptions(t, w.fakeWeb, "http://a.test/")
	opt.Fetcher = w
	says := func(visits int) {
		t.Helper()
		l := life(t, opt.Store, url)
		if l.Page == nil || l.Outcome.State != "ok" || len(l.Visits) != visits || !strings.Contains(l.Outcome.Reason, "the text is from data on the page (__NEXT_DATA__)") {
			t.Errorf("page %v, outcome %+v, visits %+v", l.Page, l.Outcome, l.Visits)
		}
	}
	crawl(t, opt)
	says(1)
	if l := life(t, opt.Store, "http://a.test/behind"); l.Page == nil || life(t, opt.Store, "http://a.test/").Outcome.Reason != "" {
		t.Error("the link in the data was not followed, or a page without data has a reason")
	}
	opt.Refresh = time.Minute
	for week, text := range []string{"gold dust", "gold leaf"} {
		w.pages[url] = withData(text, "/behind")
		opt.Now = func() time.Time { return time.Now().Add(time.Duration(week+1) * 8 * 24 * time.Hour) }
		crawl(t, opt)
		says(week + 2)
	}
}

// TestAlternatives: only a page that says nothing is read in another form, and only in one.
func TestAlternatives(t *testing.T) {
	const alternatives = `<link rel=amphtml href="%[1]s.amp"><link rel=alternate media=print href="%[1]s.print"><link rel=alternate type=text/markdown href="%[1]s.md"><link rel=alternate type=application/rss+xml href="%[1]s.rss">`
	w := &fakeWeb{pages: map[string]string{
		"http://a.test/":         html("gold", "/shell", "/readable"),
		"http://a.test/shell":    fmt.Sprintf(alternatives, "/shell") + shell(),
		"http://a.test/readable": fmt.Sprintf(alternatives, "/readable") + html(strings.Repeat("gold is where you find it ", 9)),
		"http://a.test/shell.md": "# gold\n\nThere is gold in the hills.", "http://a.test/shell.rss": "<rss><channel><title>gold</title></channel></rss>",
	}}
	opt := newOptions(t, w, "http://a.test/")
	crawl(t, opt)
	asked := w.urls()
	slices.Sort(asked)
	if want := []string{"http://a.test/", "http://a.test/readable", "http://a.test/shell", "http://a.test/shell.md", "http://a.test/shell.rss"}; !slices.Equal(asked, want) {
		t.Errorf("asked for %q, want %q", asked, want)
	}
	if l := life(t, opt.Store, "http://a.test/shell.md"); l.Page == nil {
		t.Errorf("the alternative is not stored: %+v", l.Outcome)
	}
}

// TestShellOfAStoredPage: a stored page that becomes a shell stays as stored.
func TestShellOfAStoredPage(t *testing.T) {
	w := &fakeWeb{pages: map[string]string{"http://a.test/": html("gold")}}
	opt := newOptions(t, w, "http://a.test/")
	crawl(t, opt)
	opt.Refresh = time.Minute
	for week, page := range []string{shell(), html("gold again")} {
		w.pages["http://a.test/"] = page
		opt.Now = func() time.Time { return time.Now().Add(time.Duration(week+1) * 8 * 24 * time.Hour) }
		crawl(t, opt)
		l, state, title := life(t, opt.Store, "http://a.test/"), []string{"script_only", "ok"}[week], []string{"gold", "gold again"}[week]
		if l.Outcome.State != state || l.Page == nil || l.Page.Title != title {
			t.Errorf("outcome %+v, page %+v; want %s and %q", l.Outcome, l.Page, state, title)
		}
	}
}

// TestShellsOfAgents: several agents end the same URLs in the same way as one.
func TestShellsOfAgents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hosts, pages = 6, 8
		w := &fakeWeb{pages: withShells(manyPages(hosts, pages), hosts)}
		x := newTeam(t, w, 3, hosts, "http://h0.test/0")
		x.settle()
		urls := slices.Concat(x.finish()...)
		if n := x.counts(); n.States["script_only"] != hosts || n.Pages != hosts*(pages-1) || uint64(len(urls)) != n.Pages {
			t.Errorf("%d pages, states %v; want %d made by script", n.Pages, n.States, hosts)
		}
	})
}
