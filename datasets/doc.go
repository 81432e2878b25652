// Package datasets reads labelled sets and stored corpora.
//
// In: a path, or "demo" for the built-in set. Out: a Set of Examples, with the corpus's links and
// truth where it has them, and splits into train and test. Examples stream in bounded memory and can
// be read again.
//
// No row is dropped silently. An unreadable row is an error with file and line, and the caller
// decides whether to continue. The Report counts deliberate omissions (a filter, a file without a
// page) and suspicious rows: no label, an empty body, a repeated body.
//
// HTML and Text of an Example are UTF-8, whatever the source's encoding. Start with Open, then range
// over Examples.
//
// Files: set.go sets and streams of rows; example.go rows, their URLs, labels and filters; layout.go
// Open and folder layouts; lines.go lists, JSON lines and the URL index; corpus.go corpora; demo.go the
// demo set (docs/datasets.md); warc.go web archives and saved pages; parquet.go and parquetlook.go
// tables; sitemap.go sitemaps; split.go train and test splits, and reports.
package datasets
