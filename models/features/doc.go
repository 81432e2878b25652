// Package features turns text into what a classifier computes with.
//
// In: the text of a page by field (Doc), and labels while training. Out: terms
// (Analyzer), and their counts on a page as a sparse vector (Extractor) over a
// readable vocabulary (Lexicon). Then tf-idf weights (Weighting), document
// frequencies, weights and information gain (Counts; paper A eq. 2–5).
//
// It opens no file, parses no HTML and trains nothing. One pass over a stream is
// enough for every count; memory is bounded by the vocabulary. Start with
// NewAnalyzer and Terms, or with NewExtractor and Count.
//
// Files: analyzer.go text to terms; segment.go words and their borders.
// words.go the cache of words, shared.go what several learn together,
// numbers.go the two numbers that text is counted by. plain.go words found
// eight bytes at a time; tokens.go terms as numbers of the caller's. also.go a
// second reader of the same words, row.go words looked up together, around.go
// parts of a text that was cut. spare.go analyzers between pages; stem.go
// languages and their stems; stop.go stop words. document.go the text of a page
// by field, path.go that of its URL; extract.go its terms, count.go their
// counts. lexicon.go numbers of terms; vector.go tf-idf; gain.go equations 2 to
// 5; measure.go other measures of words.
package features
