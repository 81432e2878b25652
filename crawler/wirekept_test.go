package crawler

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler/fetch"
	"fossick/internal/testkit"
	"fossick/store"
)

// toldWeb adds a header to each answer that identifies it.
type toldWeb struct {
	*agingWeb
	n int
}

func (w *toldWeb) Fetch(ctx context.Context, req fetch.Request) *fetch.Response {
	r := w.agingWeb.Fetch(ctx, req)
	w.n++
	r.Wire = &fetch.Wire{Protocol: "http/1.1", Request: []byte("GET / HTTP/1.1\r\n"), Response: fmt.Appendf(nil, "HTTP/1.1 %d\r\nN: %d\r\n", r.Code, w.n)}
	return r
}

// TestWireIsKept: the journal keeps the headers of answers that gave, repeated or confirmed a
// page or redirected, and no others.
func TestWireIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		aged, opt := &agingWeb{&fakeWeb{pages: map[string]string{
			"http://a.test/": html("gold", "http://a.test/same", "http://a.test/copy", "http://a.test/new", "http://a.test/moved",
				"http://a.test/gone", "http://a.test/no", "http://a.test/goes"),
			"http://a.test/same": html("gold that stays"), "http://a.test/new": html("gold of old"), "http://a.test/goes": html("gold that goes"),
			"http://a.test/moved": "→http://a.test/same",
			"http://a.test/no":    "<meta name=robots content=noindex>" + html("not for you"),
		}}, false}, Options{}
		aged.pages["http://a.test/copy"] = strings.Replace(aged.pages["http://a.test/same"], "<p>", "<p >", 1)
		opt = newOptions(t, aged.fakeWeb, "http://a.test/")
		opt.Fetcher = &toldWeb{agingWeb: aged}
		crawl(t, opt)
		check := func(want map[string]string) {
			t.Helper()
			for url := range aged.pages {
				l := testkit.Call(opt.Store.URLs().Life(url)).Must(t)
				all := testkit.Call(opt.Store.URLs().Exchanged(l.ID)).Must(t)
				var got []string
				for _, x := range all {
					got = append(got, fmt.Sprint(x.Visit, " ", x.Kind, " ", string(x.Response[9:12])))
					if x.Start != l.Visits[x.Visit-1].Start || (x.Kind == store.WireRepeat) != (x.Digest != [20]byte{}) {
						t.Errorf("%s: %+v", url, x)
					}
				}
				if strings.Join(got, ", ") != want[url] {
					t.Errorf("%s: %q, want %q", url, strings.Join(got, ", "), want[url])
				}
			}
		}
		want := map[string]string{"http://a.test/": "1 1 200", "http://a.test/same": "1 1 200", "http://a.test/new": "1 1 200",
			"http://a.test/goes": "1 1 200", "http://a.test/copy": "1 3 200", "http://a.test/moved": "1 4 301"}
		check(want)
		time.Sleep(time.Hour)
		opt.Refresh, opt.Seeds = time.Minute, nil
		aged.pages["http://a.test/new"] = html("gold of today")
		aged.pages["http://a.test/goes"] = "<meta name=robots content=noindex>" + html("gold that goes")
		crawl(t, opt)
		want["http://a.test/"], want["http://a.test/same"] = "1 1 200, 2 2 304", "1 1 200, 2 2 304"
		want["http://a.test/new"], want["http://a.test/goes"] = "2 1 200", ""
		check(want)
		time.Sleep(time.Hour)
		aged.blind = true
		delete(aged.pages, "http://a.test/goes")
		crawl(t, opt)
		want["http://a.test/"] += ", 3 3 200"
		want["http://a.test/same"] += ", 3 3 200"
		want["http://a.test/new"] += ", 3 3 200"
		check(want)
		checkVerified(t, opt.Store)
		var elsewhere []string
		for e := range testkit.All(t, opt.Store.URLs().Elsewhere()) {
			discovery := testkit.Call(opt.Store.URLs().Discovery(e.ID)).Must(t)
			elsewhere = append(elsewhere, discovery.URL)
		}
		slices.Sort(elsewhere)
		if got := strings.Join(elsewhere, " "); got != "http://a.test/ http://a.test/copy http://a.test/moved http://a.test/new http://a.test/same" {
			t.Errorf("elsewhere: %s", got)
		}
	})
}
