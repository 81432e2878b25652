package report

import (
	"fmt"
	"math"
	"strconv"
)

// Figure is a plot with its caption, and its numbers as tables for readers without scripts or sight.
type Figure struct {
	Title, Caption string
	Plot           any // what ui/src/figure.ts calls a Figure, in JSON
	Tables         []Numbers
	Open           bool // show the tables, which say more than the picture
}

// Numbers is a line's points as a table.
type Numbers struct {
	Name    string // "" if it is the only one
	Columns []string
	Rows    [][]string
}

// Point is a point of a line: Y is a share in [0,1] and X a count, unless the Chart says otherwise.
type Point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// Line is one line of a plot.
type Line struct {
	Name   string       `json:"name"`
	Points []Point      `json:"points"`
	Band   [][2]float64 `json:"band,omitempty"`  // interval at each point, or nil
	Dots   bool         `json:"dots,omitempty"`  // mark the points, because they are few and measured
	Stems  bool         `json:"stems,omitempty"` // draw separate points with stems from the axis, like a histogram
}

type fit string

const (
	FitNone fit = ""     // 0 to 100 %
	FitTop  fit = "top"  // from 0 to a round share above the maximum
	FitBoth fit = "both" // from a round share below the minimum to one above the maximum
)

// Chart is a plot of shares or counts.
type Chart struct {
	XLabel    string   `json:"xLabel"`
	YLabel    string   `json:"yLabel"`
	Lines     []Line   `json:"lines"`
	Level     *float64 `json:"level,omitempty"` // a share to compare with, or nil
	LevelName string   `json:"levelName,omitempty"`
	Diagonal  string   `json:"diagonal,omitempty"` // name of the line y = x, or ""
	XShares   bool     `json:"xShares,omitempty"`  // X are shares, on an axis from 0 to 100 %
	XNumbers  bool     `json:"xNumbers,omitempty"` // X are numbers such as 0.05, which the axis spans
	XLog      bool     `json:"xLog,omitempty"`     // X are above 0, on a logarithmic axis
	YCounts   bool     `json:"yCounts,omitempty"`  // Y are counts of at least 1, on a logarithmic axis
	YNumbers  bool     `json:"yNumbers,omitempty"` // Y are numbers in [−1,1] other than shares, such as a correlation
	Fit       fit      `json:"fit,omitempty"`
}

// NewFigure returns a plot of c. It refuses NaN, infinite numbers, and X ≤ 0 on a logarithmic axis.
func NewFigure(title, caption string, c Chart) (Figure, error) {
	if err := c.check(); err != nil {
		return Figure{}, fmt.Errorf("plot %q: %w", title, err)
	}
	f := Figure{Title: title, Caption: caption, Plot: struct {
		Title string `json:"title"`
		Chart
	}{title, c}}
	for _, l := range c.Lines {
		f.Tables = append(f.Tables, c.numbers(l))
	}
	return f, nil
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

// NiceStep returns a step 1, 2 or 5 times a power of ten that gives a curve of n points at most 50.
func NiceStep(n int) int {
	for base := 1; ; base *= 10 {
		for _, f := range []int{1, 2, 5} {
			if n <= 50*base*f {
				return base * f
			}
		}
	}
}

// Range is a row of a plot of intervals: a value above 0 with its interval.
type Range struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Lo    float64 `json:"lo"`
	Hi    float64 `json:"hi"`
}

// NewRanges returns a plot of values with intervals, one per row, on a logarithmic axis.
func NewRanges(title, caption, xLabel string, rows []Range) (Figure, error) {
	table := Numbers{Columns: []string{"", xLabel, "95 % interval"}}
	for _, r := range rows {
		if !(r.Lo > 0 && r.Lo <= r.Value && r.Value <= r.Hi) || math.IsInf(r.Hi, 0) {
			return Figure{}, fmt.Errorf("plot %q: %s has %g, from %g to %g", title, r.Name, r.Value, r.Lo, r.Hi)
		}
		table.Rows = append(table.Rows, []string{r.Name, short(r.Value), short(r.Lo) + " to " + short(r.Hi)})
	}
	if len(rows) == 0 {
		return Figure{}, fmt.Errorf("plot %q: nothing to draw", title)
	}
	return Figure{Title: title, Caption: caption, Tables: []Numbers{table}, Plot: struct {
		Title string  `json:"title"`
		X     string  `json:"xLabel"`
		Rows  []Range `json:"rows"`
	}{title, xLabel, rows}}, nil
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
