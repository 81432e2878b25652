package blockrank

import "math"

// foresight sees from how masses changed where they go. Where x is what a part counted on in
// a round, g what then came and f = g − x, it counts next on
//
//	g − Σ γ_i·(g_i − g_{i−1}),  γ minimizes |f − Σ γ_i·(f_i − f_{i−1})|
//
// over the rounds before (Anderson, Journal of the ACM 12, 1965; Walker and Ni, SIAM Journal
// on Numerical Analysis 49, 2011). γ is the coordinator's, from all parts' scalar products,
// so it costs a few bytes. What is wrong between two hosts of two agents, which
// otherwise is passed to and fro, is gone sooner.
type foresight struct {
	g, f   []float64
	dg, df [][]float64 // differences, the latest first
}

// depth is of how many rounds differences are kept. Two are the least, as what is passed to and fro
// changes sign each time.
const depth = 4

// products is how many scalar products there are: of f and each difference, then of
// the differences with each other.
const products = depth + depth*(depth+1)/2

// see takes g and x, and returns the products.
func (a *foresight) see(g, x []float64) []float64 {
	f := make([]float64, len(g))
	for i := range g {
		f[i] = g[i] - x[i]
	}
	if a.f != nil {
		dg, df := make([]float64, len(g)), make([]float64, len(g))
		for i := range g {
			dg[i], df[i] = g[i]-a.g[i], f[i]-a.f[i]
		}
		a.dg, a.df = append([][]float64{dg}, a.dg...), append([][]float64{df}, a.df...)
		a.dg, a.df = a.dg[:min(depth, len(a.dg))], a.df[:min(depth, len(a.df))]
	}
	a.g, a.f = g, f
	all := make([]float64, products)
	for i, d := range a.df {
		all[i] = dot(d, f)
		for j, e := range a.df[i:] {
			all[depth+i*depth-i*(i-1)/2+j] = dot(d, e)
		}
	}
	return all
}

// weights solves for γ, given the sums of all parts' products, by elimination: a difference
// that says nothing that later ones do not say has the weight 0, and all have where the
// weights are no sane numbers.
func weights(sum []float64) (gamma [depth]float64) {
	var m [depth][depth + 1]float64
	at := depth
	for i := range depth {
		m[i][depth] = sum[i]
		for j := i; j < depth; j++ {
			m[i][j], m[j][i] = sum[at], sum[at]
			at++
		}
	}
	var used [depth]bool
	for c := range depth {
		own := sum[depth+c*depth-c*(c-1)/2] // of a difference with itself
		if used[c] = m[c][c] > 1e-6*own; !used[c] {
			continue
		}
		for r := c + 1; r < depth; r++ {
			by := m[r][c] / m[c][c]
			for i := c; i <= depth; i++ {
				m[r][i] -= by * m[c][i]
			}
		}
	}
	for r := depth - 1; r >= 0; r-- {
		if !used[r] {
			continue
		}
		gamma[r] = m[r][depth]
		for i := r + 1; i < depth; i++ {
			gamma[r] -= m[r][i] * gamma[i]
		}
		if gamma[r] /= m[r][r]; !(math.Abs(gamma[r]) < 100) {
			return [depth]float64{}
		}
	}
	return gamma
}

func dot(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}
