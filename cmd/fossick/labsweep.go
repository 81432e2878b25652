package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"fossick/lab"
)

// rhoRange is the values of ρ of a sweep.
type rhoRange struct{ values []float64 }

// UnmarshalText reads A:B:STEP, with 0 ≤ A ≤ B < 1 as eq. 1 wants ρ.
func (r *rhoRange) UnmarshalText(text []byte) error {
	var v [3]float64
	parts := strings.Split(string(text), ":")
	if len(parts) != len(v) {
		return fmt.Errorf("%q: want A:B:STEP, as in 0:0.9:0.1", text)
	}
	for i, p := range parts {
		n, err := strconv.ParseFloat(strings.TrimSpace(p), 64)
		if err != nil || !(n >= 0 && n < 1) {
			return fmt.Errorf("%q: %q is no ρ; want numbers from 0 to less than 1, as in 0:0.9:0.1", text, p)
		}
		v[i] = n
	}
	from, to, step := v[0], v[1], v[2]
	switch {
	case from > to:
		return fmt.Errorf("%q: begins above its end; want A:B:STEP with A ≤ B", text)
	case step < 0.01:
		return fmt.Errorf("%q: want a step of 0.01 at least; each is a policy with crawls of its own", text)
	}
	r.values = nil
	for i := 0; ; i++ {
		rho := math.Round((from+float64(i)*step)*1e6) / 1e6 // 0.3, not 0.30000000000000004
		if rho > to+step*1e-6 || rho >= 1 {
			return nil
		}
		r.values = append(r.values, rho)
	}
}

// rhoPoint is harvest at one ρ.
type rhoPoint struct {
	Rho     float64     `json:"rho"`
	Harvest float64     `json:"harvest"`
	CI      *[2]float64 `json:"ci"`
}

// sweep adds a policy for each ρ of the sweep to those named.
func (c *labCmd) sweep() {
	for _, rho := range c.RhoSweep.values {
		if name := "paper:" + strconv.FormatFloat(rho, 'g', -1, 64); !slices.Contains(c.Policy, name) {
			c.Policy = append(c.Policy, name)
		}
	}
}

// swept returns harvest against ρ: of every policy that is paper with a ρ of the
// sweep, by rising ρ (paper A5 draws it so).
func (c *labCmd) swept(all []lab.Figures) []rhoPoint {
	points := []rhoPoint{}
	for _, rho := range c.RhoSweep.values {
		name := "paper:" + strconv.FormatFloat(rho, 'g', -1, 64)
		i := slices.IndexFunc(all, func(f lab.Figures) bool { return f.Policy == name })
		if i >= 0 {
			points = append(points, rhoPoint{rho, all[i].Harvest.Value, all[i].Harvest.CI})
		}
	}
	return points
}

// sweepLine is the sweep as the report draws it.
func sweepLine(points []rhoPoint) []lab.Swept {
	var out []lab.Swept
	for _, p := range points {
		out = append(out, lab.Swept{X: p.Rho, Mean: lab.Mean{Value: p.Harvest, CI: p.CI}})
	}
	return out
}
