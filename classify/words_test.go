package classify

import (
	"math"
	"slices"
	"testing"

	"fossick/internal/testkit"
	"fossick/models"
	"fossick/models/features"
)

// TestRead: for every kind of model, Read agrees with Classify, Explain, Score and a reader alone.
func TestRead(t *testing.T) {
	also := features.Also{Number: func(term string) uint32 { return uint32(len(term)) }}
	d := features.Doc{Title: "The Bank", Description: "a mortgage", Text: "A garden of mortgages\nloans, loans and a loan", Lang: "en"}
	parts := []Part{
		{Around: [2]features.Span{{Start: 2, End: 8}, {Start: 12, End: 21}}},
		{Around: [2]features.Span{{}, {Start: 29, End: 45}}},
		{Text: "another mortgage"},
		{},
	}
	texts := []string{"garden mortgages", "loans and a loan", "another mortgage", ""}
	for name, m := range map[string]*models.Model{"linear": linear(), "tree": tree(), "rules": rules(), "network": network(), "vote": vote()} {
		c := testkit.Call(NewReading(m, also)).Must(t)
		var r Reading
		for range 2 { // the second time in the same slices
			got, why := c.Read(&r, d, 0, slices.Values(parts))
			want, wantWhy := c.ClassifyAndExplain(d)
			if got.Label != want.Label || !slices.Equal(got.Probs, want.Probs) || why != wantWhy {
				t.Errorf("%s: %v, %q; want %v, %q", name, got, why, want, wantWhy)
			}
			for i, text := range texts {
				if want := c.Score(features.Doc{Text: text, Lang: "en"}, "banking"); math.Abs(r.Parts[i]-want) > 0 {
					t.Errorf("%s: part %q %v, want %v", name, text, r.Parts[i], want)
				}
			}
			// garden, mortgag; loan, loan; anoth, mortgag
			if want := []uint32{6, 7, 4, 4, 5, 7}; !slices.Equal(r.PartWords, want) || !slices.Equal(r.PartEnds, []int{2, 4, 6, 6}) {
				t.Errorf("%s: words of the parts %v, %v; want %v", name, r.PartWords, r.PartEnds, want)
			}
			// bank, mortgag, garden; the rest are repeats, or have the same number
			if want := []uint32{4, 7, 6}; !slices.Equal(r.Words, want) {
				t.Errorf("%s: words %v, want %v", name, r.Words, want)
			}
		}
		score, words := c.ScoreWords(features.Doc{Title: "the bank"}, 0, []uint32{1})
		if want := c.Score(features.Doc{Title: "the bank"}, "banking"); score != want || !slices.Equal(words, []uint32{1, 4}) {
			t.Errorf("%s: ScoreWords %v, %v; want %v", name, score, words, want)
		}
	}
}
