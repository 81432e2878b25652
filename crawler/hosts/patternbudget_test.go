package hosts

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// TestPatternBudget: a database on the site that the crawl began with is bounded, however it
// spells its URLs; the rest of the site is not.
func TestPatternBudget(t *testing.T) {
	for name, spell := range map[string]func(i int) string{
		"pages": func(i int) string { return fmt.Sprintf("http://a.test/db/list?page=%d", i) },
		"items": func(i int) string { return fmt.Sprintf("http://a.test/db/%d", i) },
		"names": func(i int) string { return fmt.Sprintf("http://a.test/db/%s/view", strings.Repeat("x", i)) },
		"facets": func(i int) string {
			return fmt.Sprintf("http://a.test/list?%c%c=1&%c=2", 'a'+rune(i%26), 'a'+rune(i/26%26), 'a'+rune(i%7))
		},
		"folders": func(i int) string {
			return fmt.Sprintf("http://a.test/db/y%s/m%d/list?n=%d", strings.Repeat("x", i%50), i%12, i)
		},
	} {
		d := NewTraps(false, slog.New(slog.DiscardHandler))
		a, b := &trapsHost{Name: "a.test:80", Site: "a.test"}, &trapsHost{Name: "b.test:80", Site: "b.test"}
		if why := d.Spent(a, "http://a.test/start", true); why != "" {
			t.Fatal(why)
		}
		for i := range 300 {
			d.Answered(b, fmt.Sprint("http://b.test/", i))
			if i%3 == 0 {
				d.Relevant(b, fmt.Sprint("http://b.test/", i))
			}
		}
		asked, why := 0, ""
		for i := 1; i <= 10_000; i++ {
			if why = d.Spent(a, spell(i), false); why == "" {
				asked++
				d.Answered(a, spell(i))
			}
		}
		if asked != budgetLeast || !strings.HasPrefix(why, "the pattern a.test:80/") {
			t.Errorf("%s: %d of 10,000 were asked for, want %d: %q", name, asked, budgetLeast, why)
		}
		if why := d.Spent(a, "http://a.test/other/page", false); why != "" {
			t.Errorf("%s: the rest of the site: %s", name, why)
		}
		if n := len(d.budgets.patterns.young) + len(d.budgets.patterns.old); n > 8*budgetSites {
			t.Errorf("%s: %d patterns in memory", name, n)
		}
	}
}
