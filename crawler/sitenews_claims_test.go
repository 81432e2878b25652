package crawler

import (
	"fmt"
	"testing"

	"fossick/internal/page"
	"fossick/store"
	"fossick/store/change"
)

// TestClaims: what a source says is held against the visit that comes after it, where it can be.
func TestClaims(t *testing.T) {
	const seen, at, visit = 1_000_500_000, 2_000_000_000, 2_010_000_000 // milliseconds
	for name, c := range map[string]struct {
		modified     int64 // seconds
		found        change.Kind
		dated        int64
		start        int64
		news         bool
		made, failed int
	}{
		"a change that is one":             {1_500_001, change.Text, 0, visit, true, 1, 0},
		"a change that is none":            {1_500_001, change.None, 0, visit, true, 1, 1},
		"a change of an advert":            {1_500_001, change.Content, 0, visit, true, 1, 1},
		"none, and there is none":          {900_001, change.None, 0, visit, false, 1, 0},
		"one that is hidden":               {900_001, change.Text, 0, visit, false, 1, 1},
		"one after the source":             {900_001, change.Text, 2_005_000, visit, false, 0, 0},
		"one before it":                    {900_001, change.Text, 1_900_000, visit, false, 1, 1},
		"perhaps one after it":             {900_001, change.Text, 0, 3_000_000_000, false, 0, 0},
		"in the second of the visit":       {1_000_500, change.Text, 0, visit, true, 0, 0},
		"on the day of the visit":          {86400 * 11, change.None, 0, visit, true, 0, 0},
		"on a day before":                  {86400 * 9, change.None, 0, visit, false, 1, 0},
		"on a day after, and there is one": {86400 * 12, change.Unsure, 0, visit, true, 1, 0},
	} {
		var claims sitenewsClaims
		var a store.Announced
		source := claims.Asked("http://a.test/m", at)
		if got := claims.Take(source, 7, c.modified, seen); got != c.news {
			t.Errorf("%s: news %v, want %v", name, got, c.news)
		}
		if claims.Take(source, 7, c.modified, seen) {
			t.Errorf("%s: told twice", name)
		}
		v := store.Visit{Start: c.start, State: "ok", Change: c.found, Modified: c.dated}
		claims.visited(&a, 7, seen, &v)
		claims.visited(&a, 7, visit+1, &store.Visit{Start: visit + 2, State: "ok"}) // nobody asked since
		if a.Checks != c.made || a.Failed != c.failed {
			t.Errorf("%s: %d of %d checks failed, want %d of %d", name, a.Failed, a.Checks, c.failed, c.made)
		}
	}
}

// TestNoCheck: visits that do not show the page as it is tell nothing of its source.
func TestNoCheck(t *testing.T) {
	var claims sitenewsClaims
	var a store.Announced
	for _, state := range []string{"code", "duplicate", "connect_timeout", "redirect"} {
		claims.Take(claims.Asked("http://a.test/m", 2_000_000_000), 7, 1_500_001, 1_000_000_000)
		claims.visited(&a, 7, 1_000_000_000, &store.Visit{Start: 2_010_000_000, State: state})
	}
	claims.visited(&a, 7, 2_005_000_000, &store.Visit{Start: 2_010_000_000, State: "ok"}) // seen since it was asked
	if a.Checks != 0 {
		t.Errorf("%+v, want no check", a)
	}
	claims.Asked("http://a.test/m", 3_000_000_000) // 304: it hides a change by now
	claims.visited(&a, 7, 2_005_000_000, &store.Visit{Start: 3_000_001_000, State: "ok", Change: change.Text})
	if a.Checks != 1 || a.Failed != 1 {
		t.Errorf("%+v, want a check that failed", a)
	}
}

func TestBelief(t *testing.T) {
	for _, c := range []struct {
		made, failed      int
		believed, doubted bool
	}{{0, 0, false, false}, {1, 0, false, false}, {8, 0, false, false}, {9, 0, true, false}, {20, 0, true, false}, {20, 10, false, true}, {3, 3, false, true}, {300, 3, true, false}} {
		a := &store.Announced{Checks: c.made, Failed: c.failed}
		if Believed(a) != c.believed || Doubted(a) != c.doubted {
			t.Errorf("%d of %d failed: believed %v, doubted %v", c.failed, c.made, Believed(a), Doubted(a))
		}
	}
}

func TestSources(t *testing.T) {
	var a store.Announced
	add(&a, page.Host("http://a.test/"), "http://a.test/m", "http://b.test/m", "http://a.test/m")
	if len(a.Sources) != 1 || find(&a, "http://a.test/m") == nil || find(&a, "http://b.test/m") != nil {
		t.Errorf("%+v", a.Sources)
	}
	for i := range 2 * maxSources {
		add(&a, page.Host("http://a.test/"), fmt.Sprintf("http://a.test/%d", i))
	}
	if len(a.Sources) != maxSources {
		t.Errorf("%d sources", len(a.Sources))
	}
	var c NewsCounts
	for i := range 2 * maxNamed {
		c.fresh(fmt.Sprintf("http://a.test/%d", i))
		c.fresh("http://a.test/1")
	}
	if sum := c.plus(c); c.New != 2*maxNamed || len(c.URLs) != maxNamed || sum.New != 4*maxNamed || len(sum.URLs) != maxNamed {
		t.Errorf("%d new, %d named", c.New, len(c.URLs))
	}
}
