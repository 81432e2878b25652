package report

import (
	"bytes"
	"fmt"
	"html/template"
	"image/color"
	"regexp"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A plot is drawn in colours that nobody uses, #0102xx, which become CSS
// variables in the SVG: so the page's light and dark themes colour it too.
const (
	inkInk  = 0xf0 // axes and text
	inkGrid = 0xf1
	inkBase = 0xf2 // the line to compare with
	inkBand = 0x10 // added to a line's colour: the same, thin
)

func ink(i byte) color.Color { return color.NRGBA{0x01, 0x02, i, 0xff} }

// maxLines is how many colours report.css has; later lines use them again, with
// their points marked.
const maxLines = 6

// Plot sizes in points. The viewBox scales, and 10 pt is readable on a phone.
const (
	plotWidth  = 400
	plotHeight = 240
)

// Point is a point of a line. Y is a share in [0,1], or a count where Chart.YCounts
// says so; X is a count, or a share where Chart.XShares, any number where
// Chart.XNumbers says so.
type Point struct{ X, Y float64 }

// Line is one line of a plot.
type Line struct {
	Name   string
	Points []Point
	Band   [][2]float64 // around each point; nil for none
	Dots   bool         // mark the points: they are few, and what was measured
}

// Fit says which part of the shares the axis spans.
type Fit byte

// The fits.
const (
	FitNone Fit = iota // 0 to 100 %
	FitTop             // from 0 to a round share above the highest
	FitBoth            // from a round share below the lowest to one above the highest
)

// Chart is a plot of shares or counts.
type Chart struct {
	XLabel, YLabel string
	Lines          []Line
	Level          *float64 // a share to compare with, nil for none
	LevelName      string
	Diagonal       string // name of the line y = x, "" for none
	XShares        bool   // X are shares, and the axis runs from 0 to 100 %
	XNumbers       bool   // X are numbers such as 0.05, and the axis spans them
	YCounts        bool   // Y are counts of 1 or more, on a logarithmic axis
	YNumbers       bool   // Y are numbers in [−1,1] that are no shares, such as a correlation
	Fit            Fit
}

// svg draws the chart as an inline SVG element. The text in it is ours alone:
// lines are named in the legend, which the template escapes.
func (c Chart) svg(title string) (template.HTML, error) {
	p := plot.New()
	c.style(p)
	b := c.limits()
	grid := plotter.NewGrid()
	grid.Vertical.Width = 0
	grid.Horizontal.Color, grid.Horizontal.Width = ink(inkGrid), vg.Points(0.6)
	p.Add(grid)
	if err := c.add(p, b); err != nil {
		return "", fmt.Errorf("plot %q: %w", title, err)
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = b.x0, b.x1, b.y0, b.y1 // Add widened them

	canvas := vgsvg.NewWith(vgsvg.UseWH(plotWidth, plotHeight))
	p.Draw(draw.New(canvas))
	var buf bytes.Buffer
	if _, err := canvas.WriteTo(&buf); err != nil {
		return "", fmt.Errorf("plot %q: %w", title, err)
	}
	return inline(buf.Bytes(), title), nil
}

func (c Chart) add(p *plot.Plot, b box) error {
	if c.Level != nil {
		if err := addBase(p, Point{b.x0, *c.Level}, Point{b.x1, *c.Level}); err != nil {
			return err
		}
	}
	if c.Diagonal != "" {
		if err := addBase(p, Point{0, 0}, Point{1, 1}); err != nil {
			return err
		}
	}
	for i := len(c.Lines) - 1; i >= 0; i-- { // the first on top
		if err := addLine(p, c.Lines[i], i); err != nil {
			return err
		}
	}
	return nil
}

// addBase draws a line to compare with.
func addBase(p *plot.Plot, from, to Point) error {
	base, err := plotter.NewLine(plotter.XYs{{X: from.X, Y: from.Y}, {X: to.X, Y: to.Y}})
	if err != nil {
		return err
	}
	base.Color, base.Width = ink(inkBase), vg.Points(1.2)
	base.Dashes = []vg.Length{vg.Points(2), vg.Points(3)}
	p.Add(base)
	return nil
}

func addLine(p *plot.Plot, l Line, i int) error {
	if len(l.Points) == 0 {
		return nil
	}
	xys := make(plotter.XYs, len(l.Points))
	for k, pt := range l.Points {
		xys[k] = plotter.XY(pt)
	}
	colour := byte(i%maxLines + 1)
	if len(l.Band) == len(l.Points) && len(l.Points) > 1 {
		if err := addBand(p, xys, l.Band, colour); err != nil {
			return err
		}
	}
	line, err := plotter.NewLine(xys)
	if err != nil {
		return err
	}
	line.Color, line.Width = ink(colour), vg.Points(1.8)
	line.Dashes = dashes(i)
	p.Add(line)
	if l.Dots || i >= maxLines || len(xys) == 1 { // a line of one point is not seen
		dots, err := plotter.NewScatter(xys)
		if err != nil {
			return err
		}
		dots.GlyphStyle = draw.GlyphStyle{Color: ink(colour), Radius: vg.Points(3), Shape: draw.CircleGlyph{}}
		p.Add(dots)
	}
	return nil
}

func addBand(p *plot.Plot, xys plotter.XYs, ends [][2]float64, colour byte) error {
	outline := make(plotter.XYs, 0, 2*len(xys))
	for k, pt := range xys {
		outline = append(outline, plotter.XY{X: pt.X, Y: ends[k][0]})
	}
	for k := len(xys) - 1; k >= 0; k-- {
		outline = append(outline, plotter.XY{X: xys[k].X, Y: ends[k][1]})
	}
	band, err := plotter.NewPolygon(outline)
	if err != nil {
		return err
	}
	band.Color = ink(inkBand + colour)
	band.LineStyle.Width = 0
	p.Add(band)
	return nil
}

// dashes tells lines apart without colour; the first is solid.
func dashes(i int) []vg.Length {
	patterns := [][]vg.Length{nil, {6, 3}, {2, 2}, {8, 3, 2, 3}, {4, 4}, {1, 3}}
	return patterns[i%len(patterns)]
}

var (
	svgOpen   = regexp.MustCompile(`(?s)^.*?<svg[^>]*>`)
	inkHex    = regexp.MustCompile(`#0102([0-9A-Fa-f]{2})`)
	bandHex   = regexp.MustCompile(`fill:#01021([0-9])`)
	svgFamily = regexp.MustCompile(`font-family:[^;"]*`)
)

// inline makes an SVG file an element of the page: no XML head, a viewBox
// instead of a fixed size, variables for colours, the page's font.
func inline(file []byte, title string) template.HTML {
	head := fmt.Sprintf(`<svg viewBox="0 0 %d %d" role="img" aria-label="%s">`, plotWidth, plotHeight, template.HTMLEscapeString(title))
	body := svgOpen.ReplaceAll(file, nil)
	body = bandHex.ReplaceAll(body, []byte("fill:var(--ink-0$1);fill-opacity:0.16"))
	body = inkHex.ReplaceAllFunc(body, func(m []byte) []byte {
		return fmt.Appendf(nil, "var(--ink-%s)", bytes.ToLower(m[5:]))
	})
	body = svgFamily.ReplaceAll(body, []byte("font-family:inherit"))
	return template.HTML(head + string(body)) // drawn by us, from numbers
}
