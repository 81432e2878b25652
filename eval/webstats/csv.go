package webstats

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"fossick/internal/printable"
	"fossick/internal/wholefile"
)

// WriteCSV writes each table to a file of its name in a folder, which is made where it is
// not there. The first line has the columns' names. What is not known is empty.
func WriteCSV(dir string, tables []Table) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("folder of tables: %w; give one that can be written to", err)
	}
	for _, t := range tables {
		path := filepath.Join(dir, t.Name+".csv")
		err := wholefile.Write(path, 0o644, func(f *os.File) error { return t.writeCSV(f) })
		if err != nil {
			return fmt.Errorf("table %s: %w", path, err)
		}
	}
	return nil
}

func (t *Table) writeCSV(to io.Writer) error {
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
		return printable.Line(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return ""
}
