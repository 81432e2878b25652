// Package datasets reads labelled sets and stored corpora.
//
// In: a path, or the name of the built-in set. Out: a Set, with the corpus's links and truth where
// it has them; and splits into train and test. Its Examples stream row by row in bounded memory, as
// often as they are asked for.
//
// Nothing is dropped in silence. A row that cannot be read is an error with file and line; the
// caller decides whether to go on. The Report counts what is left out on purpose (a filter, a file
// that holds no page) and what looks wrong: no label, an empty body, a repeated body.
//
// HTML and Text of an Example are UTF-8, whatever the source's encoding was. Start with Open, then
// range over Examples.
//
// Files: set.go sets and streams of rows; example.go a row, its URL, labels and filters; layout.go
// Open and the layouts of folders; lines.go lists and JSON lines; corpus.go corpora and the demo
// set; warc.go archives and pages that a browser saved; parquet.go and parquetlook.go tables;
// sitemap.go sitemaps; split.go train and test.
package datasets
