// Package train trains models from labelled pages, measures how good they are, and explains them.
//
// In: a Plan, which names labelled sets, their rows and Options; or a stream of examples. Out: a
// models.Model, its file, a page that explains it, and a Result as JSON and as text.
//
// A run reads the stream once and keeps counts of terms, no text. Stratified cross-validation chooses
// among classifiers, calibrates probabilities, sets each class's threshold and fills the model's card.
// The chosen classifier is then trained on all pages. The same examples and seed give the same bytes.
// Test pages are read only when the model is judged.
//
// Start with Plan.Make, or with Train for a model alone.
//
// Files, making: plan.go sets and their rows; made.go a model made, judged and written; unlabelled.go
// pages without labels; verdicts.go labels of pages and models compared; explain.go a model's page,
// tables.go its tree, rules and words; trials.go settings tried, sweep.go accuracy against μ.
//
// Files, learning: train.go a run and its options; gather.go the one pass over the pages, memory.go
// sets larger than memory; keywords.go the choice of K; fold.go cross-validation and the choice of a
// classifier; measure.go accuracy and its interval; calibrate.go probabilities and thresholds; domain.go
// which pages a model can judge; pu.go learning from examples of a topic alone, pupromise.go its expected
// quality. fit.go what classifiers share; linear.go, c45.go (its rules: simplify.go), cn2.go, nn.go,
// forest.go, vote.go.
package train
