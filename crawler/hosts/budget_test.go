package hosts

import "testing"

// TestSiteBudgetGrows: what a site may have, by what it and the others brought.
func TestSiteBudgetGrows(t *testing.T) {
	for _, c := range []struct {
		answers, hits, others, otherHits int
		spent                            bool
	}{
		{499, 0, 1000, 500, false},
		{500, 0, 1000, 500, true},
		{500, 0, 99, 50, false},   // too few others
		{5000, 0, 1000, 0, false}, // which are worth nothing either
		{900, 0, 1000, 20, false}, // of rare topics more must be seen
		{1000, 0, 1000, 20, true},
		{2000, 0, 10000, 1, true}, // but not without end
		{10000, 990, 1000, 500, false},
		{10000, 900, 1000, 500, true}, // less than a fifth of what the others bring
		{10000, 2000, 1000, 500, false},
	} {
		b := newBudgets()
		b.add("it.test", c.answers, c.hits)
		b.add("other.test", c.others, c.otherHits)
		if why := b.spent("site", "it.test", b.sites.of("it.test")); (why != "") != c.spent {
			t.Errorf("%+v: %q", c, why)
		}
	}
}
