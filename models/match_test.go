package models

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"fossick/models/features"
)

func TestRulesScores(t *testing.T) {
	s := make([]float64, 2)
	for _, c := range []struct {
		ordered, shares bool
		x               features.Vector
		rule            int32
		want            float64 // of banking
	}{
		{false, false, features.Vector{Index: []int32{0}, Value: []float32{1}}, 0, 5. / 6},
		{false, false, features.Vector{Index: []int32{0, 2}, Value: []float32{1, 3}}, 0, 6. / 9}, // 4+1 and 0+2
		{false, true, features.Vector{Index: []int32{0, 2}, Value: []float32{1, 3}}, 0, ((4+0.5)/5 + (1+0.5)/4) / 2},
		{true, false, features.Vector{Index: []int32{0, 2}, Value: []float32{1, 3}}, 0, 5. / 6},
		{true, false, features.Vector{Index: []int32{0, 1, 2}, Value: []float32{1, 1, 3}}, 1, 2. / 5},
		{false, false, features.Vector{}, 2, 0.5},
		{false, true, features.Vector{}, 2, 0.5},
	} {
		r := rulesModel().Rules
		r.Ordered, r.Shares = c.ordered, c.shares
		rule := NewMatcher(r, 3, 2).Scores(s, c.x, &RuleScratch{Dense: make([]float32, 3)})
		if rule != c.rule || math.Abs(math.Exp(s[0])-c.want) > 1e-6 {
			t.Errorf("%+v: rule %d, probability %v", c, rule, math.Exp(s[0]))
		}
	}
}

// randomRules makes rules of one to four conditions, some without a word that they
// ask for, some whose first condition is not that.
func randomRules(rng *rand.Rand, rules, terms, classes int) *Rules {
	r := &Rules{Start: []int32{0}}
	for range rules {
		for range 1 + rng.IntN(4) {
			r.Term = append(r.Term, int32(rng.IntN(terms)))
			r.Threshold = append(r.Threshold, float32(rng.IntN(4)-1))
			r.Above = append(r.Above, uint8(rng.IntN(2)))
		}
		r.Start, r.Class = append(r.Start, int32(len(r.Term))), append(r.Class, int32(rng.IntN(classes)))
	}
	for range (rules + 1) * classes {
		r.Counts = append(r.Counts, float32(rng.IntN(9)))
	}
	return r
}

// TestMatcher: it finds what going through all rules finds.
func TestMatcher(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		terms := 1 + rng.IntN(12)
		r := randomRules(rng, rng.IntN(30), terms, 3)
		m := NewMatcher(r, terms, 3)
		for range 20 {
			var x features.Vector
			dense := make([]float32, terms)
			for i := range dense {
				if rng.IntN(3) == 0 {
					dense[i] = float32(1 + rng.IntN(3))
					x.Index, x.Value = append(x.Index, int32(i)), append(x.Value, dense[i])
				}
			}
			var want []int32
			for rule := range r.Len() {
				holds := true
				for i := r.Start[rule]; i < r.Start[rule+1]; i++ {
					if r.Above[i] == 1 {
						holds = holds && dense[r.Term[i]] > r.Threshold[i]
					} else {
						holds = holds && dense[r.Term[i]] <= r.Threshold[i]
					}
				}
				if holds {
					want = append(want, int32(rule))
				}
			}
			got := m.All(nil, x, dense)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Fatalf("rules %v hold, want %v", got, want)
			}
			first := slices.Concat(want, []int32{int32(r.Len())})[0]
			if got := m.First(x, dense); got != first {
				t.Fatalf("rule %d is the first, want %d", got, first)
			}
		}
	}
}
