// Package train makes models from labelled examples.
//
// In: a stream of examples and Options. Out: a models.Model, and a Report of what
// was read and how well each classifier did in cross-validation.
//
// A run reads the stream once, keeping counts of terms and no text. It compares
// classifiers by stratified folds when it may choose, and trains the best on
// all. What the folds said calibrates probabilities, sets each class's
// threshold, and fills the model's card. All of it is repeatable: the same
// examples and seed give the same bytes. It never sees a test set: those are
// judged by the caller, with package classify and Measure.
//
// Files: train.go the run, options.go what it is told. gather.go the stream,
// counting.go its terms beside it, titles.go the words of its titles. rows.go,
// lossy.go, columns.go and reduce.go sets larger than memory; fold.go
// cross-validation; fit.go what classifiers share. linear.go linear
// classifiers, svm.go by support vector machines, logistic.go by logistic
// regression; bayes.go naive Bayes. blend.go the machine with a share of it;
// vote.go several learners together; tune.go how a linear classifier is set.
// c45.go, grid.go, split.go, prune.go and compile.go decision trees,
// simplify.go their rules; forest.go golearn's random trees, stack.go several learners with fitted shares; cn2.go, cover.go, tally.go and beam.go rules by
// search. network.go committees of networks, lesson.go how one learns,
// backprop.go its steps and golearn.go the same by golearn. baseline.go
// golearn's own trees, knn.go its nearest neighbours; calibrate.go
// probabilities and thresholds; keywords.go the choice of K. measure.go
// accuracy and what goes with it, judged.go by page, reliability.go of
// probabilities, curve.go by training pages; mcnemar.go two models compared.
// pseudo.go pages of another place; pu.go, pushare.go, pusites.go and pupromise.go
// good examples alone; trial.go many settings tried on one reading.
package train
