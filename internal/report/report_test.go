package report

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"fossick/internal/testkit"
)

func TestNiceStep(t *testing.T) {
	for n, want := range map[int]int{0: 1, 1: 1, 50: 1, 51: 2, 100: 2, 229: 5, 460: 10, 1000: 20, 10000: 200, 1000000: 20000} {
		if got := NiceStep(n); got != want {
			t.Errorf("NiceStep(%d): got %d, want %d", n, got, want)
		}
	}
}

func TestPercent(t *testing.T) {
	for x, want := range map[float64]string{0: "0 %", 0.00001: "0.1 %", 0.034: "3.4 %", 0.5: "50 %", 0.994: "99.4 %", 0.99999: "99.9 %", 1: "100 %"} {
		if got := Percent(x); got != want {
			t.Errorf("Percent(%v): got %q, want %q", x, got, want)
		}
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := Number(n); got != want {
			t.Errorf("Number(%d): got %q, want %q", n, got, want)
		}
	}
}

func TestMatrix(t *testing.T) {
	m := NewMatrix([]string{"a", "b"}, []string{"b", ""}, [][]int{{1, 1}, {9, 0}}, []int{4, 9})
	row := m.Rows[0]
	if row.Total != 4 || row.Cells[0] != (matrixCell{Pages: 1, Shade: 2}) {
		t.Errorf("row a: %+v", row)
	}
	if cell := m.Rows[1].Cells[0]; cell != (matrixCell{Pages: 9, Shade: 9, Right: true}) {
		t.Errorf("b for b: %+v", cell)
	}
	if m = NewMatrix([]string{"a"}, []string{"a"}, [][]int{{0}}, nil); m.Rows[0].Total != 0 {
		t.Errorf("no pages: %+v", m.Rows[0])
	}
}

// TestFigure: the template escapes foreign names, and the plot contains only numbers.
func TestFigure(t *testing.T) {
	const hostile = `<script>alert(1)</script>`
	level := 0.3
	f, err := NewFigure("Curve", "A caption.", Chart{
		XLabel: "pages", YLabel: "right", Level: &level, LevelName: hostile, Fit: FitBoth,
		Lines: []Line{
			{Name: hostile, Points: []Point{{10, 0.5}, {20, 0.75}}, Band: [][2]float64{{0.4, 0.6}, {0.7, 0.8}}, Dots: true},
			{Name: "none"}, {Name: "one", Points: []Point{{5, 1}}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Write(&out, `{{template "head" .Head}}{{template "figure" .Figure}}{{template "foot"}}`, struct {
		Head
		Figure Figure
	}{Head{Title: hostile}, f}); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	for _, bad := range []string{"<script>alert", "NaN", "ZgotmplZ"} {
		if strings.Contains(page, bad) {
			t.Errorf("%q in the page", bad)
		}
	}
	for _, want := range []string{"application/json", "&lt;script&gt;", "75.0\u00a0%", "40–60\u00a0%"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
}

func TestChance(t *testing.T) {
	for p, want := range map[float64]string{1: "p = 1", 0.0314: "p = 0.031", 0.0001: "p = 0.0001", 0.00009: "p < 0.0001", 0: "p < 0.0001"} {
		if got := PValue(p); got != want {
			t.Errorf("%v: %q, want %q", p, got, want)
		}
	}
}

// TestLead: at most three sentences are above the plots, the others below.
func TestLead(t *testing.T) {
	for _, c := range []struct {
		texts        []string
		above, below int
	}{
		{nil, 0, 0},
		{[]string{"a.", "b."}, 2, 0},
		{[]string{"a.", "b.", "c."}, 3, 0},
		{[]string{"a.", "b.", "c.", "d.", "e."}, 3, 2},
		{[]string{"a.", "b.", "c. And c.", "d."}, 2, 2},
		{[]string{"a. And a. And a. And a.", "b."}, 1, 1},
	} {
		h := Head{Sentences: c.texts}
		var page bytes.Buffer
		testkit.Must(t, Write(&page, `{{template "head" .}}PLOT{{template "more" .}}`, h))
		above, below, _ := strings.Cut(page.String(), "PLOT")
		if got := [2]int{strings.Count(above, ".</p>"), strings.Count(below, ".</p>")}; got != [2]int{c.above, c.below} {
			t.Errorf("of %q %v are above and below", c.texts, got)
		}
	}
}

// TestRefused: a number that has no place in a plot is an error that names the plot.
func TestRefused(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]Chart{
		"point":              {Lines: []Line{{Name: "bad", Points: []Point{{1, nan}}}}},
		"place":              {Lines: []Line{{Name: "bad", Points: []Point{{math.Inf(1), 1}}}}},
		"band":               {Lines: []Line{{Name: "bad", Points: []Point{{1, 1}}, Band: [][2]float64{{0, nan}}}}},
		"level":              {Level: &nan},
		"0 on a logarithmic": {XLog: true, Lines: []Line{{Points: []Point{{0, 1}}}}},
	} {
		if _, err := NewFigure("Curve", "", c); err == nil || !strings.Contains(err.Error(), "Curve") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	for name, rows := range map[string][]Range{"zero": {{"a", 1, 0, 2}}, "not within": {{"a", 3, 1, 2}}, "no end": {{"a", 1, 1, math.Inf(1)}}, "no number": {{"a", nan, 1, 2}}, "nothing": nil} {
		if _, err := NewRanges("x", "", "days", rows); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestNumbers: the tables write numbers as the axes mean them.
func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		name  string
		chart Chart
		point Point
		band  [2]float64
		want  []string
	}{
		{"shares of counts", Chart{}, Point{1234, 0.4567}, [2]float64{0.4, 0.5}, []string{"1,234", "45.7 %", "40–50 %"}},
		{"shares of shares", Chart{XShares: true}, Point{0.5, 1}, [2]float64{0, 1}, []string{"50.0 %", "100.0 %", "0–100 %"}},
		{"counts", Chart{XNumbers: true, YCounts: true}, Point{0.01, 1234}, [2]float64{0, 1}, []string{"0.01", "1,234", "0–100 %"}},
		{"correlations", Chart{YNumbers: true}, Point{10, -0.4567}, [2]float64{-0.5, 0.4}, []string{"10", "-0.457", "-0.500–0.400"}},
	} {
		c.chart.Lines = []Line{{Points: []Point{c.point}, Band: [][2]float64{c.band}}}
		f := testkit.Call(NewFigure(c.name, "", c.chart)).Must(t)
		if got := f.Tables[0].Rows[0]; !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	f := testkit.Call(NewRanges("x", "", "days", []Range{{"a", .05, .01, 200}})).Must(t)
	if got, want := f.Tables[0].Rows[0], []string{"a", "0.05", "0.01 to 200"}; !slices.Equal(got, want) {
		t.Errorf("ranges: %q, want %q", got, want)
	}
}
