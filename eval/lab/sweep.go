package lab

import (
	"fmt"

	"fossick/internal/report"
)

// Swept is harvest at one value of a setting that was swept, such as ρ.
type Swept struct {
	X float64
	Mean
}

// sweepPlot draws harvest against ρ, as paper A does (A5); nil without a sweep.
func sweepPlot(points []Swept) (*report.Figure, error) {
	if len(points) == 0 {
		return nil, nil
	}
	l := report.Line{Name: "paper"}
	best := points[0]
	for _, p := range points {
		l.Points = append(l.Points, report.Point{X: p.X, Y: p.Value})
		if p.CI != nil {
			l.Band = append(l.Band, [2]float64{max(0, p.CI[0]), min(1, p.CI[1])})
		}
		if p.Value > best.Value {
			best = p
		}
	}
	if len(l.Band) < len(l.Points) {
		l.Band = nil // a point of equal draws has no interval
	}
	caption := fmt.Sprintf("Harvest of the policy paper by ρ, the share of R that a page inherits from the page that led to it; best at %g. The band is the 95 %% interval over the start sets.", best.X)
	f, err := report.NewFigure("Harvest against ρ", caption, report.Chart{
		XLabel: "ρ", YLabel: "on topic, of those fetched", XNumbers: true, Fit: report.FitTop, Lines: []report.Line{l},
	})
	return &f, err
}
