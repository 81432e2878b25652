package report

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"unicode/utf8"
)

// Figure is a plot with its legend, caption and numbers.
type Figure struct {
	Title, Caption string
	SVG            template.HTML
	Legend         []legendItem
	Tables         []Numbers // for readers who cannot see the picture
	Open           bool      // show the tables, which say more than the picture
}

type legendItem struct {
	Class int // index of the line, 1…maxLines; 0 for the comparison
	Name  string
	Again bool // another line has its colour, so its points are marked
}

// Numbers is a line's points as a table.
type Numbers struct {
	Name    string // "" if it is the only one
	Columns []string
	Rows    [][]string
}

func NewFigure(title, caption string, c Chart) (Figure, error) {
	f := Figure{Title: title, Caption: caption, Legend: c.legend()}
	var err error
	if f.SVG, err = c.svg(title); err != nil {
		return Figure{}, err
	}
	for _, l := range c.Lines {
		f.Tables = append(f.Tables, c.numbers(l))
	}
	return f, nil
}

func (c Chart) legend() []legendItem {
	var l []legendItem
	if len(c.Lines) > 1 || c.Level != nil || c.Diagonal != "" {
		for i, s := range c.Lines {
			l = append(l, legendItem{Class: i%maxLines + 1, Name: s.Name, Again: i >= maxLines})
		}
	}
	if c.Level != nil {
		l = append(l, legendItem{Name: fmt.Sprintf("%s (%s)", c.LevelName, Percent(*c.Level))})
	}
	if c.Diagonal != "" {
		l = append(l, legendItem{Name: c.Diagonal})
	}
	return l
}

func (c Chart) numbers(l Line) Numbers {
	n := Numbers{Name: l.Name, Columns: []string{c.XLabel, c.YLabel}}
	if l.Band != nil {
		n.Columns = append(n.Columns, "95 % interval")
	}
	for i, p := range l.Points {
		x := Number(int(math.Round(p.X)))
		if c.XShares {
			x = fmt.Sprintf("%.1f %%", 100*p.X)
		}
		if c.XNumbers {
			x = strconv.FormatFloat(p.X, 'f', -1, 64)
		}
		row := []string{x, c.valueText(p.Y)}
		if l.Band != nil {
			row = append(row, c.bandText(l.Band[i]))
		}
		n.Rows = append(n.Rows, row)
	}
	return n
}

func (c Chart) valueText(y float64) string {
	switch {
	case c.YCounts:
		return Number(int(y))
	case c.YNumbers:
		return strconv.FormatFloat(y, 'f', 3, 64)
	}
	return fmt.Sprintf("%.1f %%", 100*y)
}

func (c Chart) bandText(ci [2]float64) string {
	if c.YNumbers {
		return fmt.Sprintf("%.3f–%.3f", ci[0], ci[1])
	}
	return Span(ci)
}

// Range is a row of a plot of intervals: a value above 0 with its interval.
type Range struct {
	Name   string
	Value  float64
	Lo, Hi float64
}

// Heights of a plot of intervals, and the longest name in it.
const (
	rangeHeight = 14
	rangeFoot   = 32
	rangeName   = 24
)

// NewRanges draws values with intervals, one per row, on a logarithmic axis.
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

// rangeTicks marks powers of ten; if these are few, also 2 and 5 times these.
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

func short(x float64) string { return fmt.Sprintf("%.3g", x) }

// Matrix is a confusion matrix: rows are true classes, columns predicted ones.
type Matrix struct {
	Columns []string
	Rows    []matrixRow
	Narrow  bool // so many columns that their names are vertical
}

type matrixRow struct {
	Name  string
	Cells []matrixCell // one per column
	Total int
}

type matrixCell struct {
	Pages int
	Shade int  // share of the row in tenths, 0…9
	Right bool // row and column are the same class
}

const manyColumns = 8

// NewMatrix lays out counts with a row per name in rows and a column per name in columns. totals,
// unless nil, gives the rows' totals, since a page may be in no column; otherwise they are the sums
// of the cells.
func NewMatrix(rows, columns []string, counts [][]int, totals []int) *Matrix {
	m := &Matrix{Columns: columns, Narrow: len(columns) >= manyColumns}
	for i, name := range rows {
		row := matrixRow{Name: name}
		for j, n := range counts[i] {
			row.Cells = append(row.Cells, matrixCell{Pages: n, Right: name == columns[j]})
			row.Total += n
		}
		if totals != nil {
			row.Total = totals[i]
		}
		for j := range row.Cells {
			row.Cells[j].Shade = min(9, 10*row.Cells[j].Pages/max(1, row.Total))
		}
		m.Rows = append(m.Rows, row)
	}
	return m
}
