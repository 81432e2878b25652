package main

import (
	"cmp"
	"io"
	"math"
	"slices"

	"fossick/internal/printable"
	"fossick/store"
)

const (
	// weightiest is how many parts of a score are printed, without --all.
	weightiest = 5
	few        = 8 // so many are all printed
)

// sums are terms that say what the others come to, or why there are none.
var sums = []string{"probability", "expected", "explored", "start", "marked", "similarity"}

// printTerms prints the parts of a score: with all as they stand, else the sums, and
// the parts that weighed most, the heaviest first.
func printTerms(w io.Writer, terms []store.Term, all bool) {
	shown, left := terms, 0
	if !all {
		shown, left = heaviest(terms)
	}
	for _, t := range shown {
		printable.Fprintf(w, "           %-20s %-8.4g %s\n", t.Name, t.Value, t.Note)
	}
	if left > 0 {
		printable.Fprintf(w, "           and %d that weighed less: --all\n", left)
	}
}

// heaviest returns the terms to print, and how many it leaves out. Few are all
// printed: those of most scores are no summands, but steps of an equation.
func heaviest(terms []store.Term) (shown []store.Term, left int) {
	var parts []store.Term
	for _, t := range terms {
		if slices.Contains(sums, t.Name) {
			shown = append(shown, t)
		} else {
			parts = append(parts, t)
		}
	}
	if len(parts) <= few {
		return terms, 0
	}
	slices.SortStableFunc(parts, func(a, b store.Term) int { return cmp.Compare(math.Abs(b.Value), math.Abs(a.Value)) })
	return append(shown, parts[:weightiest]...), len(parts) - weightiest
}
