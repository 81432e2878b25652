package blockrank

// factors returns by what each block's y is to be multiplied so that blocks hold what
// the graph of blocks gives them (paper C4, Kamvar et al. 2003, with ranks within blocks as
// they are by now):
//
//	z(J) = a(J) + Σ_I z(I) · f(I,J)/h(I),   factor z(J)/h(J)
//
// h is what blocks hold, a what they have of the base, f what links of I bring to J. As links
// bring less than is held, columns of the system are dominated by their diagonal, and
// it is solved by elimination without pivots, in O(k³) of k blocks. Blocks that hold nothing
// have the factor 1; all have, when a factor is no sane number.
func factors(h, a []float64, f [][]float64) []float64 {
	k := len(h)
	m, z := make([][]float64, k), make([]float64, k)
	for j := range k {
		m[j], z[j] = make([]float64, k), a[j]
		for i := range k {
			if h[i] > 0 {
				m[j][i] = -f[i][j] / h[i]
			}
		}
		m[j][j]++
	}
	for c := range k {
		for r := c + 1; r < k; r++ {
			by := m[r][c] / m[c][c]
			if by == 0 {
				continue
			}
			for i := c; i < k; i++ {
				m[r][i] -= by * m[c][i]
			}
			z[r] -= by * z[c]
		}
	}
	t := ones(k)
	for r := k - 1; r >= 0; r-- {
		for i := r + 1; i < k; i++ {
			z[r] -= m[r][i] * z[i]
		}
		if z[r] /= m[r][r]; h[r] == 0 {
			continue
		}
		if t[r] = z[r] / h[r]; !(t[r] > 1e-99 && t[r] < 1e99) {
			return ones(k)
		}
	}
	return t
}

func ones(k int) []float64 {
	t := make([]float64, k)
	for i := range t {
		t[i] = 1
	}
	return t
}
