// Package judge says how good a model is, and what it says of pages.
//
// In: a model, labelled pages, what training found out by cross-validation.
// Out: accuracy and what goes with it, by class and as a confusion matrix; the
// surest mistakes, each with its rule. McNemar's test of two models. What share
// of the pages a model was trained on, which flatters it. Each as JSON has it,
// and as text.
//
// It reads no files: pages come as streams.
//
// Files: verdicts.go pages labelled one by one; compare.go against a second
// model; test.go a model just trained; quality.go by class. mistakes.go the
// surest of them; lessons.go pages that the model was trained on; topic.go a
// model's word on a topic.
package judge
