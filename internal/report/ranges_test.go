package report

import (
	"math"
	"strings"
	"testing"
)

// TestRanges: rows are in order; one without a place on the axis is refused.
func TestRanges(t *testing.T) {
	f, err := NewRanges("How <often>", "", "days", []Range{{"a & b", 2, 1, 4}, {"c", .05, .01, 200}})
	if err != nil {
		t.Fatal(err)
	}
	svg := string(f.SVG)
	if strings.Count(svg, "<circle") != 2 || strings.Count(svg, `class="line k1"`) != 2 || !strings.Contains(svg, "a &amp; b") || !strings.Contains(svg, "&lt;often&gt;") || strings.Contains(svg, "NaN") {
		t.Errorf("%s", svg)
	}
	if got := f.Tables[0].Rows[1]; got[1] != "0.05" || got[2] != "0.01 to 200" {
		t.Errorf("%v", got)
	}
	for name, r := range map[string]Range{"zero": {"a", 1, 0, 2}, "not within": {"a", 3, 1, 2}, "no end": {"a", 1, 1, math.Inf(1)}, "no number": {"a", math.NaN(), 1, 2}} {
		if _, err := NewRanges("x", "", "days", []Range{r}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := NewRanges("x", "", "days", nil); err == nil {
		t.Error("nothing: no error")
	}
	for _, ends := range [][2]float64{{1, 1.01}, {.9, 9}, {1e-6, 1e6}, {3e-5, 4e-3}} {
		if n := len(rangeTicks(ends[0]*.5, ends[1]*2)); n < 2 || n > 14 {
			t.Errorf("%v: %d ticks", ends, n)
		}
	}
}
