// Package made makes the model of a plan and says what became of it.
//
// In: a train/plan Plan, and where the model and its page go. Out: both files, and the
// Result: how good the model is, as JSON and as text.
//
// It trains nothing itself, see train/plan, and judges nothing, see package judge.
//
// Files: made.go the steps; result.go what they came to.
package made
