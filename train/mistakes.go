package train

import (
	"cmp"
	"io"
	"slices"

	"fossick/internal/printable"
)

// Mistake is a page that got a wrong label.
type Mistake struct {
	URL   string  `json:"url"`
	Truth string  `json:"truth"`
	Label string  `json:"label"`
	Score float64 `json:"score"`
	Rule  string  `json:"rule"`
}

// Worst returns the n most confident mistakes, the surest first; equal ones stay
// in the order of the set. They show a wrong label of the set as often as a
// weakness of the model.
func Worst(all []Mistake, n int) []Mistake {
	list := []Mistake{}
	for _, i := range surest(all)[:min(n, len(all))] {
		list = append(list, all[i])
	}
	return list
}

// surest returns the places of the mistakes, the surest first.
func surest(all []Mistake) []int {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[b].Score, all[a].Score) })
	return order
}

// PrintWorst writes mistakes, of so many.
func PrintWorst(w io.Writer, list []Mistake, mistakes int) {
	if len(list) == 0 {
		return
	}
	printable.Fprintf(w, "\nThe most confident of %d mistakes:\n", mistakes)
	for _, m := range list {
		printable.Fprintf(w, "  %.3f %s, is %s: %s\n        %s\n", m.Score, m.Label, m.Truth, printable.Cut(m.URL, 100), printable.Cut(m.Rule, 160))
	}
}
