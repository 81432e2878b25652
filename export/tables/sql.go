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

// The types that a Writer writes.
const (
	sqlInt  sqlKind = "bigint"
	sqlReal sqlKind = "double precision"
	sqlText sqlKind = "text"
	sqlTime sqlKind = "timestamp with time zone"
)

type sqlColumn struct {
	Name string
	Kind sqlKind
	Null bool   // it may be missing
	Refs string // the table whose first column it is of; "" of none
}

// sqlTable is a table; its name, and its columns, must be words that SQL does not use.
type sqlTable struct {
	Name    string
	Key     []string // primary key
	Index   []string // columns with an index each
	Columns []sqlColumn
}

func (t sqlTable) File() string { return t.Name + ".copy" }

// schemaSQL is the SQL that makes the tables, without keys: they are made faster afterwards.
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

// loadSQL is the script for psql in the folder of the files: it makes the tables in a schema that
// must not have them, loads them and adds their keys, all in one transaction. schema is where
// it does so without -v schema=NAME.
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

// signature begins each file; two numbers follow: no flags, no extension.
const signature = "PGCOPY\n\xff\r\n\x00"

// maxFieldBytes bounds a value of text; PostgreSQL takes a little less than 1 GiB
// for a whole row.
const maxFieldBytes = 1 << 28

var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// copyWriter writes the rows of one table. After an error it writes no more; Close tells it.
type copyWriter struct {
	to      *bufio.Writer
	columns int
	left    int // values of the row that are to come
	buf     []byte
	err     error
}

// newCopyWriter begins a file of rows with so many values.
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

// value begins the next value of the row, of so many bytes; -1 is NULL.
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
