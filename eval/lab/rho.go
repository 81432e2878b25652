package lab

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// RhoRange is the values of ρ of a sweep.
type RhoRange struct{ Values []float64 }

// UnmarshalText reads A:B:STEP, with 0 ≤ A ≤ B < 1 as eq. 1 wants ρ.
func (r *RhoRange) UnmarshalText(text []byte) error {
	var v [3]float64
	parts := strings.Split(string(text), ":")
	if len(parts) != len(v) {
		return fmt.Errorf("%q: want A:B:STEP, as in 0:0.9:0.1", text)
	}
	for i, p := range parts {
		n, err := strconv.ParseFloat(strings.TrimSpace(p), 64)
		if err != nil || !(n >= 0 && n < 1) {
			return fmt.Errorf("%q: %q is not a ρ; want numbers from 0 to less than 1, as in 0:0.9:0.1", text, p)
		}
		v[i] = n
	}
	from, to, step := v[0], v[1], v[2]
	switch {
	case from > to:
		return fmt.Errorf("%q: begins above its end; want A:B:STEP with A ≤ B", text)
	case step < 0.01:
		return fmt.Errorf("%q: want a step of at least 0.01, because each step adds a policy with its own crawls", text)
	}
	r.Values = nil
	for i := 0; ; i++ {
		rho := math.Round((from+float64(i)*step)*1e6) / 1e6 // 0.3, not 0.30000000000000004
		if rho > to+step*1e-6 || rho >= 1 {
			return nil
		}
		r.Values = append(r.Values, rho)
	}
}

// RhoPoint is harvest at one ρ.
type RhoPoint struct {
	Rho     float64     `json:"rho"`
	Harvest float64     `json:"harvest"`
	CI      *[2]float64 `json:"ci"`
}

// Policies are the names of the sweep's policies.
func (r RhoRange) Policies() (names []string) {
	for _, rho := range r.Values {
		names = append(names, paperWith(rho))
	}
	return names
}

func paperWith(rho float64) string { return "paper:" + strconv.FormatFloat(rho, 'g', -1, 64) }

// swept returns harvest against ρ: of every policy that is paper with a ρ of the
// sweep, by rising ρ (paper A5 draws it so).
func swept(sweep []float64, all []Figures) []RhoPoint {
	points := []RhoPoint{}
	for _, rho := range sweep {
		i := slices.IndexFunc(all, func(f Figures) bool { return f.Policy == paperWith(rho) })
		if i >= 0 {
			points = append(points, RhoPoint{rho, all[i].Harvest.Value, all[i].Harvest.CI})
		}
	}
	return points
}

// sweepLine is the sweep as the report draws it.
func sweepLine(points []RhoPoint) []Swept {
	var out []Swept
	for _, p := range points {
		out = append(out, Swept{X: p.Rho, Mean: Mean{Value: p.Harvest, CI: p.CI}})
	}
	return out
}
