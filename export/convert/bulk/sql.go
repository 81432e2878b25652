package bulk

import (
	"fmt"
	"strings"
)

// Kind is a type of PostgreSQL.
type Kind string

// The types that a Writer writes.
const (
	Int  Kind = "bigint"
	Real Kind = "double precision"
	Text Kind = "text"
	Time Kind = "timestamp with time zone"
)

// Column is a column of a table.
type Column struct {
	Name string
	Kind Kind
	Null bool   // it may be missing
	Refs string // the table whose first column it is of; "" of none
}

// Table is a table; its name, and its columns, must be words that SQL does not use.
type Table struct {
	Name    string
	Key     []string // primary key
	Index   []string // columns with an index each
	Columns []Column
}

// File is the name of the table's file.
func (t Table) File() string { return t.Name + ".copy" }

// Schema is the SQL that makes the tables, without keys: they are made faster afterwards.
func Schema(tables []Table) string {
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

// Script is what psql runs in the folder of the files: it makes the tables in a schema that
// must not have them, loads them and adds their keys, all in one transaction. schema is where
// it does so without -v schema=NAME.
func Script(tables []Table, schema string) string {
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
