package webstats

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"fossick/internal/cli"
	"fossick/internal/fileio"
	"fossick/internal/report"
)

type columnUnit byte

const (
	inLetters columnUnit = iota
	inWhole              // integers
	inShares             // in [0,1]
	inNumbers            // with two decimals
	inDays               // days, shown in a fitting unit
)

type tableColumn struct {
	Name  string // key in JSON and CSV
	Title string // heading
	Unit  columnUnit
}

// resultTable is a table of results; a cell is a string, an int64, a float64, or nil for unknown.
type resultTable struct {
	Name    string // key in JSON, and file name
	Title   string
	Note    string   // shown below the table; "" for none
	Wide    []string // columns omitted in a terminal
	Columns []tableColumn
	Rows    [][]any
}

// MarshalJSON writes the rows as objects keyed by column name.
func (t resultTable) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, row := range t.Rows {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('{')
		for k, v := range row {
			if k > 0 {
				b.WriteByte(',')
			}
			if err := writePair(&b, t.Columns[k].Name, v); err != nil {
				return nil, err
			}
		}
		b.WriteByte('}')
	}
	b.WriteByte(']')
	return b.Bytes(), nil
}

// MarshalJSON writes the states, and each table under its name.
func (r *Result) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	if err := writePair(&b, "states", r.States); err != nil {
		return nil, err
	}
	b.WriteByte(',')
	if err := writePair(&b, "seed_states", r.SeedStates); err != nil {
		return nil, err
	}
	for _, t := range r.Tables {
		b.WriteByte(',')
		if err := writePair(&b, t.Name, t); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func writePair(b *bytes.Buffer, key string, v any) error {
	value, err := json.Marshal(v)
	if err != nil {
		return err
	}
	b.WriteString(`"` + key + `":`) // our own keys need no escaping
	b.Write(value)
	return nil
}

func share(part, whole int64) any {
	if whole == 0 {
		return nil
	}
	return float64(part) / float64(whole)
}

const (
	between   = 2  // blanks between columns
	leastName = 10 // least width of the first column, which is cut when a table is too wide
)

// WriteText writes tables for a terminal with the given number of columns.
func WriteText(w io.Writer, tables []resultTable, columns int) {
	for i, t := range tables {
		if i > 0 {
			io.WriteString(w, "\n") // an error recurs in the next write
		}
		t.writeText(w, columns)
	}
}

func (t *resultTable) writeText(w io.Writer, columns int) {
	t = t.narrow()
	cli.Fprint(w, t.Title, cli.Bold)
	io.WriteString(w, "\n")
	if len(t.Rows) > 0 {
		t.writeRows(w, columns)
	} else if t.Note == "" {
		io.WriteString(w, "  none\n")
	}
	for _, line := range wrap(t.Note, columns-2) {
		cli.Fprintf(w, "  %s\n", line)
	}
}

func (t *resultTable) narrow() *resultTable {
	short := &resultTable{Title: t.Title, Note: t.Note, Rows: make([][]any, len(t.Rows))}
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

func (t *resultTable) writeRows(w io.Writer, columns int) {
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
		style := cli.Plain
		if i == 0 {
			style = cli.Faint
		}
		cli.Fprint(w, t.line(line, widths), style)
		io.WriteString(w, "\n")
	}
}

func (t *resultTable) line(cells []string, widths []int) string {
	var b strings.Builder
	for k, cell := range cells {
		cell = cli.Cut(cell, widths[k])
		pad := strings.Repeat(" ", max(0, widths[k]-utf8.RuneCountInString(cell)))
		b.WriteString("  ")
		if t.Columns[k].Unit == inLetters {
			b.WriteString(cell + pad)
		} else {
			b.WriteString(pad + cell)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

func show(v any, unit columnUnit) string {
	switch v := v.(type) {
	case string:
		return v
	case int64:
		return report.Number(int(v))
	case float64:
		switch {
		case unit == inShares:
			return percent(v)
		case unit == inDays:
			u := unitOf(v) // 7.66d, 3.1h, 12m, 8.5s
			return fmt.Sprintf("%.3g%s", v/u.days, u.name[:1])
		case v != 0 && math.Abs(v) < 1:
			return fmt.Sprintf("%.3f", v)
		case math.Abs(v) >= 1000:
			return thousands(fmt.Sprintf("%.0f", v))
		}
		return fmt.Sprintf("%.2f", v)
	}
	return "–"
}

// percent shows one decimal, so that columns align, but never rounds to 0 % or 100 %.
func percent(x float64) string {
	switch {
	case x > 0 && x < 0.0005:
		return "<0.1 %"
	case x >= 0.9995 && x < 1:
		return ">99.9 %"
	}
	return fmt.Sprintf("%.1f %%", 100*x)
}

func thousands(whole string) string {
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return whole
}

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

var Names = []string{
	"outcomes", "seed_outcomes", "unasked", "codes", "means", "seed_lengths", "path_lengths", "host_labels", "depths", "response_times",
	"sizes", "sizes_fine", "compression", "types", "duplicates", "schemes", "http_versions", "page_kinds", "link_kinds", "degrees",
	"media_types", "charsets", "languages", "labels", "servers", "tlds", "second_levels", "sites",
	"forecast_scores", "forecasts",
}

// Only returns the tables with these names; all without names.
func (r *Result) Only(names []string) (some []resultTable) {
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

// WriteCSV writes each table to NAME.csv in a folder, with a header; unknown values are empty.
func WriteCSV(dir string, tables []resultTable) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("folder of tables: %w; give one that can be written to", err)
	}
	for _, t := range tables {
		path := filepath.Join(dir, t.Name+".csv")
		err := fileio.Write(path, 0o644, func(f *os.File) error { return t.writeCSV(f) })
		if err != nil {
			return fmt.Errorf("table %s: %w", path, err)
		}
	}
	return nil
}

func (t *resultTable) writeCSV(to io.Writer) error {
	w := csv.NewWriter(to)
	line := make([]string, len(t.Columns))
	for k, c := range t.Columns {
		line[k] = c.Name
	}
	err := w.Write(line)
	for _, row := range t.Rows {
		for k, v := range row {
			line[k] = cell(v)
		}
		if err == nil {
			err = w.Write(line)
		}
	}
	w.Flush()
	if err == nil {
		err = w.Error()
	}
	return err
}

func cell(v any) string {
	switch v := v.(type) {
	case string:
		return cli.Line(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return ""
}
