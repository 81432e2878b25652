// Package datasets reads labelled benchmark sets and stored corpora.
//
// In: a path, or the name of the built-in set. Out: a Set, with the corpus's
// links and truth where it has them; and splits into train and test. Its
// Examples stream row by row in bounded memory, as often as they are asked for.
//
// Nothing is dropped in silence. A row that cannot be read is an error with
// file and line; who reads the set decides whether to go on. What is left out
// on purpose (a filter, a file that holds no page) is counted in the Report. So
// is what looks wrong: no label, an empty body, bytes that are no UTF-8, a
// repeated body.
//
// HTML and Text of an Example are UTF-8, whatever the source's encoding was.
// Parsing them is the job of package page; what they are used for (training,
// crawling, judging) is the caller's.
//
// Start with Open, then range over Examples.
//
// Files: set.go Set and options; example.go a row; layout.go Open: what a path
// holds; jsonl.go, corpus.go, folders.go, webkb.go, news.go,
// warc.go, sitemap.go a layout each; saved.go and mhtml.go pages that a browser saved.
// row.go and scan.go one JSON line; lines.go and compressed.go reading;
// truth.go the labels of a corpus. key.go when two URLs are the same; where.go
// filters; stream.go rows one by one, opener.go sets opened and chained;
// report.go counts. split.go train and test; web.go what a corpus is beyond its
// pages; demo.go the built-in web of package demo as a set.
package datasets
