package page

import (
	"slices"
	"strings"
	"testing"
)

func TestPattern(t *testing.T) {
	for url, want := range map[string]string{
		"http://a.test":              "/",
		"http://a.test/":             "/",
		"http://a.test/about.html":   "/*.html",
		"http://a.test/wiki/Ireland": "/wiki/*",
		"http://a.test/events/2026/list.html?month=5&view=day":    "/events/0/*.html?month&view",
		"http://a.test/events/2025/list.html?view=week&month=12":  "/events/0/*.html?month&view",
		"http://a.test/x?sid=00ab12&page=3":                       "/*?page&sid",
		"http://a.test/deep/4/5/6/":                               "/deep/0/",
		"http://a.test/deep/4/":                                   "/deep/0/",
		"http://a.test/s/9f86d081884c7d65/view":                   "/s/0/*",
		"http://a.test/pix/josh12/a.jpg":                          "/pix/josh0/*.jpg",
		"http://a.test/?a":                                        "/?a",
		"http://a.test/a//b/":                                     "/a//b/",
		"http://a.test/release-notes.d/":                          "/release-notes.d/",
		"http://a.test/q?" + strings.Repeat("x1=1&", 3) + "x22=3": "/*?x0",
	} {
		if got := Pattern(url); got != want {
			t.Errorf("%s: pattern %s, want %s", url, got, want)
		}
	}
}

func TestWiderPattern(t *testing.T) {
	for pattern, want := range map[string][]string{
		"/events/0/*.html?month&view": {"/events/0/*.html?", "/events/"},
		"/wiki/*":                     {"/wiki/"},
		"/wiki/":                      nil,
		"/*?page&sid":                 {"/*?"},
		"/?a":                         {"/?"},
		"/*":                          nil,
		"/":                           nil,
		"":                            nil,
		"//":                          nil,
		"/a//b/":                      {"/a/"},
	} {
		var got []string
		for p := WiderPattern(pattern); p != ""; p = WiderPattern(p) {
			got = append(got, p)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q is part of %q, want %q", pattern, got, want)
		}
	}
}

// FuzzPattern: whatever the URL, its wider patterns get shorter and end.
func FuzzPattern(f *testing.F) {
	for _, url := range []string{"http://a.test/events/2026/list.html?month=5&view=day", "http://a.test//?", "a?b/c", "://"} {
		f.Add(url)
	}
	f.Fuzz(func(t *testing.T, url string) {
		for p := Pattern(url); p != ""; {
			wider := WiderPattern(p)
			if len(wider) >= len(p) {
				t.Fatalf("%q: %q is wider than %q", url, wider, p)
			}
			p = wider
		}
	})
}
