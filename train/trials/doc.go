// Package trials tries settings of training: each classifier at each number of words,
// or paper A's experiment.
//
// In: a plan.Plan and what to try. Out: a row a trial, as numbers, a table for people and
// one page with figures. The set is read once (train.Bench). It makes no model.
//
// Files: trials.go the run; sweep.go accuracy against μ, with its page; protocol.go paper
// A's experiment, beside what was published; murange.go the values of μ.
package trials
