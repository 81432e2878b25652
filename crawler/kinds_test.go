package crawler

import (
	"slices"
	"sync/atomic"
	"testing"

	"fossick/graph/orders"
)

// TestLinkKinds crawls a web in which b's own links only discover, as b has no
// start page (paper B): the link from 1 to 3 lifts 3 where b has one alone.
func TestLinkKinds(t *testing.T) {
	pages := map[string]string{
		"http://a.test/":  `<a href="http://b.test/">b</a><a href="http://c.test/">c</a>`,
		"http://b.test/":  `<a href="/1">1</a><a href="/2">2</a><a href="/3">3</a>`,
		"http://b.test/1": `<a href="/3">3</a>`,
		"http://b.test/2": `<a href="http://d.test/">this is d</a>`,
		"http://b.test/3": `3`,
		"http://c.test/":  `<a href="http://d.test/">d</a>`,
		"http://d.test/":  `d`,
	}
	tests := []struct {
		order string
		seeds []string
		want  []string
	}{
		{"mcs", []string{"http://a.test/"}, []string{"http://a.test/", "http://b.test/", "http://c.test/", "http://b.test/1", "http://b.test/2", "http://d.test/", "http://b.test/3"}},
		{"lexbfs", []string{"http://a.test/"}, []string{"http://a.test/", "http://b.test/", "http://c.test/", "http://b.test/1", "http://b.test/2", "http://b.test/3", "http://d.test/"}},
		// b is a site with a start page: its links count.
		{"mcs", []string{"http://b.test/"}, []string{"http://b.test/", "http://b.test/1", "http://b.test/3", "http://b.test/2", "http://d.test/"}},
		{"lexbfs", []string{"http://b.test/"}, []string{"http://b.test/", "http://b.test/1", "http://b.test/3", "http://b.test/2", "http://d.test/"}},
	}
	for _, tc := range tests {
		w := &fakeWeb{pages: pages}
		opt := newOptions(t, w, tc.seeds...)
		var err error
		if opt.Ordering, err = orders.OrderingByName(tc.order); err != nil {
			t.Fatal(err)
		}
		crawl(t, opt)
		if got := w.urls(); !slices.Equal(got, tc.want) {
			t.Errorf("%s from %v: got %v, want %v", tc.order, tc.seeds, got, tc.want)
		}
	}
}

// TestCountingSessions cuts crawls by orderings that count links into sessions.
func TestCountingSessions(t *testing.T) {
	t.Parallel()
	for _, order := range []string{"dfs", "mcs", "mns", "lexbfs", "lexdfs", "mcs*0.3+lexdfs*0.5+relevance"} {
		o, err := orders.OrderingByName(order)
		if err != nil {
			t.Fatal(err)
		}
		whole, cut := &fakeWeb{pages: manyPages(7, 9)}, &fakeWeb{pages: manyPages(7, 9)}
		opt, opt2 := newOptions(t, whole, "http://h0.test/0"), newOptions(t, cut, "http://h0.test/0")
		opt.Ordering, opt2.Ordering = o, o
		crawl(t, opt)
		for opt2.MaxPages = 5; opt2.MaxPages < 70; opt2.MaxPages += 5 {
			crawl(t, opt2)
		}
		if !slices.Equal(whole.urls(), cut.urls()) {
			t.Errorf("%s: in one go %v\nin parts  %v", order, whole.urls(), cut.urls())
		}
	}
}

// TestRescoringKeepsLinkOrder: a scorer that changes its mind changes nothing in an
// order that goes by links alone.
func TestRescoringKeepsLinkOrder(t *testing.T) {
	t.Parallel()
	for _, order := range []string{"bfs", "dfs", "mcs", "lexdfs"} {
		o, err := orders.OrderingByName(order)
		if err != nil {
			t.Fatal(err)
		}
		plain, shifting := &fakeWeb{pages: manyPages(7, 9)}, &fakeWeb{pages: manyPages(7, 9)}
		opt, opt2 := newOptions(t, plain, "http://h0.test/0"), newOptions(t, shifting, "http://h0.test/0")
		opt.Ordering, opt2.Ordering = o, o
		opt2.Scorer = shiftingScorer{wordScorer{0.3}, new(atomic.Uint64)}
		crawl(t, opt)
		crawl(t, opt2)
		if !slices.Equal(plain.urls(), shifting.urls()) {
			t.Errorf("%s: %v\nrescored %v", order, plain.urls(), shifting.urls())
		}
	}
}
