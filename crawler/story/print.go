package story

import (
	"cmp"
	"io"
	"math"
	"slices"
	"time"

	"fossick/internal/printable"
	"fossick/internal/terminal"
	"fossick/store"
)

// Print writes the story as text; with all, also the parts of a score that weighed least.
func (r *Story) Print(w io.Writer, all bool) {
	printable.Fprintln(w, r.URL)
	if r.Verdict != "" { // a crawl of an earlier build tells none
		terminal.Fprint(w, r.Verdict, r.style())
		io.WriteString(w, "\n\n")
	}
	printable.Fprintf(w, "  state    %s\n", r.State)
	if r.Title != nil {
		printable.Fprintf(w, "  page     %d, %q\n", *r.Page, *r.Title)
	}
	printable.Fprintf(w, "  found    %s\n", r.Times.Found.Format(time.DateTime))
	r.Rank.print(w)
	for _, v := range r.Visits {
		printable.Fprintf(w, "  visited  %s, %.3f s, %s", v.Start.Format(time.DateTime), v.Seconds, v.State)
		if v.Code != 0 {
			printable.Fprintf(w, " (%d)", v.Code)
		}
		if v.Error != "" {
			printable.Fprintf(w, ": %s", v.Error)
		}
		io.WriteString(w, "\n")
	}
	if r.Times.Next != nil {
		printable.Fprintf(w, "  next     %s, when a visit may find a change\n", r.Times.Next.Format(time.DateTime))
	}
	if r.Score.Value != nil {
		printable.Fprintf(w, "  score    %.4f\n", *r.Score.Value)
	}
	printTerms(w, r.Score.Terms, all)
	printTopics(w, r.Topics)
	if r.Now != nil {
		printable.Fprintf(w, "  now      %.4f\n", *r.Now.Value)
		printTerms(w, r.Now.Terms, all)
	}
	for _, reason := range r.Reasons {
		printable.Fprintf(w, "  because  %s\n", reason)
	}
}

const (
	// weightiest is how many parts of a score are printed, without --all.
	weightiest = 5
	few        = 8 // so many are all printed
)

// sums are terms that are always printed: they say what the others come to, or why there are
// none, and the degree of relevance.
var sums = []string{"probability", "expected", "explored", "start", "marked", "similarity", "R", "by R", "R of the link"}

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
		printable.Fprintf(w, "           and %d with less weight: --all\n", left)
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
