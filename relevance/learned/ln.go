package learned

import "math"

// Lifts are logarithms, thousands of them a page, and math.Log took a tenth of all that
// scoring took.

// lnSteps is into how many steps ln cuts the numbers between a power of two and the next.
const lnSteps = 1 << 7

// lnFrom is the bits of the least number, 11/16, of those between it and its
// double that steps are made of. So 1 lies in the middle of them, not at an
// end.
const lnFrom = 0x3fe6 << 48

// lnStep is a step's middle c: its inverse and its logarithm.
type lnStep struct{ inverse, ln float64 }

var lnTable = func() (t [lnSteps]lnStep) {
	for i := range t {
		c := math.Float64frombits(lnFrom + uint64(2*i+1)<<(51-7))
		t[i] = lnStep{1 / c, math.Log(c)}
	}
	return t
}()

// ln is the natural logarithm of a finite x above 1e-300, to 1e-14: of x = 2ᵏ·z, with z
// in the step around c,
//
//	k·ln 2 + ln c + ln(1 + r),  r = z/c − 1,  |r| < 1/128,
//
// by a table and five terms of the series.
func ln(x float64) float64 {
	bits := math.Float64bits(x) - lnFrom
	step := &lnTable[bits>>(52-7)%lnSteps]
	k := int64(bits) >> 52
	z := math.Float64frombits(math.Float64bits(x) - bits&(0xfff<<52))
	r := z*step.inverse - 1
	return float64(k)*math.Ln2 + step.ln + r*(1-r*(1./2-r*(1./3-r*(1./4-r*(1./5)))))
}
