package lab

import (
	"cmp"
	_ "embed" // report.html
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"fossick/internal/cli"
	"fossick/internal/report"
)

//go:embed report.html
var reportHTML string

const linesAPlot = 6

type view struct {
	report.Head
	Plots  []report.Figure
	Rows   []policyRow
	Caps   []int // columns: harvest with at most so many pages per host
	Tests  []testRow
	Pages  int
	Sets   int
	Adjust int // number of tests that P is corrected for
}

type policyRow struct {
	Name, About string
	policyFigures
}

type testRow struct {
	pairedTest
	Sure bool // adjusted P below 0.05
}

// writeReport writes the HTML page; about describes each policy, and made says how the result was made.
func (r *labResult) writeReport(w io.Writer, about map[string]string, made []report.Fact) error {
	best := slices.Clone(r.figures)
	slices.SortStableFunc(best, func(a, b policyFigures) int { return cmp.Compare(b.Harvest.Value, a.Harvest.Value) })
	v := view{Pages: r.Pages, Sets: r.StartSets, Adjust: len(r.Tests), Caps: caps[:]}
	v.Title = "Policies for " + r.Topic
	v.Subtitle = fmt.Sprintf("%s: %s, of them %s on topic", filepath.Base(r.Corpus), report.Pages(r.CorpusPages), report.Number(r.Targets))
	v.Made = made
	v.Sentences = r.sentences(best)
	for _, f := range best[:min(len(best), 4)] {
		note := "harvest, recall " + report.Percent(f.Recall.Value)
		if f.Harvest.CI != nil {
			note = "harvest, 95 % interval " + report.Span(*f.Harvest.CI)
		}
		v.Tiles = append(v.Tiles, report.Tile{Label: f.Policy, Value: report.Percent(f.Harvest.Value), Note: note})
	}
	for _, f := range best {
		v.Rows = append(v.Rows, policyRow{f.Policy, about[f.Policy], f})
	}
	for _, t := range r.Tests {
		if t.Difference < 0 {
			t.A, t.B, t.Difference = t.B, t.A, -t.Difference
			if t.CI != nil {
				t.CI = &[2]float64{-t.CI[1], -t.CI[0]}
			}
		}
		v.Tests = append(v.Tests, testRow{t, t.Adjusted < 0.05})
	}
	slices.SortStableFunc(v.Tests, func(a, b testRow) int { return cmp.Compare(b.Difference, a.Difference) })
	var err error
	if v.Plots, err = plots(best); err != nil {
		return err
	}
	sweep, err := sweepPlot(r.RhoSweep)
	if err != nil {
		return err
	}
	if sweep != nil {
		v.Plots = slices.Insert(v.Plots, 0, *sweep)
	}
	return report.Write(w, reportHTML, v)
}

// sentences describes the results, the most important first; oracles do not compete.
func (r *labResult) sentences(best []policyFigures) []string {
	var race []policyFigures
	oracle := ""
	for _, f := range best {
		if !f.Oracle {
			race = append(race, f)
		} else if oracle == "" {
			oracle = fmt.Sprintf("%s, which knows the truth, has %s.", f.Policy, report.Percent(f.Harvest.Value))
		}
	}
	var out []string
	if len(race) > 0 {
		out = append(out, r.lead(race)...)
	}
	if r.NoTests != "" {
		out = append(out, strings.Split(r.NoTests, "\n")...)
	}
	if oracle != "" {
		out = append(out, oracle)
	}
	out = append(out, fmt.Sprintf("Each crawl began with %s on topic, drawn at random; they count as fetched.", report.Pages(r.Starts)))
	for _, f := range best {
		if f.Short > 0 {
			out = append(out, cli.Sprintf("%s ran out of URLs in %d of %d crawls.", f.Policy, f.Short, r.StartSets))
		}
	}
	return out
}

func (r *labResult) lead(race []policyFigures) []string {
	top := race[0]
	first := cli.Sprintf("Of the %s that it fetches, %s has %s on topic, on average over %d crawls", report.Pages(r.Pages), top.Policy, report.Percent(top.Harvest.Value), r.StartSets)
	if len(race) == 1 {
		return []string{first + r.baseline(race) + "."}
	}
	if first += fmt.Sprintf("; next is %s with %s%s.", race[1].Policy, report.Percent(race[1].Harvest.Value), r.baseline(race)); len(r.Tests) == 0 {
		return []string{first}
	}
	var equal []string
	for _, f := range race[1:] {
		for _, t := range r.Tests {
			if (t.A == top.Policy && t.B == f.Policy || t.B == top.Policy && t.A == f.Policy) && t.Adjusted >= 0.05 {
				equal = append(equal, f.Policy)
			}
		}
	}
	if len(equal) == 0 {
		return []string{first, "It is ahead of each other policy by more than chance between start sets (p < 0.05, adjusted for all pairs)."}
	}
	return []string{first, fmt.Sprintf("Chance between start sets could explain its lead over %s (p ≥ 0.05, adjusted for all pairs).", list(equal))}
}

// baseline compares with breadth first when it competes, else random pages; "" when already named.
func (r *labResult) baseline(race []policyFigures) string {
	for i, f := range race {
		if f.Policy != "bfs" {
			continue
		}
		if i < 2 {
			return ""
		}
		return fmt.Sprintf("; bfs, breadth first, has %s", report.Percent(f.Harvest.Value))
	}
	if r.CorpusPages == 0 {
		return ""
	}
	return fmt.Sprintf("; pages at random would have %s", report.Percent(float64(r.Targets)/float64(r.CorpusPages)))
}

func list(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

func plots(best []policyFigures) ([]report.Figure, error) {
	kinds := []struct {
		title, caption, x, y string
		line                 func(policyFigures) report.Line
	}{
		{"Harvest", "The share of the pages fetched so far that are on topic: mean of the crawls, with the 95 % interval over the start sets.", "pages fetched", "on topic, of those fetched", func(f policyFigures) report.Line { return line(f.Policy, f.Curve) }},
		{"Recall", "The share of the corpus's pages on topic that were fetched so far.", "pages fetched", "share found", func(f policyFigures) report.Line { return line(f.Policy, f.RecallCurve) }},
		{"Overlap", "The share of their first n pages that two crawls from different start sets have in common, the mean of all pairs.", "pages fetched", "in common", overlapLine},
		{"By time", "Pages on topic after this simulated time, the mean of the crawls; a crawl that has ended keeps its number.", "seconds", "pages on topic", timeLine},
	}
	var out []report.Figure
	for _, k := range kinds {
		for part := range slices.Chunk(best, linesAPlot) {
			title := k.title
			if part[0].Policy != best[0].Policy {
				title += ", further policies"
			}
			c := report.Chart{XLabel: k.x, YLabel: k.y, Fit: report.FitTop}
			for _, f := range part {
				if l := k.line(f); len(l.Points) > 0 {
					c.Lines = append(c.Lines, l)
				}
			}
			if len(c.Lines) == 0 {
				continue
			}
			fig, err := report.NewFigure(title, k.caption, c)
			if err != nil {
				return nil, err
			}
			out = append(out, fig)
		}
	}
	return out, nil
}

func overlapLine(f policyFigures) report.Line {
	l := report.Line{Name: f.Policy}
	for _, p := range f.Overlap {
		l.Points = append(l.Points, report.Point{X: float64(p.Pages), Y: p.Share})
	}
	return l
}

func timeLine(f policyFigures) report.Line {
	l := report.Line{Name: f.Policy}
	for _, p := range f.TimeCurve {
		l.Points = append(l.Points, report.Point{X: p.Seconds, Y: p.Relevant})
	}
	return l
}

func line(name string, points []curvePoint) report.Line {
	l := report.Line{Name: name}
	known := false
	for _, p := range points {
		l.Points = append(l.Points, report.Point{X: float64(p.Pages), Y: p.Value})
		band := [2]float64{p.Value, p.Value} // an empty band without an interval
		if p.CI != nil {
			band, known = [2]float64{max(0, p.CI[0]), min(1, p.CI[1])}, true
		}
		l.Band = append(l.Band, band)
	}
	if !known {
		l.Band = nil
	}
	return l
}

// sweepPlot plots harvest against ρ, as in paper A5; nil without a sweep.
func sweepPlot(points []rhoPoint) (*report.Figure, error) {
	if len(points) == 0 {
		return nil, nil
	}
	l := report.Line{Name: "paper"}
	best := points[0]
	for _, p := range points {
		l.Points = append(l.Points, report.Point{X: p.Rho, Y: p.Harvest})
		if p.CI != nil {
			l.Band = append(l.Band, [2]float64{max(0, p.CI[0]), min(1, p.CI[1])})
		}
		if p.Harvest > best.Harvest {
			best = p
		}
	}
	if len(l.Band) < len(l.Points) {
		l.Band = nil // a point without an interval
	}
	caption := fmt.Sprintf("Harvest of the policy paper by ρ, the share of R that a page inherits from the page that led to it; best at %g. The band is the 95 %% interval over the start sets.", best.Rho)
	f, err := report.NewFigure("Harvest against ρ", caption, report.Chart{
		XLabel: "ρ", YLabel: "on topic, of those fetched", XNumbers: true, Fit: report.FitTop, Lines: []report.Line{l},
	})
	return &f, err
}
