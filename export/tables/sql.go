package tables

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
	"time"
)

type sqlKind string

const (
	sqlInt  sqlKind = "bigint"
	sqlReal sqlKind = "double precision"
	sqlText sqlKind = "text"
	sqlTime sqlKind = "timestamp with time zone"
)

type sqlColumn struct {
	Name string
	Kind sqlKind
	Null bool   // may be NULL
	Refs string // table whose first column it references; "" for none
}

// sqlTable is a table; its name and column names must not be SQL keywords.
type sqlTable struct {
	Name    string
	Key     []string // primary key
	Index   []string // columns with an index each
	Columns []sqlColumn
}

func (t sqlTable) File() string { return t.Name + ".copy" }

// schemaSQL returns the SQL that creates the tables, without keys: adding them after loading is faster.
func schemaSQL(tables []sqlTable) string {
	var b strings.Builder
	for _, t := range tables {
		fmt.Fprintf(&b, "CREATE TABLE %s (", t.Name)
		for i, c := range t.Columns {
			if i > 0 {
				b.WriteString(",")
			}
			fmt.Fprintf(&b, "\n    %s %s", c.Name, c.Kind)
			if !c.Null {
				b.WriteString(" NOT NULL")
			}
		}
		b.WriteString("\n);\n")
	}
	return b.String()
}

// loadSQL returns a psql script that creates the tables, loads the files and adds keys, in one transaction.
// schema is the default of -v schema=NAME.
func loadSQL(tables []sqlTable, schema string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `-- psql -d DB -f load.sql, in the folder of this file; -v schema=NAME is another schema than %[1]s.
\set ON_ERROR_STOP on
\if :{?schema}
\else
\set schema %[1]s
\endif
BEGIN;
CREATE SCHEMA IF NOT EXISTS :"schema";
SET LOCAL search_path = :"schema";
\ir schema.sql
`, schema)
	for _, t := range tables {
		fmt.Fprintf(&b, "\\copy %s FROM '%s' WITH (FORMAT binary)\n", t.Name, t.File())
	}
	for _, t := range tables {
		fmt.Fprintf(&b, "ALTER TABLE %s ADD PRIMARY KEY (%s);\n", t.Name, strings.Join(t.Key, ", "))
		for _, column := range t.Index {
			fmt.Fprintf(&b, "CREATE INDEX ON %s (%s);\n", t.Name, column)
		}
	}
	key := map[string]string{}
	for _, t := range tables {
		key[t.Name] = t.Columns[0].Name
	}
	for _, t := range tables {
		for _, c := range t.Columns {
			if c.Refs != "" {
				fmt.Fprintf(&b, "ALTER TABLE %s ADD FOREIGN KEY (%s) REFERENCES %s (%s);\n", t.Name, c.Name, c.Refs, key[c.Refs])
			}
		}
	}
	b.WriteString("COMMIT;\nANALYZE")
	for i, t := range tables {
		fmt.Fprintf(&b, "%s :\"schema\".%s", map[bool]string{true: "", false: ","}[i == 0], t.Name)
	}
	b.WriteString(";\n")
	return b.String()
}

// signature starts each file; two zero words follow, for flags and extension.
const signature = "PGCOPY\n\xff\r\n\x00"

// maxFieldBytes bounds a text; PostgreSQL's limit is just below 1 GiB a row.
const maxFieldBytes = 1 << 28

var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// copyWriter writes the rows of one table in COPY's binary format. It stops at an error, which Close returns.
type copyWriter struct {
	to      *bufio.Writer
	columns int
	left    int // values missing in the current row
	buf     []byte
	err     error
}

func newCopyWriter(to io.Writer, t sqlTable) *copyWriter {
	w := &copyWriter{to: bufio.NewWriterSize(to, 64<<10), columns: len(t.Columns)}
	w.write(append([]byte(signature), make([]byte, 8)...))
	return w
}

func (w *copyWriter) write(b []byte) {
	if w.err == nil {
		_, w.err = w.to.Write(b)
	}
}

// value starts the row's next value, of this size in bytes; −1 is NULL.
func (w *copyWriter) value(bytes int32) {
	w.buf = w.buf[:0]
	if w.left == 0 {
		w.left = w.columns
		w.buf = binary.BigEndian.AppendUint16(w.buf, uint16(w.columns))
	}
	w.left--
	w.buf = binary.BigEndian.AppendUint32(w.buf, uint32(bytes))
}

func (w *copyWriter) Int(v int64) {
	w.value(8)
	w.buf = binary.BigEndian.AppendUint64(w.buf, uint64(v))
	w.write(w.buf)
}

func (w *copyWriter) Real(v float64) { w.Int(int64(math.Float64bits(v))) }

func (w *copyWriter) Time(v time.Time) { w.Int(v.UnixMicro() - epoch.UnixMicro()) }

func (w *copyWriter) Text(v string) {
	v = clean(v)
	if v == "" {
		w.Null()
		return
	}
	if len(v) > maxFieldBytes {
		w.err = fmt.Errorf("a text of %d bytes; %d can be loaded", len(v), maxFieldBytes)
	}
	w.value(int32(len(v)))
	w.buf = append(w.buf, v...)
	w.write(w.buf)
}

func (w *copyWriter) Null() {
	w.value(-1)
	w.write(w.buf)
}

func (w *copyWriter) Close() error {
	if w.err == nil && w.left != 0 {
		w.err = fmt.Errorf("the last row lacks %d values of %d", w.left, w.columns)
	}
	w.write([]byte{0xff, 0xff})
	if w.err == nil {
		w.err = w.to.Flush()
	}
	return w.err
}

func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}
