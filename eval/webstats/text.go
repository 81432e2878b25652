package webstats

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"fossick/internal/printable"
	"fossick/internal/report"
	"fossick/internal/terminal"
)

const (
	between   = 2  // blanks between columns
	leastName = 10 // of the first column, which is cut where a table is too wide
)

// WriteText writes tables for a terminal of so many columns.
func WriteText(w io.Writer, tables []Table, columns int) {
	for i, t := range tables {
		if i > 0 {
			io.WriteString(w, "\n") // its error shows in the next write
		}
		t.writeText(w, columns)
	}
}

func (t *Table) writeText(w io.Writer, columns int) {
	t = t.narrow()
	terminal.Fprint(w, t.Title, terminal.Bold)
	io.WriteString(w, "\n")
	if len(t.Rows) > 0 {
		t.writeRows(w, columns)
	} else if t.Note == "" {
		io.WriteString(w, "  none\n")
	}
	for _, line := range wrap(t.Note, columns-2) {
		printable.Fprintf(w, "  %s\n", line)
	}
}

// narrow is the table without the columns that a terminal has no room for.
func (t *Table) narrow() *Table {
	short := &Table{Title: t.Title, Note: t.Note, Rows: make([][]any, len(t.Rows))}
	for k, c := range t.Columns {
		if slices.Contains(t.Wide, c.Name) {
			continue
		}
		short.Columns = append(short.Columns, c)
		for i, row := range t.Rows {
			short.Rows[i] = append(short.Rows[i], row[k])
		}
	}
	return short
}

func (t *Table) writeRows(w io.Writer, columns int) {
	lines := [][]string{make([]string, len(t.Columns))}
	for k, c := range t.Columns {
		lines[0][k] = c.Title
	}
	for _, row := range t.Rows {
		line := make([]string, len(row))
		for k, v := range row {
			line[k] = show(v, t.Columns[k].Unit)
		}
		lines = append(lines, line)
	}
	widths := make([]int, len(t.Columns))
	all := between
	for k := range widths {
		for _, line := range lines {
			widths[k] = max(widths[k], utf8.RuneCountInString(line[k]))
		}
		all += widths[k] + between
	}
	if over := all - between - columns; over > 0 {
		widths[0] = max(leastName, widths[0]-over)
	}
	for i, line := range lines {
		style := terminal.Plain
		if i == 0 {
			style = terminal.Faint
		}
		terminal.Fprint(w, t.line(line, widths), style)
		io.WriteString(w, "\n")
	}
}

// line aligns words to the left and numbers to the right.
func (t *Table) line(cells []string, widths []int) string {
	var b strings.Builder
	for k, cell := range cells {
		cell = printable.Cut(cell, widths[k])
		pad := strings.Repeat(" ", max(0, widths[k]-utf8.RuneCountInString(cell)))
		b.WriteString("  ")
		if t.Columns[k].Unit == Words {
			b.WriteString(cell + pad)
		} else {
			b.WriteString(pad + cell)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// show is a value for people.
func show(v any, unit Unit) string {
	switch v := v.(type) {
	case string:
		return v
	case int64:
		return report.Number(int(v))
	case float64:
		switch {
		case unit == Share:
			return percent(v)
		case unit == Days:
			return period(v)
		case v != 0 && math.Abs(v) < 1:
			return fmt.Sprintf("%.3f", v)
		}
		return thousands(fmt.Sprintf("%.*f", decimals(v), v))
	}
	return "–"
}

// period is a time in the largest unit of which there is one: 7.66d, 3.1h, 12m, 8.5s.
func period(days float64) string {
	for _, u := range []struct {
		name string
		days float64
	}{{"d", 1}, {"h", 1. / 24}, {"m", 1. / (24 * 60)}} {
		if days >= u.days {
			return fmt.Sprintf("%.3g%s", days/u.days, u.name)
		}
	}
	return fmt.Sprintf("%.3gs", days*24*3600)
}

// decimals are as many as tell something: none of large numbers.
func decimals(v float64) int {
	if math.Abs(v) >= 1000 {
		return 0
	}
	return 2
}

// percent has one place for all, so that a column is even. What is above 0 is not shown as 0,
// nor what is below 1 as all.
func percent(x float64) string {
	switch {
	case x > 0 && x < 0.0005:
		return "<0.1 %"
	case x >= 0.9995 && x < 1:
		return ">99.9 %"
	}
	return fmt.Sprintf("%.1f %%", 100*x)
}

// thousands groups the digits before the point.
func thousands(number string) string {
	before, after, _ := strings.Cut(number, ".")
	for i := len(before) - 3; i > 0 && before[i-1] != '-'; i -= 3 {
		before = before[:i] + "," + before[i:]
	}
	if after == "" {
		return before
	}
	return before + "." + after
}

// wrap divides words into lines.
func wrap(words string, columns int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(words) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > columns {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// Names are the names of the tables, in order.
var Names = []string{
	"outcomes", "seed_outcomes", "unasked", "codes", "means", "seed_lengths", "path_lengths", "host_labels", "depths", "response_times",
	"sizes", "sizes_fine", "compression", "duplicates", "schemes", "http_versions", "page_kinds", "link_kinds", "degrees", "power_laws",
	"media_types", "charsets", "languages", "labels", "servers", "tlds", "second_levels", "sites",
	"forecast_scores", "forecasts",
}

// Only are the tables of these names; all where there is no name.
func (r *Result) Only(names []string) (some []Table) {
	if len(names) == 0 {
		return r.Tables
	}
	for _, t := range r.Tables {
		if slices.Contains(names, t.Name) {
			some = append(some, t)
		}
	}
	return some
}
