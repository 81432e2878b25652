// Package explain shows a whole model on one page.
//
// In: a model, and how it did on pages that it was not trained on. Out: an HTML
// page in the look of package report. It says what the model is: card, classes,
// best words, the whole tree, every rule. And it says how far it is to be
// believed: quality by class, confusions, reliability of its probabilities, the
// learning curve, its surest mistakes.
//
// It measures nothing itself: package train does. What one page's label rests on is
// the business of package classify.
//
// Start with Write.
//
// Files: page.go what comes in, and the page; sentences.go the same in plain
// words; words.go the words of weight tables. tree.go trees as chains of tests;
// rules.go rules by class; plots.go the curves; explain.html the template.
package explain
