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
// Files, in the order of a run. Settings: train.go. Data: plan.go sets and their rows, gather.go the one pass
// over the pages, memory.go sets larger than memory. Choice of words: keywords.go K, fit.go what learners
// share. Learners: linear.go, c45.go, cn2.go, nn.go, forest.go, vote.go, pu.go (examples of a topic alone),
// unlabelled.go (pages of another kind). Judging: fold.go cross-validation and the choice of a learner,
// measure.go accuracy, calibrate.go probabilities and thresholds, domain.go which pages a model can judge,
// verdicts.go labels of pages and models compared. The papers' protocols: trials.go, sweep.go accuracy
// against μ. Report: made.go the result, explain.go a model's page.
package train
