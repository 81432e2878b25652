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

// TestCorrelation: numbers other than shares are not written as shares.
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

// TestLogX: equal ratios are equal steps, and nothing at or below 0 is drawn.
func TestLogX(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   []string
	}{
		{1, 5000, []string{"1", "10", "100", "1,000"}},
		{1, 60, []string{"1", "2", "5", "10", "20", "50"}},
		{0.02, 3000, []string{"0.1", "1", "10", "100", "1,000"}},
	} {
		if got := labels(powerTicks(c.lo, c.hi)); !slices.Equal(got, c.want) {
			t.Errorf("%v to %v: %q, want %q", c.lo, c.hi, got, c.want)
		}
	}
	c := Chart{XLabel: "links", YLabel: "pages", XLog: true, YCounts: true, Lines: []Line{{Points: []Point{{1, 1000}, {10, 100}, {100, 10}}}}}
	s := sheet{box: c.limits(), logX: true, left: 0, right: 100}
	if s.x(1) != 0 || s.x(10) != 50 || s.x(100) != 100 {
		t.Errorf("1, 10, 100 stand at %v, %v, %v", s.x(1), s.x(10), s.x(100))
	}
	c.Lines[0].Points[0].X = 0
	if _, err := NewFigure("degrees", "", c); err == nil {
		t.Error("0 has a place on a logarithmic axis")
	}
}
