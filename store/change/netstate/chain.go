package netstate

func ratio(a, b int) (float64, bool) {
	if b <= 0 {
		return 0, false
	}
	return float64(a) / float64(b), true
}

// Chain counts what follows what: a two-state chain. The zero value has counted nothing.
type Chain struct{ after [2][2]int } // [success before][success after]

// Add counts a visit and the one before it of the same page.
func (c *Chain) Add(before, after bool) { c.after[index(before)][index(after)]++ }

// SS is the share of successes after a success.
func (c *Chain) SS() (chance float64, known bool) {
	return ratio(c.after[1][1], c.after[1][0]+c.after[1][1])
}

// FF is the share of failures after a failure.
func (c *Chain) FF() (chance float64, known bool) {
	return ratio(c.after[0][0], c.after[0][0]+c.after[0][1])
}

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}
