package eval

import (
	"bytes"
	"fmt"
	"html/template"
	"image/color"
	"regexp"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
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

// maxSeries is how many colours report.css has; later series use them again.
const maxSeries = 6

// Plot sizes in points. The viewBox scales, and 10 pt is readable on a phone.
const (
	plotWidth  = 400
	plotHeight = 240
)

// series is one line of a plot.
type series struct {
	Name   string
	Points []Point
	Band   []Interval // around each point; nil for none
}

// chart is a plot of shares against pages.
type chart struct {
	YLabel   string
	Series   []series
	Baseline *float64 // a level to compare with, nil for none
	Zoom     bool     // end the axis above the highest point, not at 100 %
}

// svg draws the chart as an inline SVG element. The text in it is ours alone:
// series are named in the legend, which the template escapes.
func (c chart) svg(title string) (template.HTML, error) {
	p := plot.New()
	style(p, c.YLabel)
	xmax, ymax := c.limits()
	grid := plotter.NewGrid()
	grid.Vertical.Width = 0
	grid.Horizontal.Color, grid.Horizontal.Width = ink(inkGrid), vg.Points(0.6)
	p.Add(grid)
	if err := c.addSeries(p, xmax); err != nil {
		return "", fmt.Errorf("plot %q: %w", title, err)
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, xmax, 0, ymax // Add widened them

	canvas := vgsvg.NewWith(vgsvg.UseWH(plotWidth, plotHeight))
	p.Draw(draw.New(canvas))
	var buf bytes.Buffer
	if _, err := canvas.WriteTo(&buf); err != nil {
		return "", fmt.Errorf("plot %q: %w", title, err)
	}
	return inline(buf.Bytes(), title), nil
}

// limits are the ends of the axes.
func (c chart) limits() (xmax, ymax float64) {
	xmax, highest := 1.0, 0.0
	for _, s := range c.Series {
		for _, pt := range s.Points {
			xmax, highest = max(xmax, float64(pt.Pages)), max(highest, pt.Share)
		}
		for _, ci := range s.Band {
			highest = max(highest, ci[1])
		}
	}
	if c.Baseline != nil {
		highest = max(highest, *c.Baseline)
	}
	if c.Zoom {
		for _, end := range []float64{0.05, 0.1, 0.25, 0.5} { // whole percents at the fifths
			if highest <= end {
				return xmax, end
			}
		}
	}
	return xmax, 1
}

func (c chart) addSeries(p *plot.Plot, xmax float64) error {
	if c.Baseline != nil {
		base, err := plotter.NewLine(plotter.XYs{{X: 0, Y: *c.Baseline}, {X: xmax, Y: *c.Baseline}})
		if err != nil {
			return err
		}
		base.Color, base.Width = ink(inkBase), vg.Points(1.2)
		base.Dashes = []vg.Length{vg.Points(2), vg.Points(3)}
		p.Add(base)
	}
	for i := len(c.Series) - 1; i >= 0; i-- { // the first on top
		if err := addOne(p, c.Series[i], i); err != nil {
			return err
		}
	}
	return nil
}

func addOne(p *plot.Plot, s series, i int) error {
	if len(s.Points) == 0 {
		return nil
	}
	xys := make(plotter.XYs, len(s.Points))
	for k, pt := range s.Points {
		xys[k] = plotter.XY{X: float64(pt.Pages), Y: pt.Share}
	}
	colour := byte(i%maxSeries + 1)
	if len(s.Band) == len(s.Points) && len(s.Points) > 1 {
		outline := make(plotter.XYs, 0, 2*len(s.Points))
		for k, pt := range xys {
			outline = append(outline, plotter.XY{X: pt.X, Y: s.Band[k][0]})
		}
		for k := len(xys) - 1; k >= 0; k-- {
			outline = append(outline, plotter.XY{X: xys[k].X, Y: s.Band[k][1]})
		}
		band, err := plotter.NewPolygon(outline)
		if err != nil {
			return err
		}
		band.Color = ink(inkBand + colour)
		band.LineStyle.Width = 0
		p.Add(band)
	}
	line, err := plotter.NewLine(xys)
	if err != nil {
		return err
	}
	line.Color, line.Width = ink(colour), vg.Points(1.8)
	line.Dashes = dashes(i)
	p.Add(line)
	if len(xys) == 1 { // a line of one point is not seen
		dot, err := plotter.NewScatter(xys)
		if err != nil {
			return err
		}
		dot.GlyphStyle = draw.GlyphStyle{Color: ink(colour), Radius: vg.Points(3), Shape: draw.CircleGlyph{}}
		p.Add(dot)
	}
	return nil
}

// dashes tells lines apart without colour; the first is solid.
func dashes(i int) []vg.Length {
	patterns := [][]vg.Length{nil, {6, 3}, {2, 2}, {8, 3, 2, 3}, {4, 4}, {1, 3}}
	return patterns[i%len(patterns)]
}

// style gives the plot the report's looks.
func style(p *plot.Plot, ylabel string) {
	p.BackgroundColor = nil
	p.X.Label.Text, p.Y.Label.Text = "pages fetched", ylabel
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Color = ink(inkInk)
		axis.LineStyle.Width = vg.Points(0.8)
		axis.Tick.Color, axis.Tick.Length = ink(inkInk), vg.Points(3)
		axis.Label.TextStyle.Color, axis.Tick.Label.Color = ink(inkInk), ink(inkInk)
		axis.Label.TextStyle.Font = sans(10)
		axis.Tick.Label.Font = sans(9.5)
		axis.Label.Padding = vg.Points(4)
		axis.Padding = 0
	}
	p.Y.LineStyle.Width = 0
	p.Y.Tick.Length = 0
	p.Y.Tick.Marker = percentTicks{}
	p.X.Tick.Marker = pageTicks{}
}

func sans(size float64) font.Font {
	f := plot.DefaultFont
	f.Variant, f.Size = "Sans", vg.Points(size)
	return f
}

// percentTicks marks every fifth of the axis, from 0.
type percentTicks struct{}

func (percentTicks) Ticks(_, hi float64) []plot.Tick {
	var t []plot.Tick
	for i := range 6 {
		v := hi * float64(i) / 5
		t = append(t, plot.Tick{Value: v, Label: fmt.Sprintf("%.0f %%", 100*v)})
	}
	return t
}

// pageTicks marks whole pages at round numbers, at most six.
type pageTicks struct{}

func (pageTicks) Ticks(_, hi float64) []plot.Tick {
	step := NiceStep(int(hi*50/6) + 1) // a step that gives 50 points of 50/6 as many gives 6 of these
	var t []plot.Tick
	for v := 0; float64(v) <= hi; v += step {
		t = append(t, plot.Tick{Value: float64(v), Label: number(v)})
	}
	return t
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
