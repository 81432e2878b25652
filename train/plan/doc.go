// Package plan says what a model is trained from and tested on, and makes it.
//
// In: a Plan: sets, which of their rows, the labels by which rows are told apart, and
// the options of training. Out: the training and test rows as streams (Parts), or the
// model itself (Make). Rows come in the order of the sets, draws by the plan's seed.
//
// It opens nothing itself: an Opener does. It judges no model: see package judge.
//
// Files: plan.go the plan and its model; parts.go training and test rows;
// persite.go rows a site; rename.go and level.go labels and themes. watch.go
// what looks wrong in sets; pool.go good examples alone, among unlabelled
// pages; adapt.go unlabelled pages of another place.
package plan
