//go:build ignore

// Tables writes the tables of docs/*.md from the data files that they name: go run scripts/tables.go.
// With -check it writes nothing, and fails if a page differs from its data.
//
// A table stands between <!-- table: data/NAME.tsv --> and <!-- end -->, with a path below docs. Column
// names may follow, as in <!-- table: data/NAME.tsv claim,figure -->. Lines of data that begin with #
// are notes and are not shown.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var block = regexp.MustCompile(`(?s)<!-- table: (\S+)(?: (\S+))? -->\n(.*?)<!-- end -->`)

func main() {
	log.SetFlags(0)
	check := flag.Bool("check", false, "write nothing; fail where a page and its data differ")
	flag.Parse()
	pages, _ := filepath.Glob("docs/*.md")
	stale := false
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			log.Fatal(err)
		}
		want, err := fill(string(text))
		if err != nil {
			log.Fatalf("%s: %v", page, err)
		}
		switch {
		case want == string(text):
		case *check:
			stale = true
			log.Printf("%s differs from its data: go run scripts/tables.go", page)
		default:
			if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
				log.Fatal(err)
			}
		}
	}
	if stale {
		os.Exit(1)
	}
}

func fill(text string) (string, error) {
	var failed error
	text = block.ReplaceAllStringFunc(text, func(b string) string {
		m := block.FindStringSubmatch(b)
		table, err := render(filepath.Join("docs", m[1]), m[2])
		if err != nil {
			failed = err
			return b
		}
		head, _, _ := strings.Cut(b, "\n")
		return head + "\n" + table + "<!-- end -->"
	})
	return text, failed
}

// render returns a data file as a Markdown table of the named columns, or of all.
func render(path, columns string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	var rows [][]string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if line != "" && !strings.HasPrefix(line, "#") {
			rows = append(rows, strings.Split(line, "\t"))
		}
	}
	if len(rows) < 2 {
		return "", fmt.Errorf("%s has no rows", path)
	}
	chosen := rows[0]
	if columns != "" {
		chosen = strings.Split(columns, ",")
	}
	var out strings.Builder
	for i, row := range rows {
		if len(row) != len(rows[0]) {
			return "", fmt.Errorf("%s: row %d has %d columns, not %d", path, i+1, len(row), len(rows[0]))
		}
		for _, name := range chosen {
			at := slices.Index(rows[0], name)
			if at < 0 {
				return "", fmt.Errorf("%s has no column %q", path, name)
			}
			out.WriteString("| " + row[at] + " ")
		}
		out.WriteString("|\n")
		if i == 0 {
			out.WriteString(strings.Repeat("|---", len(chosen)) + "|\n")
		}
	}
	return out.String(), nil
}
