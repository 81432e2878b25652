// Package table writes pages as rows: JSON Lines, Parquet, CSV and plain text, and Markdown with a
// file a page.
//
// In: pages, and a place for files. Out: a file, or a folder, a format. The columns are
// declared once, in columns.go, so that all formats agree on names, order and meaning. What
// is not known is null, or empty where a format has no null; never 0.
//
// Start with Columns, or with NewJSONL and the like.
//
// Files: columns.go what a row has; words.go how words are counted; jsonl.go, parquet.go, csv.go,
// lines.go and markdown.go the formats.
package table
