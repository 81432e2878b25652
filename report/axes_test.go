package report

import (
	"slices"
	"strings"
	"testing"
)

func labels(ticks []tick) (l []string) {
	for _, t := range ticks {
		l = append(l, t.label)
	}
	return l
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		name   string
		ticks  ticker
		lo, hi float64
		want   []string
	}{
		{"μ of paper A", numberTicks, 0.01, 0.18, []string{"0.05", "0.1", "0.15"}},
		{"few μ", numberTicks, 0.01, 0.03, []string{"0.01", "0.015", "0.02", "0.025", "0.03"}},
		{"from 0", numberTicks, 0, 1, []string{"0", "0.2", "0.4", "0.6", "0.8", "1"}},
		{"words", logTicks, 1, 2000, []string{"1", "10", "100", "1,000", "2,000"}},
		{"few words", logTicks, 1, 50, []string{"1", "2", "5", "10", "20", "50"}},
	} {
		if got := labels(c.ticks(c.lo, c.hi)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestCountsAndNumbers(t *testing.T) {
	c := Chart{XLabel: "μ", YLabel: "words", XNumbers: true, YCounts: true,
		Lines: []Line{{Name: "all", Points: []Point{{0.01, 1234}, {0.02, 7}}}}}
	b := c.limits()
	if (b != box{0.01, 0.02, 1, 2000}) {
		t.Errorf("axes %+v", b)
	}
	f, err := NewFigure("Words", "", c)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"0.01", "1,234"}, {"0.02", "7"}}
	if got := f.Tables[0].Rows; !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("numbers %q, want %q", got, want)
	}
	for _, points := range [][]Point{nil, {{0.05, 3}}} { // nothing to span
		c.Lines[0].Points = points
		if _, err := NewFigure("Words", "", c); err != nil {
			t.Error(err)
		}
	}
}

// TestCorrelation: what is no share is not written as one.
func TestCorrelation(t *testing.T) {
	c := Chart{XLabel: "pages", YLabel: "τ", YNumbers: true,
		Lines: []Line{{Name: "bfs", Points: []Point{{10, 0.4567}}, Band: [][2]float64{{0.4, 0.5}}}}}
	f, err := NewFigure("τ", "", c)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := f.Tables[0].Rows[0], []string{"10", "0.457", "0.400–0.500"}; !slices.Equal(got, want) {
		t.Errorf("numbers %q, want %q", got, want)
	}
	if strings.Contains(string(f.SVG), "%") {
		t.Error("the axis has percents")
	}
	c.Lines[0].Band[0][0] = -0.31
	if b := c.limits(); b.y0 != -0.4 {
		t.Errorf("the axis begins at %v, want it below −0.31", b.y0)
	}
}
