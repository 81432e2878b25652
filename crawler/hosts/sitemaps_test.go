package hosts

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"fossick/crawler/fetch"
	"fossick/internal/page"
)

func rules() *SitemapRules {
	r := NewSitemapRules(true, 100, page.NewNormalizer(page.DefaultDrop()))
	return &r
}

// TestTurns: three sitemaps come before the first page, then pages and sitemaps take turns.
func TestTurns(t *testing.T) {
	r, h := rules(), &sitemapState{}
	var lines []string
	for n := range 6 {
		lines = append(lines, fmt.Sprintf("/map%d.xml", n))
	}
	r.Named(h, append(lines, "/map0.xml"), "http://a.test/page", 0.5)
	var order []string
	for len(order) < 12 {
		if !h.Due() {
			order = append(order, "page")
			h.PageAsked()
			continue
		}
		url, ok := h.Next()
		if !ok {
			t.Fatal("a sitemap is due and there is none")
		}
		order = append(order, strings.TrimPrefix(url, "http://a.test/"))
		if r.Begin(h); h.Due() {
			t.Error("due while one is in flight")
		}
		r.End(h, h, SitemapEnd{State: fetch.StateOK})
	}
	want := "map0.xml map1.xml map2.xml page map3.xml page map4.xml page map5.xml page page page"
	if got := strings.Join(order, " "); got != want {
		t.Errorf("order %s\nwant  %s", got, want)
	}
}

// TestEnd: what remains to be read after a sitemap fails, moves or names others.
func TestEnd(t *testing.T) {
	for name, c := range map[string]struct {
		ends []SitemapEnd
		want []string // pending
	}{
		"fails once":       {[]SitemapEnd{{State: fetch.StateCode, Passing: true}}, []string{"http://a.test/m"}},
		"fails twice":      {[]SitemapEnd{{State: fetch.StateCode, Passing: true}, {State: fetch.StateCode, Passing: true}}, nil},
		"is not there":     {[]SitemapEnd{{State: fetch.StateCode}}, nil},
		"moved":            {[]SitemapEnd{{State: fetch.StateRedirect, Target: "http://b.test/m"}}, []string{"http://b.test/m"}},
		"moved to itself":  {[]SitemapEnd{{State: fetch.StateRedirect, Target: "http://a.test/m"}}, nil},
		"moved to nowhere": {[]SitemapEnd{{State: fetch.StateRedirect}}, nil},
		"names two":        {[]SitemapEnd{{State: fetch.StateOK, Maps: []string{"http://a.test/1", "http://a.test/m", "http://a.test/2"}}}, []string{"http://a.test/1", "http://a.test/2"}},
	} {
		r, h := rules(), &sitemapState{}
		r.Named(h, []string{"/m"}, "http://a.test/", 1)
		for _, e := range c.ends {
			r.Begin(h)
			r.End(h, h, e)
		}
		var pending []string
		for _, f := range h.Record.Pending {
			pending = append(pending, f.URL)
		}
		if !slices.Equal(pending, c.want) {
			t.Errorf("%s: %v to be read, want %v", name, pending, c.want)
		}
	}
}

// TestWait: a sitemap at a busy host makes room for the next, and in the end for pages.
func TestWait(t *testing.T) {
	r, h := rules(), &sitemapState{}
	r.Named(h, []string{"http://b.test/1", "http://c.test/2"}, "http://a.test/", 1)
	for range maxWaits + 1 {
		h.Wait()
	}
	if url, _ := h.Next(); url != "http://c.test/2" || !h.Due() {
		t.Errorf("%s is next, due %v; want the other one", url, h.Due())
	}
	for range maxWaits + 1 {
		h.Wait()
	}
	if h.Due() {
		t.Error("pages still wait, for sitemaps that cannot be had")
	}
}

func TestRenamed(t *testing.T) {
	r, h := rules(), &sitemapState{}
	r.Named(h, nil, "http://a.test/", 1)
	if h.Renamed(); h.Record != nil {
		t.Error("what an error page named holds for ever")
	}
	r.Named(h, []string{"/m"}, "http://a.test/", 1)
	r.Begin(h)
	if h.Renamed(); h.Record == nil {
		t.Error("a sitemap in flight has no owner any more")
	}
}
