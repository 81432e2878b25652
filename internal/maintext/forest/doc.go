// Package forest has boosted regression trees that tell a chance from a row of features.
//
// In: rows of numbers with their classes, 0 or 1, and weights (Grow), or a forest that was
// kept (Parse). Out: a chance in [0,1] (Chance). Trees are grown best leaf first, by the
// second-order gain of the logistic loss (Friedman 2001; Chen and Guestrin 2016), over
// features cut into few steps.
//
// Files: forest.go a forest at work; encode.go its bytes; grow.go boosting; split.go where
// a leaf is split.
package forest
