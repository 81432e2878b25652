package train

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"

	"fossick/models/features"
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

	at   []float64 // the weights that loss was asked for last
	miss []float64 // of each row at these: C · (p − [c = y])
}

// loss returns the objective at w, which has term·classes + class and the biases last.
func (m *multinomial) loss(w []float64) float64 {
	k, loss := m.classes, 0.0
	m.at = append(m.at[:0], w...)
	m.miss = slices.Grow(m.miss[:0], len(m.rows)*k)[:len(m.rows)*k]
	for _, v := range w {
		loss += v * v / 2
	}
	bias := w[len(w)-k:]
	for i, r := range m.rows {
		p := m.miss[i*k:][:k]
		copy(p, bias)
		for j, t := range r.Index {
			v := float64(r.Value[j])
			for c, wc := range w[int(t)*k:][:k] {
				p[c] += v * wc
			}
		}
		loss -= m.c * m.residual(p, m.y[i])
	}
	return loss
}

// gradient sets grad to that of the objective at w. Where loss has just been asked for
// the same w, the rows' errors are known.
func (m *multinomial) gradient(grad, w []float64) {
	if !slices.Equal(m.at, w) {
		m.loss(w)
	}
	copy(grad, w)
	k := m.classes
	bias := grad[len(grad)-k:]
	for i, r := range m.rows {
		p := m.miss[i*k:][:k]
		for j, t := range r.Index {
			v := float64(r.Value[j])
			g := grad[int(t)*k:][:k]
			for c := range g {
				g[c] += v * p[c]
			}
		}
		for c := range bias {
			bias[c] += p[c]
		}
	}
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
	softmaxC = 300 // C; of 10, 30, 100 and 300 the best by folds of WebKB and Wikispeedia

	// The descent ends when a step gains less than this share of the objective.
	softmaxGain = 1e-4
	softmaxIter = 100

	// memory is how many steps the quasi-Newton method remembers.
	memory = 6
)

// fit minimises by gonum's L-BFGS from zeros, until a step gains less than a share of
// the objective. It stops early, with what it has, when ctx ends. Steps are halved
// until they help (Armijo), which the objective's convexity allows; a step of the
// search for Wolfe's conditions costs a gradient too.
func (m *multinomial) fit(ctx context.Context, terms int, gain float64, maxIter int) []float64 {
	from := make([]float64, (terms+1)*m.classes)
	problem := optimize.Problem{Func: m.loss, Grad: m.gradient, Status: func() (optimize.Status, error) {
		return optimize.NotTerminated, ctx.Err()
	}}
	settings := &optimize.Settings{
		Converger:       &optimize.FunctionConverge{Relative: gain, Iterations: 1},
		MajorIterations: maxIter + 1, // the start is one
	}
	result, _ := optimize.Minimize(problem, from, settings, &optimize.LBFGS{Store: memory, Linesearcher: &optimize.Backtracking{}})
	if result == nil { // ctx had ended
		return from
	}
	return result.X // of the last step that helped, whatever ended the descent
}
