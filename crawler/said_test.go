package crawler

import (
	"fmt"
	"testing"

	"fossick/internal/page"
)

// TestTimes: the latest label holds, and of the same the one with its page.
func TestTimes(t *testing.T) {
	var times times
	for i, c := range []struct {
		url     string
		topic   int
		at      int64
		fetched bool
		newer   bool
	}{
		{"a", 0, 5, false, true},
		{"a", 0, 5, false, false},
		{"a", 0, 4, true, false},
		{"a", 1, 4, true, true},
		{"b", 0, 1, true, true},
		{"a", 0, 5, true, true},
		{"a", 0, 5, true, false},
		{"a", 0, 5, false, false},
		{"a", 0, 6, false, true},
	} {
		if got := times.newer(c.url, c.topic, c.at, c.fetched); got != c.newer {
			t.Errorf("label %d: newer %v, want %v", i, got, c.newer)
		}
	}
}

// TestSaid: what a store keeps is told with its pages, the latest of it, and known as said when
// the crawl is resumed.
func TestSaid(t *testing.T) {
	s := past(t)
	b := NewBook(s, page.NewNormalizer(nil))
	enter(t, b, s, 3, 40, Mark{URL: "http://b.test/", OnTopic: false})
	enter(t, b, s, 3, 50, Mark{URL: "http://d.test/", OnTopic: true})
	enter(t, b, s, 3, 30, Mark{URL: "http://a.test/", OnTopic: true})
	for n, want := range map[int]string{5: "a true page true at 30; b false page true at 40; d true page false at 50; ", 1: "d true page false at 50; "} {
		said, err := b.said(n)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, m := range said {
			got += fmt.Sprintf("%s %v page %v at %d; ", m.URL[7:8], m.OnTopic, m.Page != nil, m.At)
		}
		if got != want {
			t.Errorf("the latest %d: %q, want %q", n, got, want)
		}
	}
	var times times
	if err := times.recall(s); err != nil {
		t.Fatal(err)
	}
	if times.newer("http://b.test/", 0, 40, true) || !times.newer("http://d.test/", 0, 50, true) || !times.newer("http://b.test/", 0, 41, false) {
		t.Error("a resumed crawl does not know when its labels were given")
	}
}
