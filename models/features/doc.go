// Package features turns text into the numbers that a classifier computes with.
//
// In: the text of a page by field (Doc), and labels in training. Out: terms (Analyzer), their counts on
// a page as a sparse vector (Extractor) over a readable vocabulary (Lexicon), tf-idf weights
// (Weighting), and document frequencies, weights and information gain (Counts; paper A eq. 2–5).
//
// It opens no file, parses no HTML and trains nothing. One pass over a stream suffices for every count,
// in memory bounded by the vocabulary. Start with NewAnalyzer and Terms, or NewExtractor and Count.
//
// Files: segment.go where words begin and end; stem.go languages, stems and stop words; analyzer.go
// text to terms, with a cache of words; extract.go the terms of a page, for one reader or two;
// vector.go their numbers and weights; gain.go equations 2 to 5.
package features
