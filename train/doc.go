// Package train makes models from labelled pages, says how good they are, and shows them.
//
// In: a Plan: labelled sets, which of their rows, and Options; or a stream of examples. Out: a
// models.Model, its file, a page that explains it, and a Result as JSON and as text.
//
// A run reads the stream once and keeps counts of terms, no text. It compares classifiers by
// stratified folds where it may choose, and trains the best on all pages. The folds also
// calibrate probabilities, set each class's threshold and fill the model's card. The same examples
// and seed give the same bytes. Test pages are read only when the model is judged.
//
// Start with Making.Make, or with Train for a model alone.
//
// Files, making: plan.go sets and their rows; made.go a model made, judged and written;
// unlabelled.go and pu.go pages without labels, pupromise.go what these promise; verdicts.go what
// a model says of pages; explain.go the page of a model, tables.go its tree, rules and words;
// trials.go settings tried, sweep.go accuracy against μ.
//
// Files, learning: train.go a run and its options; gather.go the one pass over the pages, memory.go
// sets larger than memory; keywords.go the choice of K; fold.go cross-validation and the choice of
// a classifier; measure.go accuracy and its interval; calibrate.go probabilities and thresholds;
// domain.go what a model does not know. fit.go what the classifiers share: linear.go, c45.go (its
// rules: simplify.go), cn2.go, nn.go, forest.go, vote.go.
package train
