package train

import (
	"fmt"

	"fossick/internal/report"
)

// figures draws the curves that there are.
func figures(p *Page) ([]report.Figure, error) {
	var out []report.Figure
	if len(p.Curve) > 1 {
		f, err := curveFigure(p)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	if len(p.Reliability.Bins) > 0 {
		f, err := reliability(p)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

func curveFigure(p *Page) (report.Figure, error) {
	l := report.Line{Name: "accuracy", Dots: true}
	for _, c := range p.Curve {
		l.Points = append(l.Points, report.Point{X: float64(c.Pages), Y: c.Accuracy})
		l.Band = append(l.Band, c.CI)
	}
	return report.NewFigure("Learning curve",
		"Accuracy of the same classifier when it learns from fewer pages, always judged on the same held-out training pages (cross-validation, before calibration). The band is the 95 % interval.",
		report.Chart{XLabel: "training pages", YLabel: "right", Lines: []report.Line{l}, Fit: report.FitBoth})
}

func reliability(p *Page) (report.Figure, error) {
	l := report.Line{Name: "this model", Dots: true}
	for _, b := range p.Reliability.Bins {
		l.Points = append(l.Points, report.Point{X: b.Mean, Y: b.Right})
		l.Band = append(l.Band, b.CI)
	}
	f, err := report.NewFigure("Reliability",
		fmt.Sprintf("Of the pages whose label has a probability near x, the share that is right: below the line the model is too confident. Expected calibration error %s. The band is the 95 %% interval; it is wide where there are few pages.", percents(p.Reliability.ECE)),
		report.Chart{XLabel: "probability of the label", YLabel: "right", Lines: []report.Line{l}, XShares: true, Diagonal: "perfect calibration"})
	if err != nil {
		return f, err
	}
	f.Open = true
	f.Tables = []report.Numbers{binFigure(p)}
	return f, nil
}

// bins lists the reliability curve with the pages of each bin.
func binFigure(p *Page) report.Numbers {
	n := report.Numbers{Columns: []string{"probability", "pages", "mean", "right", "95 % interval"}}
	for _, b := range p.Reliability.Bins {
		n.Rows = append(n.Rows, []string{
			fmt.Sprintf("%.1f–%.1f", b.From, b.To), report.Number(b.Pages), percents(b.Mean), percents(b.Right), report.Span(b.CI),
		})
	}
	return n
}
