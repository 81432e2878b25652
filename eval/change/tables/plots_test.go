package tables

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"fossick/store/change"
	"fossick/store/change/rates"
)

// TestReport: the page has a plot of each kind and all tables, and escapes what comes from
// the web; one of nothing can be written too.
func TestReport(t *testing.T) {
	var pages []Page
	for i := range 20 {
		p := Page{URL: fmt.Sprintf("http://a.t%d/", i), Kind: "<b>", Visits: []change.Visit{{At: day, State: "ok"}}}
		for n := range int64(5) {
			p.Visits = append(p.Visits, change.Visit{At: (2 + n) * day, State: "ok", Change: change.Kind(n % 3)})
		}
		pages = append(pages, p)
	}
	rate := func(*Page) (rates.Estimate, bool) { return rates.Estimate{Rate: 4, Lo: 1, Hi: 9}, true }
	r := counted(t, Options{Now: 8 * day, Rate: rate, Rounds: []Round{{2 * day, 3 * day}, {4 * day, 5 * day}}}, stream(pages...))
	var b bytes.Buffer
	if err := r.WriteReport(&b, "some & pages"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"some &amp; pages", "Pages downloaded in n rounds", "Freshness by round", ">Visits<", "The median page by top-level domain", "by second level", "by depth", "kind of links", "6 hours", "&lt;b&gt;"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q", want)
		}
	}
	if n := strings.Count(b.String(), "<svg"); n != 7 || strings.Contains(b.String(), "<b>") {
		t.Errorf("%d plots, want 7; or markup of the web", n)
	}
	if err := counted(t, Options{}, stream()).WriteReport(&b, ""); err != nil {
		t.Error(err)
	}
}

// TestPulse: however long the time, all visits are in some sixty parts.
func TestPulse(t *testing.T) {
	for _, gap := range []int64{1, 700, 60_000, 5 * day} {
		var p pulse
		for i := range int64(10_000) {
			p.add(&change.Visit{At: 100*day + i*gap, Change: change.Kind(i % 4)})
		}
		kept, all, changed := len(p.by), int64(0), int64(0)
		parts := p.parts()
		for i, part := range parts {
			all, changed = all+part.visits, changed+part.changed
			if i > 0 && part.at <= parts[i-1].at {
				t.Errorf("gaps of %d ms: parts out of order", gap)
			}
		}
		if all != 10_000 || changed != 5000 || len(parts) > mostParts || parts[0].at != 0 || kept > mostKept || gap > 500 && len(parts) < mostParts/3 {
			t.Errorf("gaps of %d ms: %d parts (%d kept), %d visits, %d changes", gap, len(parts), kept, all, changed)
		}
	}
	if (&pulse{}).parts() != nil {
		t.Error("parts of nothing")
	}
}

func TestPeriod(t *testing.T) {
	for days, want := range map[float64]string{4.251: "4.25 days", 1: "1 days", .25: "6 hours", 1. / 1440: "1 minutes", 1e-4: "8.64 seconds", 0: "0 seconds"} {
		if got := period(days); got != want {
			t.Errorf("%g: %s, want %s", days, got, want)
		}
	}
}
