package webstats

import (
	_ "embed" // report.html
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"fossick/internal/report"
)

//go:embed report.html
var reportHTML string

type view struct {
	report.Head
	Plots  []report.Figure
	Tables []viewTable
}

type viewTable struct {
	Title, Note string
	Columns     []viewCell
	Rows        [][]viewCell
}

type viewCell struct {
	Text    string
	Numeric bool
}

// WriteReport writes an HTML page; of names the crawl.
func (r *Result) WriteReport(w io.Writer, of string, made ...report.Fact) error {
	head := report.Head{Title: "What a web is made of", Subtitle: of, Sentences: r.Sentences(), Tiles: r.facts.tiles(), Made: made}
	plots, err := r.curves.figures()
	if err != nil {
		return err
	}
	return writePage(w, head, plots, r.Tables)
}

func writePage(w io.Writer, head report.Head, plots []report.Figure, tables []resultTable) error {
	v := view{Head: head, Plots: plots}
	for _, t := range tables {
		v.Tables = append(v.Tables, viewOf(t))
	}
	return report.Write(w, reportHTML, v)
}

func viewOf(t resultTable) viewTable {
	v := viewTable{Title: t.Title, Note: t.Note}
	for _, c := range t.Columns {
		v.Columns = append(v.Columns, viewCell{c.Title, c.Unit != inLetters})
	}
	for _, row := range t.Rows {
		var cells []viewCell
		for k, value := range row {
			cells = append(cells, viewCell{report.Cut(show(value, t.Columns[k].Unit), 80), t.Columns[k].Unit != inLetters})
		}
		v.Rows = append(v.Rows, cells)
	}
	return v
}

func (f facts) tiles() []report.Tile {
	n := func(x int64) string { return report.Number(int(x)) }
	return []report.Tile{
		{Label: "URLs known", Value: n(f.known), Note: "requests went to hosts: " + n(f.hosts)},
		{Label: "Requested", Value: n(f.requested), Note: report.StartPages(int(f.seeds)) + " among them"},
		{Label: "Downloaded", Value: n(f.downloaded), Note: show(share(f.downloaded, f.requested), inShares) + " of those requested; Korea 91.3 %"},
		{Label: "Stored", Value: n(f.pages), Note: "and duplicates or near-duplicates: " + n(f.copies)},
	}
}

// Sentences summarise the result.
func (r *Result) Sentences() []string {
	f := r.facts
	if f.requested == 0 {
		return []string{"No URL has been requested yet."}
	}
	all := []string{fmt.Sprintf("Of %s requested URLs %s gave a page; %s", report.Number(int(f.requested)), show(share(f.downloaded, f.requested), inShares), paperOutcome)}
	if with := f.pages + f.copies; with > 0 && f.copies > 0 {
		all = append(all, fmt.Sprintf("%s of the pages are duplicates or near-duplicates of another.", show(share(f.copies, with), inShares)))
	}
	if f.shells > 0 {
		all = append(all, report.ScriptOnly(int(f.shells))+".")
	}
	if f.sized > 0 {
		all = append(all, fmt.Sprintf("%s of the bytes of stored pages are markup, scripts and blanks.", show(share(f.unseen, f.sized), inShares)))
	}
	return all
}

type curves struct {
	seeds, paths, size, time []report.Point
	requested, downloaded    []report.Point // by depth
	found                    []report.Point
	degrees                  []report.Line // complementary cumulative counts
	forecast                 report.Line
	foretold                 string
}

const fewSeeds = 20

const mostPoints = 200

func (c *counts) curves() (k curves) {
	if c.urls.seedLength.n >= fewSeeds {
		k.seeds = shares(&c.urls.seedLength, 2, 100)
	}
	k.paths = shares(&c.urls.pathLength, 4, 256)
	k.size, k.time = soFar(&c.pages.size, 64), soFar(&c.urls.time, 1)
	for i, d := range c.urls.depths {
		for _, line := range []struct {
			points *[]report.Point
			n      int64
		}{{&k.requested, d.requested}, {&k.downloaded, d.downloaded}, {&k.found, d.found}} {
			if line.n > 0 { // the axis is logarithmic
				*line.points = append(*line.points, report.Point{X: float64(i), Y: float64(line.n)})
			}
		}
	}
	d := c.pages.degrees
	for i, of := range []map[int]int64{d.in, d.known, d.out} {
		if points := orMore(of); len(points) > 0 {
			k.degrees = append(k.degrees, report.Line{Name: []string{"in, pages", "in, URLs", "out, pages"}[i], Points: points})
		}
	}
	return k
}

// shares returns the share of values in each step below most.
func shares(s *spread, step, most int64) (points []report.Point) {
	before := int64(0)
	for from := int64(0); from < most && before < s.n; from += step {
		n := s.below(from + step)
		points = append(points, report.Point{X: float64(from), Y: float64(n-before) / float64(s.n)})
		before = n
	}
	return points
}

func soFar(s *spread, least float64) (points []report.Point) {
	if s.n == 0 {
		return nil
	}
	most := math.Max(2*least, float64(s.most+1))
	last := int64(-1)
	for i := range mostPoints + 1 {
		x := int64(least * math.Pow(most/least, float64(i)/mostPoints))
		if x == last {
			continue
		}
		last = x
		points = append(points, report.Point{X: float64(x), Y: float64(s.below(x+1)) / float64(s.n)})
	}
	return points
}

// orMore returns how many have at least a degree, at about logarithmic steps of the positive degrees.
func orMore(counts map[int]int64) (points []report.Point) {
	degrees := slices.DeleteFunc(slices.Sorted(maps.Keys(counts)), func(degree int) bool { return degree == 0 })
	left := sum(counts) - counts[0]
	next := 0.
	for i, degree := range degrees {
		if x := math.Log(float64(degree)); x >= next || i == len(degrees)-1 {
			points = append(points, report.Point{X: float64(degree), Y: float64(left)})
			next = x + math.Log(float64(degrees[len(degrees)-1]))/mostPoints
		}
		left -= counts[degree]
	}
	return points
}

func (k *curves) figures() (all []report.Figure, err error) {
	for _, f := range []struct {
		title, caption string
		chart          report.Chart
	}{
		{"Page sizes", "Share of the stored pages that have at most this size.", k.chart("bytes", "share of pages", k.size)},
		{"Response times", "Share of the answers that were complete within this time.", k.chart("milliseconds", "share of answers", k.time)},
		{"Lengths of start pages", "Without the scheme, in steps of two characters. Korea's were from 5 to 49, 17.4 on average.", lengths("share of start pages", k.seeds)},
		{"Lengths of paths", "Of the requested URLs, in steps of four characters. Those of Korea's downloaded pages were up to 255, 71.8 on average.", lengths("share of URLs", k.paths)},
		{"By depth", "URLs requested and downloaded by depth, and new URLs first named by links of these pages.", k.byDepth()},
		{"Links to and from pages (degrees)", "Number of pages, or URLs, with at least this many links.",
			report.Chart{XLabel: "links", YLabel: "number with at least as many", XLog: true, YCounts: true, Lines: k.degrees}},
		{"Forecasts of network states", k.foretold, k.reliability()},
	} {
		if len(f.chart.Lines) == 0 || len(f.chart.Lines[0].Points) == 0 {
			continue
		}
		drawn, err := report.NewFigure(f.title, f.caption, f.chart)
		if err != nil {
			return nil, err
		}
		all = append(all, drawn)
	}
	return all, nil
}

func (k *curves) chart(x, y string, points []report.Point) report.Chart {
	return report.Chart{XLabel: x, YLabel: y, XLog: true, Lines: []report.Line{{Points: points}}}
}

func lengths(y string, points []report.Point) report.Chart {
	return report.Chart{XLabel: "characters", YLabel: y, Fit: report.FitTop, Lines: []report.Line{{Points: points, Stems: true}}}
}

func (k *curves) byDepth() report.Chart {
	return report.Chart{XLabel: "depth", YLabel: "URLs", YCounts: true, Lines: []report.Line{
		{Name: "requested", Points: k.requested, Stems: true}, {Name: "downloaded", Points: k.downloaded, Stems: true}, {Name: "new links", Points: k.found, Stems: true},
	}}
}
