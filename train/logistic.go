package train

import (
	"context"
	"math"

	"fossick/features"
)

// multinomial is multinomial logistic regression, the other linear classifier: it
// minimises over weights W (a row a class, the bias the weight of a feature that is
// 1 everywhere)
//
//	½‖W‖² − C Σ_i ln p_{y_i}(x_i),   p_c(x) = exp(W_c·x) / Σ_d exp(W_d·x)
type multinomial struct {
	rows    []features.Vector
	y       []int
	classes int
	c       float64
}

// at returns the objective at w, which has term·classes + class and the biases
// last, and sets grad to its gradient.
func (m *multinomial) at(w, grad []float64) float64 {
	copy(grad, w)
	k, loss := m.classes, 0.0
	for _, v := range w {
		loss += v * v / 2
	}
	bias, biasGrad := w[len(w)-k:], grad[len(w)-k:]
	p := make([]float64, k)
	for i, r := range m.rows {
		copy(p, bias)
		for j, t := range r.Index {
			v := float64(r.Value[j])
			for c, wc := range w[int(t)*k:][:k] {
				p[c] += v * wc
			}
		}
		loss -= m.c * m.residual(p, m.y[i])
		for j, t := range r.Index {
			v := float64(r.Value[j])
			g := grad[int(t)*k:][:k]
			for c := range g {
				g[c] += v * p[c]
			}
		}
		for c := range biasGrad {
			biasGrad[c] += p[c]
		}
	}
	return loss
}

// residual turns a row's scores into C · (p − [c = y]), the gradient by them, and
// returns ln p_y.
func (m *multinomial) residual(s []float64, y int) float64 {
	most := s[best(s)]
	own, sum := s[y]-most, 0.0
	for c := range s {
		s[c] = math.Exp(s[c] - most)
		sum += s[c]
	}
	for c := range s {
		s[c] *= m.c / sum
	}
	s[y] -= m.c
	return own - math.Log(sum)
}

const (
	// softmaxC is C. Of 10, 30, 100 and 300 folds of WebKB's universities say .917,
	// .919, .919, .919, of Wikispeedia .857, .869, .873, .882.
	softmaxC = 300

	// The descent ends when a step gains less than this share of the objective.
	softmaxGain = 1e-4
	softmaxIter = 100

	// memory is how many steps the quasi-Newton method remembers.
	memory = 6
)

// fit minimises by L-BFGS (Liu and Nocedal 1989) with steps halved until they help
// (Armijo), from zeros, until a step gains less than a share of the objective. It
// stops early, with what it has, when ctx ends.
func (m *multinomial) fit(ctx context.Context, terms int, gain float64, maxIter int) []float64 {
	n := (terms + 1) * m.classes
	w, grad, next, nextGrad, dir := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	loss := m.at(w, grad)
	var past []curve
	for range maxIter {
		copy(dir, grad)
		descend(dir, past)
		slope, step := dotOf(grad, dir), 1.0
		if len(past) == 0 {
			step = 1 / math.Sqrt(max(1, dotOf(grad, grad)))
		}
		l := math.Inf(1)
		for ; step > 1e-10 && ctx.Err() == nil; step /= 2 {
			for i := range w {
				next[i] = w[i] - step*dir[i]
			}
			if l = m.at(next, nextGrad); l <= loss-1e-4*step*slope {
				break
			}
		}
		if !(l < loss) {
			break
		}
		past = remember(past, w, next, grad, nextGrad)
		done := loss-l < gain*loss
		w, next, grad, nextGrad, loss = next, w, nextGrad, grad, l
		if done {
			break
		}
	}
	return w
}

// curve is what a step taught of the curvature: s the step, y the change of the
// gradient.
type curve struct {
	s, y []float64
	sy   float64
}

// remember adds a step to the last few, if it saw the function curve upwards.
func remember(past []curve, w, next, grad, nextGrad []float64) []curve {
	var c curve
	if len(past) == memory {
		c, past = past[0], past[1:]
	} else {
		c = curve{s: make([]float64, len(w)), y: make([]float64, len(w))}
	}
	for i := range w {
		c.s[i], c.y[i] = next[i]-w[i], nextGrad[i]-grad[i]
	}
	if c.sy = dotOf(c.s, c.y); c.sy > 1e-12 {
		past = append(past[:len(past):len(past)], c)
	}
	return past
}

// descend turns a gradient into the direction of the quasi-Newton step (the two
// loops of Nocedal 1980).
func descend(g []float64, past []curve) {
	a := make([]float64, len(past))
	for i := len(past) - 1; i >= 0; i-- {
		a[i] = dotOf(past[i].s, g) / past[i].sy
		addTo(g, -a[i], past[i].y)
	}
	if n := len(past); n > 0 {
		scale := past[n-1].sy / dotOf(past[n-1].y, past[n-1].y)
		for i := range g {
			g[i] *= scale
		}
	}
	for i, p := range past {
		addTo(g, a[i]-dotOf(p.y, g)/p.sy, p.s)
	}
}

func dotOf(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

func addTo(a []float64, by float64, b []float64) {
	for i, v := range b {
		a[i] += by * v
	}
}
