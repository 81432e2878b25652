package report

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
)

// Figure is a plot with its legend, caption and numbers.
type Figure struct {
	Title, Caption string
	SVG            template.HTML
	Legend         []LegendItem
	Tables         []Numbers // for who cannot see the picture
	Open           bool      // the tables say more than the picture: show them
}

// LegendItem is a line of the legend.
type LegendItem struct {
	Class int // 1…maxLines, the line's place; 0 is what is compared with
	Name  string
	Again bool // its colour is another's too, and its points are marked
}

// Numbers are a line's points as a table.
type Numbers struct {
	Name    string // "" when it is the only one
	Columns []string
	Rows    [][]string
}

// NewFigure draws a chart.
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

// legend names the lines; a single one needs no name.
func (c Chart) legend() []LegendItem {
	var l []LegendItem
	if len(c.Lines) > 1 || c.Level != nil || c.Diagonal != "" {
		for i, s := range c.Lines {
			l = append(l, LegendItem{Class: i%maxLines + 1, Name: s.Name, Again: i >= maxLines})
		}
	}
	if c.Level != nil {
		l = append(l, LegendItem{Name: fmt.Sprintf("%s (%s)", c.LevelName, Percent(*c.Level))})
	}
	if c.Diagonal != "" {
		l = append(l, LegendItem{Name: c.Diagonal})
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
