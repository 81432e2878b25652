package eval

// Interval is a 95 % confidence interval; in JSON [lo, hi].
type Interval [2]float64

// share returns k/n, nil when n is 0.
func share(k, n int) *float64 {
	if n == 0 {
		return nil
	}
	s := float64(k) / float64(n)
	return &s
}
