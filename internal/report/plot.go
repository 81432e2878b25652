package report

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxLines is the number of colours in report.css; later lines reuse them.
const maxLines = 6

// Point is a point of a line: Y is a share in [0,1] and X a count, unless the Chart says otherwise.
type Point struct{ X, Y float64 }

// Line is one line of a plot.
type Line struct {
	Name   string
	Points []Point
	Band   [][2]float64 // interval at each point, or nil
	Dots   bool         // mark the points, because they are few and measured
	Stems  bool         // draw separate points with stems from the axis, like a histogram
}

type fit byte

const (
	FitNone fit = iota // 0 to 100 %
	FitTop             // from 0 to a round share above the maximum
	FitBoth            // from a round share below the minimum to one above the maximum
)

// Chart is a plot of shares or counts.
type Chart struct {
	XLabel, YLabel string
	Lines          []Line
	Level          *float64 // a share to compare with, or nil
	LevelName      string
	Diagonal       string // name of the line y = x, or ""
	XShares        bool   // X are shares, on an axis from 0 to 100 %
	XNumbers       bool   // X are numbers such as 0.05, which the axis spans
	XLog           bool   // X are above 0, on a logarithmic axis
	YCounts        bool   // Y are counts of at least 1, on a logarithmic axis
	YNumbers       bool   // Y are numbers in [−1,1] other than shares, such as a correlation
	Fit            fit
}

type tick struct {
	at    float64
	label string
}

type ticker func(lo, hi float64) []tick

func (c Chart) tickers() (x, y ticker) {
	x, y = countTicks, percentTicks
	switch {
	case c.XShares:
		x = percentTicks
	case c.XNumbers:
		x = numberTicks
	case c.XLog:
		x = powerTicks
	}
	switch {
	case c.YCounts:
		y = logTicks
	case c.YNumbers:
		y = numberTicks
	}
	return x, y
}

type box struct{ x0, x1, y0, y1 float64 }

func (c Chart) limits() box {
	b := box{x1: 1, y1: 1}
	least, most := math.Inf(1), 0.0
	see := func(y float64) { least, most = min(least, y), max(most, y) }
	for _, l := range c.Lines {
		for _, p := range l.Points {
			b.x1 = max(b.x1, p.X)
			see(p.Y)
		}
		for _, ci := range l.Band {
			see(ci[0])
			see(ci[1])
		}
	}
	if first := c.Lines; len(first) > 0 && first[0].Stems && len(first[0].Points) > 1 { // room for the last stems
		b.x1 += (first[0].Points[1].X - first[0].Points[0].X) / 2
	}
	if c.Level != nil {
		see(*c.Level)
	}
	if c.XNumbers {
		b.x0, b.x1 = c.span()
	}
	if c.XLog {
		b.x0, b.x1 = c.span()
		b.x0 = max(b.x0, b.x1/1e12)
	}
	if c.YNumbers && least < 0 {
		b.y0 = math.Floor(5*least) / 5
	}
	switch {
	case c.YCounts:
		b.y0, b.y1 = 1, roundUp(max(most, 10))
	case c.Fit == FitTop:
		for _, end := range []float64{0.5, 0.25, 0.1, 0.05} { // whole percents at the fifths
			if most <= end {
				b.y1 = end
			}
		}
	case c.Fit == FitBoth && least <= most:
		b.y0, b.y1 = around(least, most)
	}
	return b
}

// around returns the ends of an axis for least to most, shares, in five round steps.
func around(least, most float64) (lo, hi float64) {
	for _, step := range []float64{1, 2, 5, 10} {
		lo = step * math.Floor(min(100*least, 100-5*step)/step)
		if lo >= 0 && 100*most <= lo+5*step {
			return lo / 100, (lo + 5*step) / 100
		}
	}
	return 0, 1
}

func percentTicks(lo, hi float64) []tick {
	var t []tick
	for i := range 6 {
		v := lo + (hi-lo)*float64(i)/5
		t = append(t, tick{v, fmt.Sprintf("%.0f %%", 100*v)})
	}
	return t
}

func countTicks(_, hi float64) []tick {
	step := NiceStep(int(hi*50/6) + 1) // a step that splits 50 into 50 points splits 50/6 times as much into 6
	var t []tick
	for v := 0; float64(v) <= hi; v += step {
		t = append(t, tick{float64(v), Number(v)})
	}
	return t
}

// NiceStep returns a step 1, 2 or 5 times a power of ten that gives a curve of n points at most 50.
func NiceStep(n int) int { return int(roundUp(float64(n) / 50)) }

func (c Chart) span() (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, l := range c.Lines {
		for _, p := range l.Points {
			lo, hi = min(lo, p.X), max(hi, p.X)
		}
	}
	if !(lo < hi) {
		return 0, max(1, 2*hi) // at most one point
	}
	return lo, hi
}

// roundUp returns the least of 1, 2 and 5 times a power of ten that is at least n.
func roundUp(n float64) float64 {
	for base := 1.0; ; base *= 10 {
		for _, f := range []float64{1, 2, 5} {
			if n <= base*f {
				return base * f
			}
		}
	}
}

func numberTicks(lo, hi float64) []tick {
	step := math.Pow(10, math.Floor(math.Log10(hi-lo)))
	for _, part := range []float64{1. / 5, 1. / 2, 1, 2} {
		if (hi-lo)/(step*part) <= 7 {
			step *= part
			break
		}
	}
	var t []tick
	for k := math.Ceil(lo/step-1e-9) + 0; k*step <= hi+1e-9*step; k++ {
		t = append(t, tick{k * step, strconv.FormatFloat(math.Round(k*step*1e9)/1e9, 'f', -1, 64)})
	}
	return t
}

// logTicks marks 1, 2 and 5 times the powers of ten; over two powers, only the powers.
func logTicks(lo, hi float64) []tick {
	var t []tick
	for base := 1.0; base <= hi; base *= 10 {
		for _, f := range []float64{1, 2, 5} {
			if v := base * f; v >= lo && v <= hi && (f == 1 || hi <= 100*lo || v == hi) {
				t = append(t, tick{v, Number(int(v))})
			}
		}
	}
	return t
}

// powerTicks marks powers of ten; over fewer than three, also 2 and 5 times these.
func powerTicks(lo, hi float64) []tick {
	var t []tick
	for base := math.Pow(10, math.Floor(math.Log10(lo))); base <= hi; base *= 10 {
		for _, f := range []float64{1, 2, 5} {
			if v := base * f; v >= lo && v <= hi && (f == 1 || hi < 1000*lo) {
				t = append(t, tick{v, powerLabel(v)})
			}
		}
	}
	return t
}

func powerLabel(v float64) string {
	if v >= 1 && v < 1<<53 {
		return Number(int(v))
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

// Sizes in units of the viewBox, which scales. On a page of 390 px a unit is 0.85 px and text has
// 13 units; on a wide page it is at least 1.2 px and text has 11.
const (
	plotWidth  = 400
	plotHeight = 240
	labelWidth = 7.3 // of a digit of a tick's label; commas and points are narrower
	dotRadius  = 3
)

// A sheet is a plot being drawn. report.css styles it, so the page's light and dark themes apply.
type sheet struct {
	box
	log                      bool    // the y axis is logarithmic
	logX                     bool    // the x axis is logarithmic
	left, right, top, bottom float64 // ends of the axes
	out                      strings.Builder
}

func (c Chart) svg(title string) (template.HTML, error) {
	if err := c.check(); err != nil {
		return "", fmt.Errorf("plot %q: %w", title, err)
	}
	s := sheet{box: c.limits(), log: c.YCounts, logX: c.XLog}
	s.printf(`<svg viewBox="0 0 %d %d" class="plot" role="img" aria-label="%s">`, plotWidth, plotHeight, template.HTMLEscapeString(title))
	s.axes(c)
	if c.Level != nil {
		s.path("base", []Point{{s.x0, *c.Level}, {s.x1, *c.Level}})
	}
	if c.Diagonal != "" {
		s.path("base", []Point{{0, 0}, {1, 1}})
	}
	for i := len(c.Lines) - 1; i >= 0; i-- { // draw the first on top
		s.line(c.Lines[i], i)
	}
	s.printf("\n</svg>")
	return template.HTML(s.out.String()), nil
}

func (c Chart) check() error {
	number := func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
	if c.Level != nil && !number(*c.Level) {
		return fmt.Errorf("%v is not a level to compare with", *c.Level)
	}
	for _, l := range c.Lines {
		for _, p := range l.Points {
			if !number(p.X) || !number(p.Y) || c.XLog && p.X <= 0 {
				return fmt.Errorf("line %q: (%v, %v) is not a point", l.Name, p.X, p.Y)
			}
		}
		for _, ci := range l.Band {
			if !number(ci[0]) || !number(ci[1]) {
				return fmt.Errorf("line %q: %v to %v is not an interval", l.Name, ci[0], ci[1])
			}
		}
	}
	return nil
}

func (s *sheet) axes(c Chart) {
	xTicker, yTicker := c.tickers()
	xs, ys := xTicker(s.x0, s.x1), yTicker(s.y0, s.y1)
	widest := 0.0
	for _, t := range ys {
		widest = max(widest, t.width())
	}
	s.left, s.top, s.right, s.bottom = 24+widest, 7, plotWidth-6, plotHeight-34
	if len(xs) > 0 { // the last label may need room
		last := xs[len(xs)-1]
		s.right -= max(0, s.x(last.at)+last.width()/2-plotWidth)
	}
	for _, t := range ys {
		y := s.y(t.at)
		s.printf("\n"+`<path class="grid" d="M%s %sH%s"/>`, num(s.left), num(y), num(s.right))
		s.text("end", s.left-5, y+4, t.label)
	}
	s.printf("\n"+`<path class="axis" d="M%s %sH%s"/>`, num(s.left), num(s.bottom), num(s.right))
	for _, t := range xs {
		s.printf("\n"+`<path class="axis" d="M%s %sv3"/>`, num(s.x(t.at)), num(s.bottom))
		s.text("middle", s.x(t.at), s.bottom+14, t.label)
	}
	s.text("middle", (s.left+s.right)/2, plotHeight-3, c.XLabel)
	s.printf("\n"+`<g transform="translate(11 %s) rotate(-90)">`, num((s.top+s.bottom)/2))
	s.text("middle", 0, 0, c.YLabel)
	s.printf("</g>")
}

func (t tick) width() float64 { return labelWidth * float64(utf8.RuneCountInString(t.label)) }

func (s *sheet) line(l Line, i int) {
	if len(l.Points) == 0 {
		return
	}
	class := fmt.Sprintf("k%d", i%maxLines+1)
	if len(l.Band) == len(l.Points) && len(l.Points) > 1 {
		s.band(class, l)
	}
	if l.Stems {
		s.stems(class, l.Points, i)
		return
	}
	s.path("line "+class, l.Points)
	if l.Dots || i >= maxLines || len(l.Points) == 1 { // a line of one point is invisible
		for _, p := range l.Points {
			s.printf("\n"+`<circle class="dot %s" cx="%s" cy="%s" r="%d"/>`, class, num(s.x(p.X)), num(s.y(p.Y)), dotRadius)
		}
	}
}

// stems draws the points of the i-th line, shifted beside those of other lines.
func (s *sheet) stems(class string, points []Point, i int) {
	for _, p := range points {
		x := s.x(p.X) + float64(i)*2*dotRadius
		s.printf("\n"+`<path class="line %s stem" d="M%s %sV%s"/>`, class, num(x), num(s.bottom), num(s.y(p.Y)))
		s.printf("\n"+`<circle class="dot %s" cx="%s" cy="%s" r="%d"/>`, class, num(x), num(s.y(p.Y)), dotRadius-1)
	}
}

// band fills the area between the ends of l's intervals.
func (s *sheet) band(class string, l Line) {
	n := len(l.Points)
	outline := make([]Point, 2*n)
	for k, p := range l.Points {
		outline[k], outline[2*n-1-k] = Point{p.X, l.Band[k][0]}, Point{p.X, l.Band[k][1]}
	}
	s.path("band "+class, outline)
}

func (s *sheet) path(class string, points []Point) {
	s.printf("\n"+`<path class="%s" d="`, class)
	for k, p := range points {
		s.out.WriteByte("ML"[min(k, 1)])
		s.out.WriteString(num(s.x(p.X)) + " " + num(s.y(p.Y)))
	}
	s.out.WriteString(`"/>`)
}

func (s *sheet) text(anchor string, x, y float64, text string) {
	s.printf("\n"+`<text text-anchor="%s" x="%s" y="%s">%s</text>`, anchor, num(x), num(y), template.HTMLEscapeString(text))
}

func (s *sheet) printf(format string, args ...any) { fmt.Fprintf(&s.out, format, args...) }

// x returns the position of a value, clipped to the axis.
func (s *sheet) x(v float64) float64 {
	part := (v - s.x0) / (s.x1 - s.x0)
	if s.logX {
		part = math.Log(max(v, s.x0)/s.x0) / math.Log(s.x1/s.x0)
	}
	return s.left + (s.right-s.left)*within(part)
}

func (s *sheet) y(v float64) float64 {
	part := (v - s.y0) / (s.y1 - s.y0)
	if s.log {
		part = math.Log(max(v, s.y0)/s.y0) / math.Log(s.y1/s.y0)
	}
	return s.bottom - (s.bottom-s.top)*within(part)
}

func within(part float64) float64 { return max(0, min(1, part)) }

func num(v float64) string {
	return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64)
}
