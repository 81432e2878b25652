package tables

import (
	"fmt"
	"io"

	"fossick/eval/webstats"
	"fossick/internal/report"
	"fossick/internal/stats"
)

// mostRanges is how many groups of a kind are plotted; tables have all.
const mostRanges = 12

// WriteReport writes one self-contained page with plots and all tables; of says whose pages
// they are.
func (r *Result) WriteReport(w io.Writer, of string, made ...report.Fact) error {
	head := report.Head{Title: "How pages change", Subtitle: of, Sentences: r.Sentences(), Tiles: r.tiles(), Made: made}
	plots, err := r.figures()
	if err != nil {
		return err
	}
	return webstats.WritePage(w, head, plots, r.Tables())
}

// tiles are the headline figures.
func (r *Result) tiles() []report.Tile {
	n := func(x int64) string { return report.Number(int(x)) }
	mean, most, middle, ci := "–", "no page has changed yet", "–", "not known yet"
	if a := r.All; a.ChangeInterval != nil {
		mean, most = period(*a.ChangeInterval), fmt.Sprintf("mean of the pages that changed, %s at most; Korea's 9 days, 19 at most", period(*a.ChangeIntervalMost))
	}
	if a := r.All; a.Interval != nil {
		middle, ci = period(*a.Interval), fmt.Sprintf("%s to %s; between two changes, as estimated", period(a.CI[0]), period(a.CI[1]))
	}
	age := "of the copies, as estimated"
	if f := r.Freshness; f.Age != nil {
		age = fmt.Sprintf("of the copies; on average they are %s behind", period(*f.Age))
	}
	return []report.Tile{
		{Label: "Pages", Value: n(r.Pages), Note: n(r.Visits) + " visits after the first of each page"},
		{Label: "Change interval", Value: mean, Note: most},
		{Label: "Median page", Value: middle, Note: ci},
		{Label: "Current now", Value: report.Share(r.Freshness.Now), Note: age},
		{Label: "Gone or elsewhere", Value: n(r.Gone + r.Moved), Note: n(r.Back) + " were gone or elsewhere and came back"},
	}
}

// figures draws the plots that have something to show.
func (r *Result) figures() (all []report.Figure, err error) {
	add := func(f report.Figure, failed error) {
		if err == nil && failed == nil {
			all = append(all, f)
		} else if err == nil {
			err = failed
		}
	}
	if r.Rounds > 0 {
		add(report.NewFigure("Pages downloaded in n rounds", "Share of the pages, and of the start pages, that were downloaded in exactly n of the rounds.",
			report.Chart{XLabel: "rounds", YLabel: "pages", Lines: r.downloadLines()}))
	}
	if line := r.roundLine(); len(line.Points) > 0 {
		add(report.NewFigure("Freshness by round", "Share of a round's visits that found the main text unchanged, with 95 % intervals.",
			report.Chart{XLabel: "round", YLabel: "unchanged", Lines: []report.Line{line}}))
	}
	if lines, u := r.visitLines(); len(lines) > 0 {
		add(report.NewFigure("Visits", "Visits to pages, and those that found another main text, in equal parts of the time.",
			report.Chart{XLabel: u.name + " since the first", YLabel: "visits", XNumbers: true, YCounts: true, Lines: lines}))
	}
	for _, k := range []struct {
		of     string
		groups []Group
	}{{"top-level domain", r.TLD}, {"second level", r.Second}, {"depth", r.Depth}, {"kind of links on the page", r.Kind}} {
		if rows, u := ranges(k.groups); len(rows) > 0 {
			add(report.NewRanges("The median page by "+k.of, "Estimated time between two changes of the median page of each group, with 95 % intervals.", u.name, rows))
		}
	}
	return all, err
}

func (r *Result) downloadLines() (lines []report.Line) {
	for _, of := range []struct {
		name   string
		counts []int
	}{{"pages", r.Downloads}, {"start pages", r.SeedDownloads}} {
		sum := 0
		for _, n := range of.counts {
			sum += n
		}
		if sum == 0 {
			continue
		}
		line := report.Line{Name: of.name, Stems: true}
		for n, pages := range of.counts {
			line.Points = append(line.Points, report.Point{X: float64(n), Y: float64(pages) / float64(sum)})
		}
		lines = append(lines, line)
	}
	return lines
}

func (r *Result) roundLine() (line report.Line) {
	line.Dots = true
	for i, f := range r.Freshness.Rounds {
		if f.Looks == 0 {
			continue
		}
		line.Points = append(line.Points, report.Point{X: float64(i + 1), Y: float64(f.AsItIs) / float64(f.Looks)})
		line.Band = append(line.Band, stats.Wilson(int(f.AsItIs), int(f.Looks)))
	}
	return line
}

// visitLines are the visits in parts of the time, and those that found a change.
func (r *Result) visitLines() ([]report.Line, unit) {
	all, changed := report.Line{Name: "visits"}, report.Line{Name: "another main text"}
	parts := r.pulse.parts()
	if len(parts) == 0 {
		return nil, unit{}
	}
	u := unitOf(float64(parts[len(parts)-1].at) / msPerDay / 2)
	for _, p := range parts {
		at := report.Point{X: float64(p.at) / msPerDay / u.days, Y: float64(p.visits)}
		all.Points = append(all.Points, at)
		if p.changed > 0 { // the axis is logarithmic
			changed.Points = append(changed.Points, report.Point{X: at.X, Y: float64(p.changed)})
		}
	}
	all.Dots, changed.Dots = len(all.Points) <= mostParts/2, true
	if len(changed.Points) == 0 {
		return []report.Line{all}, u
	}
	return []report.Line{all, changed}, u
}

// ranges are the intervals of the first groups, in a unit that fits the shortest.
func ranges(groups []Group) (rows []report.Range, u unit) {
	u = units[0]
	for _, g := range groups[:min(len(groups), mostRanges)] {
		if g.Interval != nil && *g.Interval < u.days {
			u = unitOf(*g.Interval)
		}
	}
	for _, g := range groups {
		if g.Interval != nil && len(rows) < mostRanges {
			rows = append(rows, report.Range{Name: g.Name, Value: *g.Interval / u.days, Lo: g.CI[0] / u.days, Hi: g.CI[1] / u.days})
		}
	}
	return rows, u
}
