package webstats

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// fewLeft is from how few draws on each is made by itself.
const fewLeft = 200

// sample draws as many degrees as there are: each from the law with the tail's share, else
// one of those below x_min. Degrees are drawn by their numbers, one binomial a degree, so that
// a million cost no more than a thousand.
func (f *powerLaw) sample(all []degreeCount, rng *rand.Rand) (drawn []degreeCount) {
	tail := binomial(f.n, float64(f.tail)/float64(f.n), rng)
	left, of := f.n-tail, f.n-f.tail
	for _, d := range all {
		if d.degree >= f.start || left == 0 {
			break
		}
		n := binomial(left, float64(d.n)/float64(of), rng)
		left, of = left-n, of-d.n
		if n > 0 {
			drawn = append(drawn, degreeCount{d.degree, n})
		}
	}
	return f.sampleTail(drawn, tail, rng)
}

// sampleTail draws from the law.
func (f *powerLaw) sampleTail(drawn []degreeCount, left int64, rng *rand.Rand) []degreeCount {
	x := f.start
	from := mathext.Zeta(f.alpha, float64(x)) // of x and all above
	for left > fewLeft {
		here := math.Pow(float64(x), -f.alpha)
		n := binomial(left, min(1, here/from), rng)
		if left -= n; n > 0 {
			drawn = append(drawn, degreeCount{x, n})
		}
		x++
		if from -= here; from < 1e-3*here { // rounding would tell by now
			from = mathext.Zeta(f.alpha, float64(x))
		}
	}
	singles := map[int]int64{}
	for range left {
		singles[f.draw(x, rng)]++
	}
	return append(drawn, rising(singles)...)
}

// draw returns a degree of x or more, by bisection of the law.
func (f *powerLaw) draw(x int, rng *rand.Rand) int {
	want := rng.Float64() * mathext.Zeta(f.alpha, float64(x)) // of what is above
	low, high := x, 2*x
	for mathext.Zeta(f.alpha, float64(high+1)) > want && high < 1<<40 {
		low, high = high, 2*high
	}
	for low < high {
		mid := (low + high) / 2
		if mathext.Zeta(f.alpha, float64(mid+1)) <= want {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}

func binomial(n int64, p float64, rng *rand.Rand) int64 {
	switch {
	case n <= 0 || p <= 0:
		return 0
	case p >= 1:
		return n
	}
	return int64(distuv.Binomial{N: float64(n), P: p, Src: rng}.Rand())
}
