package datasets

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"testing"
)

func demoRows(t testing.TB, seed uint64) []*Example {
	t.Helper()
	rows, errs, _ := all(t, "demo", Options{DemoSeed: seed})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return rows
}

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
