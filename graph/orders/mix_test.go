package orders

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestParseMix(t *testing.T) {
	tests := []struct {
		text string
		want []Share // nil for an error
	}{
		{"mcs", []Share{{"mcs", 1}}},
		{"mcs*0.3+relevance*0.7", []Share{{"mcs", 0.3}, {"relevance", 0.7}}},
		{" bfs * 2 + opic", []Share{{"bfs", 2}, {"opic", 1}}},
		{"", nil}, {"+", nil}, {"mcs+", nil}, {"best", nil}, {"mcs*", nil}, {"mcs*0", nil}, {"mcs*-1", nil}, {"mcs*NaN", nil},
		{"mcs*Inf", nil}, {"mcs*1e9", nil}, {"mcs+mcs", nil}, {"mcs*2*3", nil}, {"0.3*mcs", nil},
	}
	for _, tc := range tests {
		got, err := ParseMix(tc.text)
		if !slices.Equal(got, tc.want) || (err == nil) != (tc.want != nil) {
			t.Errorf("%q: got %v, %v; want %v", tc.text, got, err, tc.want)
		}
	}
}

func FuzzParseMix(f *testing.F) {
	for _, text := range []string{"mcs", "mcs*0.3+relevance*0.7", "a+b", "bfs*1e-6+dfs*1e6"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		shares, err := ParseMix(text)
		if err != nil {
			return
		}
		for _, s := range shares {
			if sequences[s.Name] == nil || !(s.Part > 0) || math.IsInf(s.Part, 0) {
				t.Fatalf("%q: %v", text, shares)
			}
		}
	})
}

// TestMixEqualsOracle replays a mix: at each step the ordering whose turn it is must choose as it would alone,
// after the same visits.
func TestMixEqualsOracle(t *testing.T) {
	parts := []string{"mcs", "relevance", "bfs", "lexbfs", "dfs", "lexdfs", "backlink", "opic", "opic-history", "pagerank", "largest-site", "generic", "mns"}
	for i := range graphs() / 5 {
		k, o, rng := furtherGraph(i)
		_, counts := randomWeb(rng)
		o.Every = 1 + rng.IntN(3)
		var shares []Share
		text := ""
		for _, p := range rng.Perm(len(parts))[:2+rng.IntN(3)] {
			s := Share{parts[p], float64(1+rng.IntN(9)) / 10}
			shares = append(shares, s)
			if text != "" {
				text += "+"
			}
			text += s.Name + "*" + string('0'+rune(s.Part*10+0.5)) + "e-1"
		}
		withRand := func() SequenceOptions {
			o := o
			o.Rand = rand.New(rand.NewPCG(9, 9))
			return o
		}
		m := mustSequence(t, text, withRand())
		// Each part alone sees what the mix took. Random parts have their own generator here, so they cannot be
		// compared.
		alone := make([]Sequence, len(shares))
		for j, s := range shares {
			alone[j] = mustSequence(t, s.Name, withRand())
		}
		all := append([]Sequence{m}, alone...)
		for _, s := range all {
			s.Visit(Starts(k.starts))
		}
		earned := make([]float64, len(shares))
		took := make([]float64, len(shares))
		sum := 0.0
		for _, s := range shares {
			sum += s.Part
		}
		for step := 1.0; ; step++ {
			got, ok := m.Next()
			if !ok {
				break
			}
			turn := 0
			for j := range shares {
				if earned[j] = step*shares[j].Part - took[j]*sum; earned[j] > earned[turn]+1e-6 {
					turn = j
				}
			}
			took[turn]++
			name := shares[turn].Name
			if name != "generic" && name != "mns" {
				if want, ok := alone[turn].Next(); !ok || got != want {
					t.Fatalf("graph %d, %s, step %g, turn of %s: took %d, want %d", i, text, step, name, got, want)
				}
			}
			for j, s := range alone {
				s.Take(got)
				if math.Abs(took[j]-step*shares[j].Part/sum) > float64(len(shares)) {
					t.Fatalf("%s: %s took %g of %g", text, shares[j].Name, took[j], step)
				}
			}
			l := linksOf(k.links, counts, got)
			for _, s := range all {
				s.Visit(l)
			}
		}
		for j, s := range alone {
			if v, ok := s.Next(); ok {
				t.Fatalf("%s: %d is left for %s", text, v, shares[j].Name)
			}
		}
	}
}
