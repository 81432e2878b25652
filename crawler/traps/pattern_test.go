package traps

import (
	"fmt"
	"strings"
	"testing"
)

func TestPatternOf(t *testing.T) {
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
		if got := patternOf(url); got != want {
			t.Errorf("%s: pattern %s, want %s", url, got, want)
		}
	}
}

func TestCircular(t *testing.T) {
	for url, trap := range map[string]bool{
		"http://a.test/a/b/c/d/e/f/g/":                              false,
		"http://a.test/2011/11/11/11/11/":                           false, // a date and a number
		"http://a.test/en/docs/en/docs/en/":                         false,
		"http://a.test/en/docs/en/docs/en/docs/en/":                 true,
		"http://a.test/a/a/a/a":                                     true,
		"http://a.test/x?u=/a/a/a/a/a/a/a":                          false,
		"http://a.test////////":                                     false,
		"http://a.test/" + strings.Repeat("x/y1/", 2):               false,
		"http://a.test" + strings.Repeat("/q", 3) + "/z":            false,
		"http://a.test/0/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17": false,
		"http://a.test/" + numbered(40):                             true,
	} {
		if got := Circular(url); (got != "") != trap {
			t.Errorf("%s: circular %q, want %v", url, got, trap)
		}
	}
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d/", i)
	}
	return b.String()
}
