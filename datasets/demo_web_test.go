package datasets

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestDemoDeterministic(t *testing.T) {
	digest := func(seed uint64) string {
		h := sha256.New()
		for _, e := range demoRows(t, seed) {
			fmt.Fprintf(h, "%q\n", []string{e.URL, e.Label, e.Split, e.Charset, e.HTML})
		}
		s, err := Open("demo", Options{DemoSeed: seed})
		if err != nil {
			t.Fatal(err)
		}
		for _, from := range slices.Sorted(maps.Keys(s.Web().Redirects)) {
			fmt.Fprintln(h, from, s.Web().Redirects[from])
		}
		return fmt.Sprintf("%x", h.Sum(nil))
	}
	one, again, two := digest(1), digest(1), digest(2)
	if one != again {
		t.Error("the same seed gives different webs")
	}
	if one == two {
		t.Error("two seeds give the same web")
	}
}

// TestDemoWeb wants a chain, a loop, dead and forbidden pages and traps.
func TestDemoWeb(t *testing.T) {
	s, err := Open("demo", Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := s.Web()
	longest, loops := 0, 0
	for from := range w.Redirects {
		hops, seen := 0, map[string]bool{}
		for at := from; ; hops++ {
			if seen[at] {
				loops++
				break
			}
			seen[at] = true
			r, ok := w.Redirects[at]
			if !ok {
				longest = max(longest, hops)
				break
			}
			at = r.To
		}
	}
	if longest != 3 || loops != 2 {
		t.Errorf("longest chain %d, URLs in a loop %d; want 3 and 2", longest, loops)
	}
	for _, theme := range []string{"banking", "programming", "science", "sport"} {
		if n := len(w.Starts[theme]); n < 3 {
			t.Errorf("%d start pages for %s, want 3 at least", n, theme)
		}
	}
	rows := map[string]*Example{}
	rep, err := s.Report()
	if err != nil {
		t.Fatal(err)
	}
	for e := range s.Examples() {
		rows[e.URL] = e
	}
	t.Logf("report %+v", rep)
	if rep.Duplicates < 10 {
		t.Errorf("%d exact duplicates, want 10 at least", rep.Duplicates)
	}
	for u, code := range w.Status {
		if rows[u] != nil || code < 400 {
			t.Errorf("%s has status %d and a page", u, code)
		}
	}
}

// TestDemoTraps follows each trap for a hundred pages and finds no end and no
// page twice.
func TestDemoTraps(t *testing.T) {
	s, err := Open("demo", Options{})
	if err != nil {
		t.Fatal(err)
	}
	entry := map[string]string{
		"http://townhall.test/calendar/": "http://townhall.test/calendar/2025/06",
		"http://board.test/threads":      "http://board.test/threads?visit=1",
	}
	for _, trap := range s.Web().Traps {
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
			links := slices.DeleteFunc(anchors(t, &Example{URL: at, HTML: body}), func(u string) bool {
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

// TestDemoSeeds makes other webs: every page has a URL of its own, and is linked.
func TestDemoSeeds(t *testing.T) {
	for seed := uint64(2); seed < 12; seed++ {
		rows := demoRows(t, seed)
		linked, urls := map[string]bool{}, map[string]bool{}
		for _, e := range rows {
			if urls[e.URL] {
				t.Errorf("seed %d: %s stands twice", seed, e.URL)
			}
			urls[e.URL] = true
			for _, to := range anchors(t, e) {
				linked[to] = true
			}
		}
		for _, e := range rows {
			if !linked[e.URL] && e.Fields["kind"] != "private" {
				t.Errorf("seed %d: no link leads to %s", seed, e.URL)
			}
		}
	}
}
