//go:build ignore

// Demorows writes the built-in demo set as JSON, one row a line, for scripts that relabel or halve it:
// go run scripts/demorows.go.
package main

import (
	"bufio"
	"encoding/json"
	"log"
	"os"

	"fossick/datasets"
)

func main() {
	set, err := datasets.Open("demo", datasets.Options{})
	if err != nil {
		log.Fatal(err)
	}
	out := bufio.NewWriter(os.Stdout)
	rows := json.NewEncoder(out)
	for e, err := range set.Examples() {
		if err != nil {
			log.Fatal(err)
		}
		row := map[string]any{"url": e.URL, "label": e.Label, "labels": e.Labels, "site": e.Site, "title": e.Title}
		if row["html"] = e.HTML; e.HTML == "" {
			row["text"] = e.Text
		}
		if err := rows.Encode(row); err != nil {
			log.Fatal(err)
		}
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}
