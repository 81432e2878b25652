package lab

import (
	"slices"
	"testing"
	"time"
)

// TestTimeCurves: two crawls of one policy and one of another, worked by hand: all go over
// the time of the longest, and who has ended keeps what it had.
func TestTimeCurves(t *testing.T) {
	s := time.Second
	short := &Crawl{URLs: make([]string, 2), Relevant: []bool{true, false}, At: []time.Duration{s, 2 * s}, Took: 2 * s}
	long := &Crawl{URLs: make([]string, 2), Relevant: []bool{true, true}, At: []time.Duration{s, 50 * s}, Took: 50 * s}
	curves := timeCurves([][]*Crawl{{short, long}, {long}})
	for _, c := range []struct {
		policy, step int
		want         TimePoint
	}{
		{0, 0, TimePoint{1, 1, 1}}, {0, 1, TimePoint{2, 1.5, 1}}, {0, 48, TimePoint{49, 1.5, 1}}, {0, 49, TimePoint{50, 2, 1.5}},
		{1, 0, TimePoint{1, 1, 1}}, {1, 49, TimePoint{50, 2, 2}},
	} {
		if got := curves[c.policy][c.step]; got != c.want {
			t.Errorf("policy %d, point %d: %v, want %v", c.policy, c.step, got, c.want)
		}
	}
	if got := []time.Duration{long.took(1), long.took(2), long.took(9)}; !slices.Equal(got, []time.Duration{s, 50 * s, 50 * s}) {
		t.Errorf("took %v", got)
	}
}
