package train

import (
	"slices"
	"testing"

	"fossick/features"
)

// TestKeywordCandidates asks which of a few words are the best for K, by the pages of
// the class and of the rest that have them.
func TestKeywordCandidates(t *testing.T) {
	type word struct {
		name      string
		own, rest int     // pages
		times     float32 // on each of them
	}
	for _, tc := range []struct {
		name      string
		own, rest int // pages
		words     []word
		want      []string // in order
	}{
		{"a common word is worth less than a rarer one of the class alone", 20, 200,
			[]word{{"people", 18, 60, 9}, {"planet", 15, 5, 1}, {"telescope", 6, 0, 1}},
			[]string{"planet", "telescope", "people"}},
		{"a word of one page and words rather absent are none", 20, 200,
			[]word{{"planet", 15, 5, 1}, {"typo", 1, 0, 9}, {"king", 2, 90, 9}},
			[]string{"planet"}},
		{"a class of one page has words nevertheless", 1, 50,
			[]word{{"planet", 1, 3, 1}}, []string{"planet"}},
		{"in a large set the rarest words do not win", 2000, 8000,
			[]word{{"sulawesi", 100, 0, 9}, {"feather", 1500, 40, 1}},
			[]string{"feather", "sulawesi"}},
		{"of equal words those that their pages have often, then by the alphabet", 20, 200,
			[]word{{"sun", 9, 1, 1}, {"star", 9, 1, 7}, {"moon", 9, 1, 1}}, []string{"star", "moon", "sun"}},
	} {
		c := &corpus{classes: []string{"own", "rest"}, nouns: &nouns{most: map[string]string{}}}
		for _, w := range tc.words {
			c.terms = append(c.terms, w.name)
			c.nouns.most[w.name] = w.name
		}
		counts := features.NewCounts(2)
		for class, pages := range []int{tc.own, tc.rest} {
			for n := range pages {
				var v features.Vector
				for i, w := range tc.words {
					if n < []int{w.own, w.rest}[class] {
						v.Index, v.Value = append(v.Index, int32(i)), append(v.Value, w.times)
					}
				}
				counts.Add(class, v)
			}
		}
		c.candidates(counts, &Options{})
		if !slices.Equal(c.best[0], tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, c.best[0], tc.want)
		}
	}
}
