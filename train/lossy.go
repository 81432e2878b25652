package train

import (
	"slices"

	"fossick/models/features"
)

// lossy counts on how many pages each term of a growing lexicon occurs, and
// keeps the lexicon below a limit by dropping the rarest terms. It is lossy
// counting (Manku & Motwani 2002), with the space given instead of the error.
// What it promises:
//
//	true pages − bound ≤ df ≤ true pages, and a term that is missing is on bound pages at most
type lossy struct {
	lex   *features.Lexicon
	limit int     // terms
	df    []int32 // by term: pages that it was counted on
	lost  []int32 // by term: pages before these that it may have been on
	born  []int32 // by term: the first page that it was counted on; earlier rows mean another term
	bound int32
}

// add counts a page. It reports whether terms were dropped.
func (t *lossy) add(page int, v features.Vector) (dropped bool) {
	if n := t.lex.Len() - len(t.df); n > 0 {
		t.df = append(t.df, make([]int32, n)...)
		t.lost = append(t.lost, make([]int32, n)...)
		t.born = append(t.born, make([]int32, n)...)
	}
	for _, i := range v.Index {
		if t.df[i] == 0 {
			t.lost[i], t.born[i] = t.bound, int32(page)
		}
		t.df[i]++
	}
	if t.lex.Live() <= t.limit {
		return false
	}
	t.prune()
	return true
}

// prune drops at least half of the terms, those on fewest pages, and no term that
// could be on more pages than the new bound.
func (t *lossy) prune() {
	most := make([]int32, 0, t.lex.Live()) // pages that a term is on, at most
	for i, term := range t.lex.Terms() {
		if term != "" {
			most = append(most, t.df[i]+t.lost[i])
		}
	}
	slices.Sort(most)
	t.bound = max(t.bound, most[(len(most)-1)/2])
	t.lex.Drop(func(i int32) bool {
		if t.df[i] > 0 && t.df[i]+t.lost[i] > t.bound {
			return true
		}
		t.df[i], t.lost[i] = 0, 0
		return false
	})
}
