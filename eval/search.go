package eval

import "math"

// SearchLength returns how many pages were fetched until a share of the targets was
// found (paper A5), 0 < share ≤ 1. It is nil when the crawl ended before. relevant is
// in the order of the crawl; targets is how many relevant URLs the truth names, fetched
// or not. Without targets there is nothing to find, and the answer is nil.
func SearchLength(relevant []bool, targets int, share float64) *int {
	// 0.9 of 10 targets are 9, whatever binary fractions say.
	need := int(math.Ceil(share*float64(targets) - 1e-9))
	if targets <= 0 || need <= 0 {
		return nil
	}
	found := 0
	for i, r := range relevant {
		if !r {
			continue
		}
		if found++; found == need {
			n := i + 1
			return &n
		}
	}
	return nil
}
