package train

import (
	"cmp"
	"math"
	"slices"

	"fossick/models"
)

// calibrate returns the calibration that makes the labels of held-out pages most
// likely: one scale and, when that costs no accuracy, an offset a class. It also
// turns the scores into the calibrated probabilities.
func calibrate(scores [][]float64, y []int) models.Calibration {
	k := len(scores[0])
	scaled := fitCalibration(scores, y, make([]float64, k), false)
	offset := fitCalibration(scores, y, slices.Clone(scaled), true)
	cal := models.Calibration{Scale: math.Exp(scaled[k])}
	withOffset := models.Calibration{Scale: math.Exp(offset[k]), Offset: offset[:k]}
	if correct(scores, y, withOffset) >= correct(scores, y, cal) {
		cal = withOffset
	}
	for _, s := range scores {
		cal.Apply(s)
	}
	return cal
}

func correct(scores [][]float64, y []int, cal models.Calibration) (n int) {
	p := make([]float64, len(scores[0]))
	for i, s := range scores {
		copy(p, s)
		cal.Apply(p)
		if best(p) == y[i] {
			n++
		}
	}
	return n
}

// leastGain ends the descent: of the mean log-likelihood, in nats.
const leastGain = 1e-7

// fitCalibration minimises the mean negative log-likelihood over the logarithm
// of the scale (the last parameter) and, when offsets is set, the offsets.
// Their squares cost a little so that rare classes stay put. Plain descent with
// a step that grows while it helps and halves when not; the problem is smooth
// and has few parameters.
func fitCalibration(scores [][]float64, y []int, start []float64, offsets bool) []float64 {
	k := len(scores[0])
	at := slices.Clone(start)
	if len(at) == k {
		at = append(at, 0)
	}
	grad, next, nextGrad := make([]float64, k+1), make([]float64, k+1), make([]float64, k+1)
	loss := calibrationLoss(scores, y, at, grad, offsets)
	for step, i := 1.0, 0; i < 300 && step > 1e-7; i++ {
		for j := range at {
			next[j] = at[j] - step*grad[j]
		}
		l := calibrationLoss(scores, y, next, nextGrad, offsets)
		if !(l < loss) {
			step /= 2
			continue
		}
		done := loss-l < leastGain
		at, next, grad, nextGrad, loss = next, at, nextGrad, grad, l
		step *= 1.5
		if done {
			break
		}
	}
	return at
}

const offsetCost = 1e-3

func calibrationLoss(scores [][]float64, y []int, at, grad []float64, offsets bool) float64 {
	k := len(at) - 1
	clear(grad)
	cal := models.Calibration{Scale: math.Exp(at[k]), Offset: at[:k]}
	p := make([]float64, k)
	var loss float64
	for i, s := range scores {
		copy(p, s)
		cal.Apply(p)
		loss -= math.Log(max(p[y[i]], 1e-300))
		for c := range p {
			d := p[c]
			if c == y[i] {
				d--
			}
			grad[c] += d
			grad[k] += d * s[c] * cal.Scale
		}
	}
	n := float64(len(scores))
	loss /= n
	for c := range k {
		grad[c] = grad[c]/n + 2*offsetCost*at[c]
		loss += offsetCost * at[c] * at[c]
		if !offsets {
			grad[c] = 0
		}
	}
	grad[k] /= n
	return loss
}

// thresholds returns, for each class, the probability that splits held-out pages
// with the best F1 of the class against the rest: halfway between two of them.
// Of equal ones the highest counts. A class never predicted keeps ½.
func thresholds(probs [][]float64, y []int) []float64 {
	t := make([]float64, len(probs[0]))
	for c := range t {
		t[c] = threshold(probs, y, c)
	}
	return t
}

func threshold(probs [][]float64, y []int, class int) float64 {
	order := make([]int, len(y))
	of := 0
	for i := range order {
		order[i] = i
		if y[i] == class {
			of++
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(probs[b][class], probs[a][class]), cmp.Compare(a, b))
	})
	at, top, hits := 0.5, 0.0, 0
	for n, i := range order {
		if y[i] == class {
			hits++
		}
		p, below := probs[i][class], 0.0
		if n+1 < len(order) {
			below = probs[order[n+1]][class]
		}
		if below == p {
			continue // pages of one probability cannot be parted
		}
		if f1 := 2 * float64(hits) / float64(n+1+of); f1 > top {
			at, top = (p+below)/2, f1
		}
	}
	return at
}
