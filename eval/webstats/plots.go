package webstats

import (
	"fmt"
	"math"

	"fossick/internal/report"
)

// curves are what the page plots besides tables.
type curves struct {
	seeds, paths, size, time []report.Point
	requested, downloaded    []report.Point // by depth
	found                    []report.Point
	degrees                  []report.Line // how many have so many links, or more
	fits                     []report.Line
	forecast                 report.Line
	foretold                 string
}

// fewSeeds have no shape that a plot would show.
const fewSeeds = 20

// mostPoints is about how many points a line has.
const mostPoints = 200

func (c *counts) curves(laws []*powerLaw) (k curves) {
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
		all := rising(of)
		if len(all) == 0 {
			continue
		}
		k.degrees = append(k.degrees, report.Line{Name: lawNames[i], Points: orMore(all)})
		if f := laws[i]; f != nil && f.p >= ruledOut {
			k.fits = append(k.fits, report.Line{Name: fmt.Sprintf("%s: α = %.2f from %d", lawNames[i], f.alpha, f.start), Points: f.line(all)})
		}
	}
	return k
}

// shares is the share of each step of values, up to a value; the last has all beyond.
func shares(s *spread, step, most int64) (points []report.Point) {
	before := int64(0)
	for from := int64(0); from < most && before < s.n; from += step {
		n := s.below(from + step)
		points = append(points, report.Point{X: float64(from), Y: float64(n-before) / float64(s.n)})
		before = n
	}
	return points
}

// soFar is the share of values up to each of even steps of their logarithm.
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

// orMore is how many have a degree or a higher one, at about even steps of its logarithm.
func orMore(all []degreeCount) (points []report.Point) {
	left := int64(0)
	for _, d := range all {
		left += d.n
	}
	next := 0.
	for i, d := range all {
		if x := math.Log(float64(d.degree)); x >= next || i == len(all)-1 {
			points = append(points, report.Point{X: float64(d.degree), Y: float64(left)})
			next = x + math.Log(float64(all[len(all)-1].degree))/mostPoints
		}
		left -= d.n
	}
	return points
}

// line is the fitted law from x_min to the highest degree.
func (f *powerLaw) line(all []degreeCount) (points []report.Point) {
	last := float64(all[len(all)-1].degree)
	start := float64(f.start)
	for i := range 21 {
		x := start * math.Pow(last/start, float64(i)/20)
		if y := float64(f.tail) * f.from(x); y >= 1 {
			points = append(points, report.Point{X: x, Y: y})
		}
	}
	return points
}

// figures draws the plots that have something to show.
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
		{"Links to and from pages (degrees)", "Number of pages, or URLs, with at least this many links, and the power laws fitted to the tails, without those that their test rules out. The table of fits has all.",
			report.Chart{XLabel: "links", YLabel: "number with at least as many", XLog: true, YCounts: true, Lines: append(k.degrees, k.fits...)}},
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
