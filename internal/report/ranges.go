package report

import (
	"fmt"
	"html/template"
	"math"
	"unicode/utf8"
)

// Range is a row of a plot of intervals: a value above 0 with its interval.
type Range struct {
	Name   string
	Value  float64
	Lo, Hi float64
}

// Heights of a plot of intervals, and the most letters of a name in it.
const (
	rangeHeight = 14
	rangeFoot   = 32
	rangeName   = 24
)

// NewRanges draws values with their intervals, one below the other, on a logarithmic axis.
func NewRanges(title, caption, xLabel string, rows []Range) (Figure, error) {
	lo, hi, widest := math.Inf(1), 0., 0.
	table := Numbers{Columns: []string{"", xLabel, "95 % interval"}}
	for _, r := range rows {
		if !(r.Lo > 0 && r.Lo <= r.Value && r.Value <= r.Hi) || math.IsInf(r.Hi, 0) {
			return Figure{}, fmt.Errorf("plot %q: %s has %g, from %g to %g", title, r.Name, r.Value, r.Lo, r.Hi)
		}
		lo, hi = min(lo, r.Lo), max(hi, r.Hi)
		widest = max(widest, float64(utf8.RuneCountInString(Cut(r.Name, rangeName))))
		table.Rows = append(table.Rows, []string{r.Name, short(r.Value), short(r.Lo) + " to " + short(r.Hi)})
	}
	if len(rows) == 0 {
		return Figure{}, fmt.Errorf("plot %q: nothing to draw", title)
	}
	if hi < lo*10 { // so that there are ticks
		middle := math.Sqrt(lo * hi)
		lo, hi = min(lo, middle/math.Sqrt(10)), max(hi, middle*math.Sqrt(10))
	}
	height := rangeHeight*len(rows) + rangeFoot
	s := sheet{box: box{x0: lo * .9, x1: hi * 1.1, y1: 1}, logX: true}
	s.left, s.top, s.right, s.bottom = 8+labelWidth*widest, 4, plotWidth-12, float64(height-rangeFoot+4)
	s.printf(`<svg viewBox="0 0 %d %d" class="plot" role="img" aria-label="%s">`, plotWidth, height, template.HTMLEscapeString(title))
	for _, t := range rangeTicks(s.x0, s.x1) {
		x := s.x(t.at)
		s.printf("\n"+`<path class="grid" d="M%s %sV%s"/>`, num(x), num(s.top), num(s.bottom))
		s.text("middle", x, s.bottom+12, t.label)
	}
	s.printf("\n"+`<path class="axis" d="M%s %sH%s"/>`, num(s.left), num(s.bottom), num(s.right))
	for i, r := range rows {
		y := s.top + rangeHeight*(float64(i)+.5)
		s.text("end", s.left-5, y+3.3, Cut(r.Name, rangeName))
		s.printf("\n"+`<path class="line k1" d="M%s %sH%s"/>`, num(s.x(r.Lo)), num(y), num(s.x(r.Hi)))
		s.printf("\n"+`<circle class="dot k1" cx="%s" cy="%s" r="%d"/>`, num(s.x(r.Value)), num(y), dotRadius)
	}
	s.text("middle", (s.left+s.right)/2, float64(height-3), xLabel)
	s.printf("\n</svg>")
	return Figure{Title: title, Caption: caption, SVG: template.HTML(s.out.String()), Tables: []Numbers{table}}, nil
}

// rangeTicks are powers of ten, with 2 and 5 between where there are few.
func rangeTicks(lo, hi float64) (ticks []tick) {
	decades := math.Log10(hi / lo)
	every := max(1, int(math.Ceil(decades/6)))
	for e := int(math.Floor(math.Log10(lo))); e <= int(math.Ceil(math.Log10(hi))); e++ {
		if e%every != 0 {
			continue
		}
		for _, m := range []float64{1, 2, 5} {
			if v := m * math.Pow(10, float64(e)); v >= lo && v <= hi && (m == 1 || decades < 2.5) {
				ticks = append(ticks, tick{v, short(v)})
			}
		}
	}
	return ticks
}

// short is a number with three digits.
func short(x float64) string { return fmt.Sprintf("%.3g", x) }
