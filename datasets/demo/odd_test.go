package demo

import (
	"slices"
	"strings"
	"testing"
)

// TestTraps checks that each trap yields a hundred distinct pages.
func TestTraps(t *testing.T) {
	entry := map[string]string{
		"http://townhall.test/calendar/": "http://townhall.test/calendar/2025/06",
		"http://board.test/threads":      "http://board.test/threads?visit=1",
	}
	for _, trap := range made(t, 1).Traps {
		at, ok := entry[trap.Prefix]
		if !ok {
			t.Fatalf("trap %s has no entry in this test", trap.Prefix)
		}
		seen := map[string]bool{}
		for range 100 {
			body, ok := trap.Page(at)
			if again, _ := trap.Page(at); !ok || again != body {
				t.Fatalf("%s: no page, or another one each time", at)
			}
			seen[at] = true
			links := slices.DeleteFunc(anchors(t, at, body), func(u string) bool {
				return seen[u] || !strings.HasPrefix(u, trap.Prefix)
			})
			if len(links) == 0 {
				t.Fatalf("%s: the trap ends", at)
			}
			at = links[len(links)-1]
		}
		for _, bad := range []string{"x", "?visit=0", "1/2/3/", "9999999/01", "2025/13"} {
			if _, ok := trap.Page(trap.Prefix + bad); ok && bad != "1/2/3/" {
				t.Errorf("%s%s: a page, want none", trap.Prefix, bad)
			}
		}
	}
}

// TestSeeds checks on other seeds that URLs are unique and every page is linked.
func TestSeeds(t *testing.T) {
	for seed := uint64(2); seed < 12; seed++ {
		rows := made(t, seed).Pages
		linked, urls := map[string]bool{}, map[string]bool{}
		for _, e := range rows {
			if urls[e.URL()] {
				t.Errorf("seed %d: %s stands twice", seed, e.URL())
			}
			urls[e.URL()] = true
			for _, to := range anchors(t, e.URL(), e.HTML) {
				linked[to] = true
			}
		}
		for _, e := range rows {
			if !linked[e.URL()] && e.Kind != "private" {
				t.Errorf("seed %d: no link leads to %s", seed, e.URL())
			}
		}
	}
}
