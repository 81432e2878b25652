// Package classify puts a trained model to work.
//
// In: the text of a page by field (features.Doc). Out: its label with a calibrated probability, the
// probabilities of all labels, and why: the rule that fired, or the words that weighed most.
//
// It trains nothing. A model's tables are flat arrays, so that a page is scored in time linear in
// its text, without garbage. Start with New, then Classify; Explain and ExplainFor say why.
//
// Files: classify.go labels and probabilities, of one model and of a vote; explain.go the reasons;
// domain.go pages that a model cannot judge.
package classify
