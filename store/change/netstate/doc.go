// Package netstate predicts whether the next visit of a URL succeeds (paper E3).
//
// In: visits of URLs, each with its host, its time and what it came to. Out: the chance
// that a visit at a given time succeeds; counted chances that a
// success follows a success and a failure a failure. Paper E's own are package change's.
//
// The predictor learns as it goes and its memory is bounded. The room opens no
// file and reads no clock. Start with New, then Chance and Learn.
//
// Files: chain.go what follows what; predictor.go the predictor; history.go what it keeps of a URL
// and of a host; experts.go the chances by which it goes; mixer.go how it weighs them; keep.go
// what outlives the process; outcome.go what a visit came to; trial.go how good chances were.
package netstate
