package crawler

import (
	"net/http"
	"testing"

	"fossick/internal/page"
)

// TestRobotsTagLines: each X-Robots-Tag counts, wherever it stands.
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
