// Package classify labels pages with a trained model.
//
// In: the text of a page by field (features.Doc). Out: its label with a calibrated probability, the
// probabilities of all labels, and why: the rule that fired, or the words that weighed most.
//
// It trains nothing. A model's tables are flat arrays, so that scoring takes time linear in the text
// and leaves no garbage. Start with New, then Classify; ExplainFor gives reasons.
//
// Files: classify.go labels and probabilities of a model or a vote; explain.go reasons; domain.go pages
// that a model cannot judge.
package classify
