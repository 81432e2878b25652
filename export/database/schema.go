package database

import (
	"strings"

	"fossick/export/collection"
	"fossick/export/table"
)

// definition is the columns of a table of pages, as one kind of database has them.
func definition(columns []table.Column, kinds map[table.Kind]string) string {
	var defs []string
	for _, c := range columns {
		def := quote(c.Name) + " " + kinds[c.Kind]
		if c.Name == "id" {
			def += " PRIMARY KEY"
		}
		defs = append(defs, def)
	}
	return strings.Join(defs, ", ")
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func names(columns []table.Column) (names []string) {
	for _, c := range columns {
		names = append(names, c.Name)
	}
	return names
}

// list is names with commas between them, each as with makes it.
func list(names []string, with func(name string) string) string {
	var parts []string
	for _, n := range names {
		parts = append(parts, with(n))
	}
	return strings.Join(parts, ", ")
}

// row is a page's values, as drivers of databases take them.
func row(columns []table.Column, p *collection.Page) []any {
	values := make([]any, len(columns))
	for i, c := range columns {
		values[i] = value(c.Kind, c.Of(p))
	}
	return values
}

func value(kind table.Kind, v table.Value) any {
	switch {
	case v.Null:
		return nil
	case kind == table.Integer:
		return v.Int
	case kind == table.Real:
		return v.Real
	case kind == table.Truth:
		return v.Truth
	}
	return clean(v.Text)
}

// clean leaves out what no database takes as text: the character 0, bytes that are no UTF-8.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}
