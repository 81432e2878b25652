package eval

import (
	"slices"
	"testing"

	"fossick/store"
)

// TestConfusionHasOneOrder: rows and columns share one order; classes without pages have neither.
func TestConfusionHasOneOrder(t *testing.T) {
	c := &Crawl{Source: labelSource{Kind: byLabels}}
	add := func(n int, class, label string) {
		for range n {
			p := Page{Refined: &store.Label{Label: label}}
			p.Known, p.Class = class != "", class
			c.Pages = append(c.Pages, p)
		}
	}
	add(5, "bank", "bank")
	add(9, "sport", "bank")
	add(1, "sport", "sport")
	add(3, "", "sport")
	add(2, "art", "craft")
	m := confuse(c).Matrix
	var rows []string
	for _, r := range m.Rows {
		rows = append(rows, r.Name)
	}
	if want := []string{"bank", "sport", "(unknown)", "art"}; !slices.Equal(rows, want) {
		t.Errorf("rows %v, want %v", rows, want)
	}
	if want := []string{"bank", "sport", "craft"}; !slices.Equal(m.Columns, want) {
		t.Errorf("columns %v, want %v", m.Columns, want)
	}
	if got := m.Rows[1].Cells; got[0].Pages != 9 || got[1].Pages != 1 || !got[1].Right {
		t.Errorf("row sport: %+v", got)
	}
}
