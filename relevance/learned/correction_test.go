package learned

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func randomExamples(rng *rand.Rand, n int, want func(offset float64) float64, weight float64) []example {
	all := make([]example, n)
	for i := range all {
		words := map[token]bool{}
		for range 3 + rng.IntN(12) {
			words[token(rng.IntN(40))] = true
		}
		offset := 4*rng.Float64() - 2
		all[i] = example{slices.Sorted(maps.Keys(words)), offset, want(offset), weight, false}
	}
	return all
}

// loss is the sum that learnCorrection minimises.
func loss(c *correction, all []example) float64 {
	sum := 0.0
	for _, e := range all {
		p := sigmoid(e.offset + c.shift(e.words))
		sum -= e.weight * (e.want*math.Log(p) + (1-e.want)*math.Log(1-p))
	}
	for _, w := range c.weight {
		sum += wordPenalty / 2 * w * w
	}
	return sum
}

// TestLearnCorrection checks that no small change of a weight reduces the loss noticeably.
func TestLearnCorrection(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		onTopic := float64(seed % 2)
		labelled := randomExamples(rng, 1+rng.IntN(10), func(float64) float64 { return onTopic }, 1)
		anchors := randomExamples(rng, rng.IntN(100), sigmoid, 0.1)
		c := learnCorrection(labelled, anchors)
		all := slices.Concat(labelled, anchors)
		best := loss(c, all)
		if before := loss(&correction{}, all); best >= before {
			t.Errorf("seed %d: loss %g, without a correction %g", seed, best, before)
		}
		for _, w := range slices.Sorted(maps.Keys(c.weight)) {
			for _, step := range []float64{0.3, -0.3} {
				other := &correction{weight: maps.Clone(c.weight)}
				other.weight[w] += step
				if l := loss(other, all); l < best-0.01 {
					t.Errorf("seed %d: loss %g, with word %d moved by %g %g", seed, best, w, step, l)
				}
			}
		}
		if again := learnCorrection(labelled, anchors); !maps.Equal(again.weight, c.weight) {
			t.Errorf("seed %d: learned twice, not the same", seed)
		}
	}
}

func TestCorrected(t *testing.T) {
	for _, test := range []struct{ probability, shift, want float64 }{
		{0.3, 0, 0.3}, {1, 0, 1}, {0, 0, 0},
		{0.5, math.Log(3), 0.75}, {0.75, -math.Log(3), 0.5},
		{sigmoid(4), -4, 0.5},
	} {
		if got := corrected(test.probability, test.shift); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%g shifted by %g: %g, want %g", test.probability, test.shift, got, test.want)
		}
	}
	// A shift of 6 overrules any judge, and a tiny shift changes almost nothing.
	for _, p := range []float64{1, 1 - 1e-12, 0.9999} {
		if got := corrected(p, -6); got > 0.2 {
			t.Errorf("%g shifted by -6: %g", p, got)
		}
		if got := corrected(p, -1e-6); math.Abs(got-p) > 1e-4 {
			t.Errorf("%g shifted by a millionth: %g", p, got)
		}
	}
}

func TestShiftOfLength(t *testing.T) {
	c := &correction{weight: map[token]float64{1: -3}}
	if got := c.shift([]token{1}); math.Abs(got+3/math.Sqrt(1+shortText)) > 1e-12 {
		t.Errorf("one word: %g", got)
	}
	if (*correction)(nil).shift([]token{1}) != 0 || c.shift(nil) != 0 || c.shift([]token{2, 3}) != 0 {
		t.Error("a shift of nothing")
	}
	if got := c.strongest([]token{1, 2}, 4); !slices.Equal(got, []token{1}) {
		t.Errorf("strongest %v", got)
	}
}
