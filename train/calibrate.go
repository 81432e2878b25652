package train

import (
	"cmp"
	"math"
	"slices"

	"fossick/models"
)

// calibrate returns the calibration that makes the labels of held-out pages most likely: one scale and, if
// that costs no accuracy, an offset per class. It also turns scores into the calibrated probabilities.
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

// leastGain is the gain in mean log-likelihood, in nats, below which the descent ends.
const leastGain = 1e-7

// fitCalibration minimises the mean negative log-likelihood over the logarithm of the scale (the last
// parameter) and, with offsets, the offsets. A small cost of their squares keeps rare classes in place.
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

// thresholds returns, by class, the probability that separates held-out pages with the best F1 of the class
// against the rest: halfway between two pages, the highest of ties.
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
			continue // pages of equal probability cannot be separated
		}
		if f1 := 2 * float64(hits) / float64(n+1+of); f1 > top {
			at, top = (p+below)/2, f1
		}
	}
	return at
}

// platt fits probabilities to the margins m between two classes' scores (Platt 1999):
//
//	p(class 1) = 1 / (1 + exp(−(a·m + b)))
//
// on the wanted pages of all rounds. The targets are 1/(n₀+2) and (n₁+1)/(n₁+2) instead of 0 and 1, with n_c
// pages of class c, so that a dozen well-separated pages do not make a model sure. Without rounds the scores
// stay as they are. It uses Newton's method with backtracking (Lin, Lin and Weng 2007).
func platt(rounds []*heldOut, y []int, want func(page int) bool) models.Calibration {
	var margin, target []float64
	var n [2]float64
	for p, class := range y {
		if want(p) {
			n[class]++
		}
	}
	aims := [2]float64{1 / (n[0] + 2), (n[1] + 1) / (n[1] + 2)}
	for _, h := range rounds {
		for p, s := range h.scores {
			if s != nil && want(p) {
				margin, target = append(margin, s[1]-s[0]), append(target, aims[y[p]])
			}
		}
	}
	if len(margin) == 0 {
		return models.Calibration{}
	}
	a, b := 1.0, math.Log((n[1]+1)/(n[0]+1))
	loss := plattLoss(margin, target, a, b)
	for range 100 {
		da, db := plattStep(margin, target, a, b)
		step := 1.0
		for step > 1e-10 {
			if l := plattLoss(margin, target, a+step*da, b+step*db); l < loss {
				a, b, loss = a+step*da, b+step*db, l
				break
			}
			step /= 2
		}
		if step <= 1e-10 || math.Abs(da)+math.Abs(db) < 1e-9 {
			break
		}
	}
	if a < leastSlope {
		a = leastSlope
		aim := mean(target)
		b = math.Log(aim / (1 - aim))
	}
	return models.Calibration{Scale: a, Offset: []float64{-b / 2, b / 2}}
}

// leastSlope keeps the order of pages if the held-out margins carry no information.
const leastSlope = 1e-3

// plattLoss returns Σ −t·ln p − (1−t)·ln(1−p).
func plattLoss(margin, target []float64, a, b float64) (sum float64) {
	for i, m := range margin {
		z := a*m + b
		if z >= 0 {
			sum += (1-target[i])*z + math.Log1p(math.Exp(-z))
		} else {
			sum += -target[i]*z + math.Log1p(math.Exp(z))
		}
	}
	return sum
}

func plattStep(margin, target []float64, a, b float64) (da, db float64) {
	const ridge = 1e-12
	ga, gb, haa, hab, hbb := 0.0, 0.0, ridge, 0.0, ridge
	for i, m := range margin {
		p := 1 / (1 + math.Exp(-(a*m + b)))
		d, w := p-target[i], p*(1-p)
		ga, gb = ga+d*m, gb+d
		haa, hab, hbb = haa+w*m*m, hab+w*m, hbb+w
	}
	det := haa*hbb - hab*hab
	if !(det > 0) {
		return -ga, -gb
	}
	return -(hbb*ga - hab*gb) / det, -(haa*gb - hab*ga) / det
}
