package train

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// MuRange is the values of μ of a sweep.
type MuRange struct{ from, to, step float64 }

const (
	mostSteps = 1000 // of a sweep
	finest    = 1e-9 // to which values are rounded
)

// UnmarshalText reads A:B:STEP.
func (r *MuRange) UnmarshalText(text []byte) error {
	var v [3]float64
	parts := strings.Split(string(text), ":")
	if len(parts) != 3 {
		return fmt.Errorf("%q: want A:B:STEP, as in 0.01:0.18:0.01", text)
	}
	for i, p := range parts {
		n, err := strconv.ParseFloat(strings.TrimSpace(p), 64)
		if err != nil || !(n >= 0 && n < 1e9) {
			return fmt.Errorf("%q: %q is not a μ; want numbers of 0 or more, as in 0.01:0.18:0.01", text, p)
		}
		v[i] = n
	}
	*r = MuRange{v[0], v[1], v[2]}
	switch {
	case r.from < finest:
		return fmt.Errorf("%q: a μ of 0 keeps every word; begin at %v or above", text, finest)
	case r.step < finest:
		return fmt.Errorf("%q: a step of 0 never ends; want a step of at least %v", text, finest)
	case r.from > r.to:
		return fmt.Errorf("%q: begins above its end; want A:B:STEP with A ≤ B", text)
	case (r.to-r.from)/r.step > mostSteps-1:
		return fmt.Errorf("%q: more than %d steps; want a larger one", text, mostSteps)
	}
	return nil
}

// None says that there is no sweep.
func (r MuRange) None() bool { return r.step == 0 }

// values returns the range's values, its end included when a step meets it.
func (r MuRange) values() []float64 {
	var mu []float64
	for i := 0; ; i++ {
		v := math.Round((r.from+float64(i)*r.step)/finest) / (1 / finest) // 0.03, not 0.030000000000000002
		if v > r.to+r.step*1e-6 {
			return mu
		}
		mu = append(mu, v)
	}
}
