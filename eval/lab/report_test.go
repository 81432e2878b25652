package lab

import (
	"slices"
	"testing"
	"time"
)

func TestRhoRange(t *testing.T) {
	for text, want := range map[string][]float64{
		"0:0.9:0.3":     {0, 0.3, 0.6, 0.9},
		"0.1:0.3:0.1":   {0.1, 0.2, 0.3},
		"0.5:0.5:0.1":   {0.5},
		"0.95:0.99:0.5": {0.95},
	} {
		var r RhoRange
		if err := r.UnmarshalText([]byte(text)); err != nil || !slices.Equal(r.Values, want) {
			t.Errorf("%s: %v, %v; want %v", text, r.Values, err, want)
		}
	}
	for _, text := range []string{"", "0:0.9", "0:0.9:0", "0.5:0.1:0.1", "0:1:0.1", "-0.1:0.5:0.1", "a:b:c", "0:NaN:0.1", "0:0.9:0.001", "0:0.9:0.1:1"} {
		if err := new(RhoRange).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

// TestSweepPlot: a sweep is plotted even when some or all points have no interval.
func TestSweepPlot(t *testing.T) {
	ci := &[2]float64{0.1, 0.3}
	for name, points := range map[string][]rhoPoint{
		"all":  {{0, 0.2, ci}, {0.5, 0.2, ci}},
		"some": {{0, 0.2, nil}, {0.5, 0.2, ci}},
		"last": {{0, 0.2, ci}, {0.5, 0.2, nil}},
		"none": {{0, 0.2, nil}, {0.5, 0.2, nil}},
	} {
		if f, err := sweepPlot(points); err != nil || f == nil {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
}

// TestTimeCurves: all curves span the time of the longest crawl; an ended crawl keeps its last value.
func TestTimeCurves(t *testing.T) {
	s := time.Second
	short := &Crawl{URLs: make([]string, 2), Relevant: []bool{true, false}, At: []time.Duration{s, 2 * s}, Took: 2 * s}
	long := &Crawl{URLs: make([]string, 2), Relevant: []bool{true, true}, At: []time.Duration{s, 50 * s}, Took: 50 * s}
	curves := timeCurves([][]*Crawl{{short, long}, {long}})
	for _, c := range []struct {
		policy, step int
		want         timePoint
	}{
		{0, 0, timePoint{1, 1, 1}}, {0, 1, timePoint{2, 1.5, 1}}, {0, 48, timePoint{49, 1.5, 1}}, {0, 49, timePoint{50, 2, 1.5}},
		{1, 0, timePoint{1, 1, 1}}, {1, 49, timePoint{50, 2, 2}},
	} {
		if got := curves[c.policy][c.step]; got != c.want {
			t.Errorf("policy %d, point %d: %v, want %v", c.policy, c.step, got, c.want)
		}
	}
	if got := []time.Duration{long.took(1), long.took(2), long.took(9)}; !slices.Equal(got, []time.Duration{s, 50 * s, 50 * s}) {
		t.Errorf("took %v", got)
	}
}
