package crawler

import (
	"slices"
	"testing"

	"fossick/internal/page"
)

// TestOneNormalFormForACrawl: links, redirects and seeds go by the crawl's own
// list of parameters, in every session.
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
