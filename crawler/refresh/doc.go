// Package refresh decides what is to be done about a stored page that was asked for
// again, and when a URL may have news at all.
//
// In: the answer, and the page as it is stored. Out: a Verdict, counted, and the time of
// the next visit. It stores nothing: the engine applies the verdict.
//
// Files: session.go verdicts; interval.go next visits (paper E, E3).
package refresh
