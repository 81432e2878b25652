// Package features turns text into what a classifier computes with.
//
// In: the text of a page by field (Doc), and labels while training. Out: terms
// (Analyzer), counts and information gain (Counts; paper A eq. 2–5), and sparse
// tf-idf vectors over a vocabulary that stays readable (Space).
//
// It opens no file, parses no HTML and trains nothing. One pass over a stream is
// enough for every count; memory is bounded by the vocabulary. Start with
// NewAnalyzer and Terms, or with NewSpace and Vector.
//
// Files: analyzer.go text to terms; segment.go words and their borders;
// stem.go languages and their stems; stop.go stop words.
package features
