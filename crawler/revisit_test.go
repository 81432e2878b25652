package crawler

import (
	"testing"
	"time"

	"fossick/crawler/fetch"
)

// TestNextVisitIsKept: each URL that ended has its estimate in the journal.
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
		f := life(t, opt.Store, url).Fate
		got := time.Duration(0)
		if f.Next != 0 {
			got = time.UnixMilli(f.Next).Sub(time.UnixMilli(f.At))
		}
		if (got - want).Abs() > time.Minute {
			t.Errorf("%s, %s: next visit after %v, want %v", url, f.State, got, want)
		}
	}
}
