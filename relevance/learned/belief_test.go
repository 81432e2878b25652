package learned

import (
	"math"
	"math/rand/v2"
	"testing"
)

// beliefOf makes one of ten start pages that share two words, by what a judge trained on seen of 600
// pages says of them. The first few were trained on.
func beliefOf(seen float64, trained int, judged func(i int) float64) belief {
	s := newStartPages()
	for i := range 10 {
		s.add(startPage{[]token{1, 2, token(100 + i)}, judgedOdds(judged(i)), i < trained})
	}
	b := NewBackground(func(yield func(string, float64) bool) { yield("some", 0.01) })
	return newBelief(&s, b, max(seen, 1)/600, doubtOf(seen))
}

// TestDoubt: a judge is doubted as far as it does not know the start pages, and as it saw little of the
// topic. What it says of start pages that it was trained on is no reason to believe it.
func TestDoubt(t *testing.T) {
	knows := func(int) float64 { return 0.98 }
	half := func(i int) float64 { return []float64{0.98, 0.003}[i%2] }
	knowsNone := func(int) float64 { return 0.003 }
	for _, c := range []struct {
		name     string
		seen     float64
		trained  int
		judged   func(int) float64
		from, to float64
	}{
		{"knows all", 2, 0, knows, 0, 0.05},
		{"knows half", 2, 0, half, 0.35, 0.5},
		{"knows none", 2, 0, knowsNone, 0.75, 0.85},
		{"knows none of what it saw 200 of", 200, 0, knowsNone, leastDoubt, 0.1},
		{"was trained on them all", 10, 10, knows, 0.5, 0.5},
		{"knows nine that it was trained on, and one", 10, 9, knows, 0.3, 0.4},
		{"knows five that it was trained on, and five", 10, 5, knows, 0, 0.05},
		{"knows the five that it was trained on alone", 10, 5, func(i int) float64 { return []float64{0.98, 0.003}[i/5] }, 0.4, 0.5},
		{"is not known", 0, 0, knowsNone, 0, 0},
		{"saw very many", 5000, 0, knowsNone, 0, 0},
	} {
		if d := beliefOf(c.seen, c.trained, c.judged).doubt; d < c.from || d > c.to {
			t.Errorf("a judge that %s: doubt %.3f, want %v to %v", c.name, d, c.from, c.to)
		}
	}
}

// TestRatio holds the log-likelihood ratio against that of the two normal distributions that looks were
// drawn from.
func TestRatio(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	var v belief
	for range 20000 {
		shared := rng.NormFloat64() / 2 // the looks are correlated
		v.on.add(1, look{1 + shared + rng.NormFloat64(), 2 + shared + rng.NormFloat64()})
		shared = rng.NormFloat64() / 2
		v.off.add(1, look{-1 + shared + rng.NormFloat64(), shared + rng.NormFloat64()})
	}
	const a, b = 1.25, 0.25 // variance and covariance
	density := func(x, m look) float64 {
		d := look{x[0] - m[0], x[1] - m[1]}
		return -(a*d[0]*d[0] - 2*b*d[0]*d[1] + a*d[1]*d[1]) / (2 * (a*a - b*b))
	}
	for _, x := range []look{{0, 1}, {1, 1}, {0, 2}, {0.5, 0}} {
		want := density(x, look{1, 2}) - density(x, look{-1, 0})
		if got := v.ratio(x); math.Abs(got-want) > 0.1 {
			t.Errorf("%v: %.3f, want %.3f", x, got, want)
		}
	}
}

// TestBeliefByWords: where the judge knows nothing, pages with the start pages' words are told from
// others.
func TestBeliefByWords(t *testing.T) {
	v := beliefOf(2, 0, func(int) float64 { return 0.003 })
	var like, unlike float64
	for i := range 50 {
		with, without := []token{1, 2, token(1000 + i)}, []token{token(2000 + i), token(3000 + i), token(4000 + i)}
		like = v.of(with, 0.003, logit(0.003), 0.5)
		unlike = v.of(without, 0.003, logit(0.003), 0.5)
	}
	if sigmoid(like) < 0.5 || sigmoid(unlike) > 0.1 {
		t.Errorf("with their words %.3f, without %.3f", sigmoid(like), sigmoid(unlike))
	}
}
