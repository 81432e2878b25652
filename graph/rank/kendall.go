package rank

import (
	"math"
	"slices"
)

// Kendall returns Kendall's τ_b of two scores of the same nodes: 1 when they rank
// all pairs alike, −1 when the one ranks them the other way round:
//
//	τ_b = (concordant − discordant) / √((P − ties in a) · (P − ties in b)),  P = n(n−1)/2
//
// It is NaN when all nodes are tied in one of them. By Knight's algorithm (1966),
// O(n log n). a and b are not changed.
func Kendall(a, b []float64) float64 {
	n := len(a)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		if a[i] != a[j] {
			return compare(a[i], a[j])
		}
		return compare(b[i], b[j])
	})
	var tiesA, tiesBoth float64
	runA, runBoth := 1.0, 1.0
	for k := 1; k < n; k++ {
		i, j := order[k-1], order[k]
		if a[i] != a[j] {
			runA, runBoth = 1, 1
			continue
		}
		tiesA += runA // the new one with each before it
		runA++
		if b[i] == b[j] {
			tiesBoth += runBoth
			runBoth++
		} else {
			runBoth = 1
		}
	}
	ys := make([]float64, n)
	for k, i := range order {
		ys[k] = b[i]
	}
	discordant := inversions(ys, make([]float64, n)) // sorts ys
	tiesB, run := 0.0, 1.0
	for k := 1; k < n; k++ {
		if ys[k] != ys[k-1] {
			run = 1
			continue
		}
		tiesB += run
		run++
	}
	pairs := float64(n) * float64(n-1) / 2
	return (pairs - tiesA - tiesB + tiesBoth - 2*discordant) / math.Sqrt((pairs-tiesA)*(pairs-tiesB))
}

func compare(x, y float64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// inversions sorts xs and returns how many pairs stood in the wrong order.
func inversions(xs, spare []float64) float64 {
	if len(xs) < 2 {
		return 0
	}
	mid := len(xs) / 2
	left, right := xs[:mid], xs[mid:]
	n := inversions(left, spare) + inversions(right, spare)
	merged := spare[:0]
	for len(left) > 0 && len(right) > 0 {
		if right[0] < left[0] {
			n += float64(len(left))
			merged, right = append(merged, right[0]), right[1:]
		} else {
			merged, left = append(merged, left[0]), left[1:]
		}
	}
	merged = append(append(merged, left...), right...)
	copy(xs, merged)
	return n
}

// Rounded returns scores to a relative precision, so that those which differ only
// by what an iteration has left over are tied. digits are those of the decimal
// logarithm.
func Rounded(scores []float64, digits int) []float64 {
	scale := math.Pow(10, float64(digits))
	out := make([]float64, len(scores))
	for i, s := range scores {
		out[i] = math.Round(math.Log10(s) * scale)
	}
	return out
}
