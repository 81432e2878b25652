package simulate

import (
	"math"

	"fossick/internal/report"
	"fossick/internal/stats"
)

// bandsText says what bands are, where there are some.
func (r *Comparison) bandsText() string {
	if r.StartSets == 1 || len(r.order) > maxBands {
		return ""
	}
	return " Bands are 95 % intervals over the start sets."
}

// inSeconds is the time of a point, 0 without manners.
func inSeconds(p MeanPoint) stats.Mean { return stats.Mean{Value: 3600 * p.Hours.Value} }

// maxBands is how many intervals of one plot can be told apart.
const maxBands = 5

// plots draws the curves that there are.
func (r *Comparison) plots() ([]report.Figure, error) {
	kinds := []struct {
		title, caption, y string
		counts, numbers   bool
		of                func(MeanPoint) stats.Mean
	}{
		{"PageRank collected", "Sum of the whole graph's PageRank over the pages crawled." + r.bandsText(), "share of all PageRank", false, false, func(p MeanPoint) stats.Mean { return p.PageRank }},
		{"Sites", "Number of sites of the crawled pages.", "sites", true, false, func(p MeanPoint) stats.Mean { return p.Sites }},
		{"Kendall’s τ", "How well PageRank computed from the crawled pages alone ranks them: 1 is the order of the whole graph, 0 is unrelated.", "τ", false, true, func(p MeanPoint) stats.Mean { return p.Tau }},
		{"Harvest", "Share of the pages crawled that are on topic.", "harvest", false, false, func(p MeanPoint) stats.Mean { return p.Harvest }},
		{"Time", "Simulated seconds to crawl this many pages, with rests and one fetch at a time from a host.", "seconds", true, false, inSeconds},
	}
	var figures []report.Figure
	for _, k := range kinds {
		c := report.Chart{XLabel: "pages crawled", YLabel: k.y, YCounts: k.counts, YNumbers: k.numbers, Fit: report.FitTop}
		for _, name := range r.order {
			if line := r.line(name, k.counts, k.numbers, k.of); len(line.Points) > 0 {
				c.Lines = append(c.Lines, line)
			}
		}
		if len(c.Lines) == 0 {
			continue
		}
		f, err := report.NewFigure(k.title, k.caption, c)
		if err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// line is the curve of one ordering; what is not known is left out, and so are counts
// below 1, which a logarithmic axis does not have. Of shares and counts the intervals end
// at 0; numbers may be as low as −1.
func (r *Comparison) line(name string, counts, numbers bool, of func(MeanPoint) stats.Mean) report.Line {
	line, least, known := report.Line{Name: name}, 0.0, false
	if numbers {
		least = -1
	}
	for _, p := range r.points[name] {
		m := of(p)
		if math.IsNaN(m.Value) || counts && m.Value < 1 {
			continue
		}
		line.Points = append(line.Points, report.Point{X: float64(p.Pages), Y: max(least, m.Value)})
		band := [2]float64{m.Value, m.Value} // nothing to draw where no interval is known
		if m.CI != nil {
			band, known = [2]float64{max(least, m.CI[0]), min(1, m.CI[1])}, !counts
		}
		line.Band = append(line.Band, band)
	}
	if !known || len(r.order) > maxBands {
		line.Band = nil
	}
	return line
}
