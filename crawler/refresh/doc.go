// Package refresh decides which stored pages are asked for again and when, what is to be done
// about the answer, and when a URL may have news at all.
//
// In: the store's journal, and an answer with the page as it is stored. Out: pages, one after
// the other; a Verdict, counted; the time of the next visit. It journals no visit: the engine
// applies the verdict.
//
// Files: chooser.go which pages, notseen.go those of --refresh, rounds.go all of them again and
// again, budget.go so many a day by a policy, uniform.go the simplest one; session.go
// verdicts; interval.go next visits (paper E, E3).
package refresh
