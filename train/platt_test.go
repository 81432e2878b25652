package train

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestPlatt: against a search over a grid, on rare and on frequent positives, told apart
// well, badly, and wholly.
func TestPlatt(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, test := range []struct {
		pages, positive int
		apart           float64
	}{{400, 12, 3}, {400, 200, 1}, {300, 3, 1}, {200, 20, 40}, {50, 1, 0}} {
		h, y := newHeldOut(nil, test.pages), make([]int, test.pages)
		for p := range y {
			m := rng.NormFloat64()
			if p < test.positive {
				y[p] = 1
				m += test.apart
			}
			h.scores[p] = []float64{-m / 2, m / 2}
		}
		cal := platt([]*heldOut{h}, y, func(int) bool { return true })
		a, b := cal.Scale, cal.Offset[1]-cal.Offset[0]
		loss := func(a, b float64) (sum float64) {
			high := float64(test.positive+1) / float64(test.positive+2)
			low := 1 / float64(test.pages-test.positive+2)
			for p, s := range h.scores {
				aim := low
				if y[p] == 1 {
					aim = high
				}
				q := 1 / (1 + math.Exp(-(a*(s[1]-s[0]) + b)))
				q = min(max(q, 1e-15), 1-1e-15)
				sum -= aim*math.Log(q) + (1-aim)*math.Log(1-q)
			}
			return sum
		}
		got, least := loss(a, b), math.Inf(1)
		for x := 0.001; x < 8; x += 0.2 {
			for z := -15.; z < 15; z += 0.5 {
				least = min(least, loss(x, z))
			}
		}
		if got > least+1e-3 {
			t.Errorf("%+v: loss %v at %v, %v; the grid has %v", test, got, a, b, least)
		}
	}
	if cal := platt(nil, nil, nil); cal.Scale != 0 || cal.Offset != nil {
		t.Errorf("nothing: %+v", cal)
	}
}

// TestPlattAims: six pages of class 0 and two of class 1 aim at 1/8 and 3/4, in the mean 9/32. Where
// margins say nothing, or the opposite, each page has that: b = ln(9/23).
func TestPlattAims(t *testing.T) {
	for _, margin := range []float64{0, 1} {
		h, y := newHeldOut(nil, 8), []int{0, 1, 0, 0, 0, 1, 0, 0}
		for p, class := range y {
			h.scores[p] = []float64{0, margin * float64(1-2*class)}
		}
		cal := platt([]*heldOut{h}, y, func(int) bool { return true })
		if b := cal.Offset[1] - cal.Offset[0]; !(math.Abs(b-math.Log(9./23)) <= 1e-6) || margin == 1 && cal.Scale != leastSlope {
			t.Errorf("margin %v: slope %v, b %v; want b %v", margin, cal.Scale, b, math.Log(9./23))
		}
	}
}

// TestPlattParts: pages that are not wanted, or not judged, count for nothing.
func TestPlattParts(t *testing.T) {
	h := &heldOut{scores: [][]float64{{0, 1}, {1, 0}, nil, {0, 3}, {2, 1}, {5, -9}}}
	y := []int{1, 0, 1, 0, 1, 0}
	want := platt([]*heldOut{{scores: [][]float64{{0, 1}, {1, 0}, {0, 3}, {2, 1}}}}, []int{1, 0, 0, 1}, func(int) bool { return true })
	got := platt([]*heldOut{h}, y, func(p int) bool { return p != 5 && p != 2 })
	if !(math.Abs(got.Scale-want.Scale) <= 1e-9) || !(math.Abs(got.Offset[0]-want.Offset[0]) <= 1e-9) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
