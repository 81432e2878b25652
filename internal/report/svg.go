package report

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Sizes in the units of the viewBox. It scales. On a page of 390 px a unit is 0.85 px, and
// report.css has text of 13 units. On a wide page it is 1.2 px or more, and text has 11. There
// is room for either.
const (
	plotWidth  = 400
	plotHeight = 240
	labelWidth = 7.3 // of a digit of a tick's label; commas and stops are narrower
	dotRadius  = 3
)

// A sheet is a plot being drawn. report.css gives what is on it its looks, so the
// page's light and dark themes colour it too.
type sheet struct {
	box
	log                      bool    // the y axis is logarithmic
	logX                     bool    // the x axis is
	left, right, top, bottom float64 // where the ends of the axes are
	out                      strings.Builder
}

// svg draws the chart as an inline SVG element. Its lines are named in the legend.
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
	for i := len(c.Lines) - 1; i >= 0; i-- { // the first on top
		s.line(c.Lines[i], i)
	}
	s.printf("\n</svg>")
	return template.HTML(s.out.String()), nil
}

// check refuses what has no place on a plot.
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

// axes finds room for the axes' texts and draws them and the grid.
func (s *sheet) axes(c Chart) {
	xTicker, yTicker := c.tickers()
	xs, ys := xTicker(s.x0, s.x1), yTicker(s.y0, s.y1)
	widest := 0.0
	for _, t := range ys {
		widest = max(widest, t.width())
	}
	s.left, s.top, s.right, s.bottom = 24+widest, 7, plotWidth-6, plotHeight-34
	if len(xs) > 0 { // whose last label may need room
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

// width is about how wide the label is.
func (t tick) width() float64 { return labelWidth * float64(utf8.RuneCountInString(t.label)) }

// line draws the i-th line. Lines differ in colour and dashes until there are too many.
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
	if l.Dots || i >= maxLines || len(l.Points) == 1 { // a line of one point is not seen
		for _, p := range l.Points {
			s.printf("\n"+`<circle class="dot %s" cx="%s" cy="%s" r="%d"/>`, class, num(s.x(p.X)), num(s.y(p.Y)), dotRadius)
		}
	}
}

// stems draws the points of the i-th line alone. Those of other lines stand beside them.
func (s *sheet) stems(class string, points []Point, i int) {
	for _, p := range points {
		x := s.x(p.X) + float64(i)*2*dotRadius
		s.printf("\n"+`<path class="line %s stem" d="M%s %sV%s"/>`, class, num(x), num(s.bottom), num(s.y(p.Y)))
		s.printf("\n"+`<circle class="dot %s" cx="%s" cy="%s" r="%d"/>`, class, num(x), num(s.y(p.Y)), dotRadius-1)
	}
}

// band draws what lies between the ends of l's intervals: there along the lower ends,
// back along the upper ones.
func (s *sheet) band(class string, l Line) {
	n := len(l.Points)
	outline := make([]Point, 2*n)
	for k, p := range l.Points {
		outline[k], outline[2*n-1-k] = Point{p.X, l.Band[k][0]}, Point{p.X, l.Band[k][1]}
	}
	s.path("band "+class, outline)
}

// path draws a line through points.
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

// x is where a value stands; one beyond the axis stands at its end.
func (s *sheet) x(v float64) float64 {
	part := (v - s.x0) / (s.x1 - s.x0)
	if s.logX {
		part = math.Log(max(v, s.x0)/s.x0) / math.Log(s.x1/s.x0)
	}
	return s.left + (s.right-s.left)*within(part)
}

// y is the same for the other axis, which points upwards.
func (s *sheet) y(v float64) float64 {
	part := (v - s.y0) / (s.y1 - s.y0)
	if s.log {
		part = math.Log(max(v, s.y0)/s.y0) / math.Log(s.y1/s.y0)
	}
	return s.bottom - (s.bottom-s.top)*within(part)
}

func within(part float64) float64 { return max(0, min(1, part)) }

// num writes a coordinate to the hundredth.
func num(v float64) string {
	return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64)
}
