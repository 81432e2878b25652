package train

import (
	"strings"
	"testing"
)

// TestFewUnits: copies of a page, and pages of a site that was held out whole, are one draw. Of
// fewer than five draws there is no interval, and it says why.
func TestFewUnits(t *testing.T) {
	page := func(n int, each func(i int) Judged) (all []Judged) {
		for i := range n {
			all = append(all, each(i))
		}
		return all
	}
	for _, c := range []struct {
		name  string
		pages []Judged
		units int
	}{
		{"none", nil, 0},
		{"four pages", page(4, func(i int) Judged { return Judged{Mark: uint64(i + 1)} }), 4},
		{"five pages", page(5, func(i int) Judged { return Judged{Mark: uint64(i + 1)} }), 5},
		{"twelve copies of a page", page(12, func(int) Judged { return Judged{Mark: 7} }), 1},
		{"twelve copies of two pages", page(12, func(i int) Judged { return Judged{Mark: uint64(i%2 + 1)} }), 2},
		{"forty pages of four sites", page(40, func(i int) Judged { return Judged{Mark: uint64(i + 1), Site: "abcd"[i%4 : i%4+1]} }), 4},
		{"pages of unknown text", page(6, func(int) Judged { return Judged{} }), 6},
	} {
		m, _ := measureJudged(2, c.pages)
		known := m.Interval() != nil
		if m.Units != c.units || known != (c.units >= 5) || known == strings.HasPrefix(m.Spread(), "no interval: it needs 5") {
			t.Errorf("%s: %d units, interval %v, %q; want %d", c.name, m.Units, m.Interval(), m.Spread(), c.units)
		}
	}
}
