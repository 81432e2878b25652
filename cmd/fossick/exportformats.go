package main

import (
	"fossick/collection"
	"fossick/export"
	"fossick/export/table"
)

// exportFormat is a format of export.
type exportFormat struct {
	name string
	says string // what it is, for people
	file string // its name in a folder; it ends in a slash where the format is a folder itself
	want collection.Want
	open func(at export.Place, name string) (export.Sink, error)
}

// exportFormats are the formats of export, in the order of the help.
var exportFormats = []exportFormat{
	{"jsonl", "a JSON object a line", "pages.jsonl", collection.Want{Text: true}, sink(table.NewJSONL)},
	{"csv", "a row a page, without the text", "pages.csv", collection.Want{Text: true}, sink(table.NewCSV)},
	{"text", "a line a page: id, tab, text", "pages.txt", collection.Want{Text: true}, sink(table.NewLines)},
	{"markdown", "a file a page, with front matter", "markdown/", collection.Want{Text: true, Markdown: true}, func(at export.Place, name string) (export.Sink, error) {
		return table.NewMarkdown(at, name), nil
	}},
}

// sink makes a format's own constructor one of any sink.
func sink[S export.Sink](open func(export.Place, string) (S, error)) func(export.Place, string) (export.Sink, error) {
	return func(at export.Place, name string) (export.Sink, error) { return open(at, name) }
}

// exportFormatNames are what --to takes.
func exportFormatNames() (names []string) {
	for _, f := range exportFormats {
		names = append(names, f.name)
	}
	return names
}
