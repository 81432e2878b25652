// Package classify puts a trained model to work.
//
// In: the text of a page by field (features.Doc). Out: its label with a
// calibrated probability, the probabilities of all labels, and why: the rule
// that fired, or the words that weighed most.
//
// It trains nothing and knows no training library. A model's tables are flat arrays,
// and a page is scored in time linear in its text, without garbage. Start with New,
// then Classify; Explain and ExplainFor say why.
//
// Files: classify.go labels and probabilities; machine.go how one model scores a
// page, vote.go several; words.go what else one cut of a page gives; explain.go the
// reasons.
package classify
