package train

import (
	"math"

	"fossick/models"
)

// platt fits probabilities to the margins m between the scores of two classes (Platt 1999):
//
//	p(class 1) = 1 / (1 + exp(−(a·m + b)))
//
// to the pages wanted, in all rounds. It aims not at 0 and 1 but at 1/(n₀+2) and
// (n₁+1)/(n₁+2), n_c being the class's pages. Twelve pages on topic that are all told
// apart do not make a model sure. Without rounds the scores stay as they are.
//
// Newton's steps with backtracking, as Lin, Lin and Weng (2007) have it.
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

// leastSlope keeps the order of pages where held-out margins say nothing.
const leastSlope = 1e-3

// plattLoss is the sum of −t·ln p − (1−t)·ln(1−p).
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

// plattStep is Newton's.
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
