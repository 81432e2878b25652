package train

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sjwhitworth/golearn/kdtree"

	"fossick/datasets"
	"fossick/models"
)

// TestBaselines: golearn's own classifiers learn, and the same each time.
func TestBaselines(t *testing.T) {
	set := toy(160, "bank", "code", "star")
	b, _, err := NewBench(context.Background(), stream(set), nil, Options{Seed: 1, Terms: Terms{Words: 40}}, Category)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range Baselines() {
		trial := Trial{Level: Category, Classifier: name, Words: 40}
		first, err := b.Try(context.Background(), trial)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if first.Measures.Accuracy < 0.8 {
			t.Errorf("%s: %.3f right, want .8 at least", name, first.Measures.Accuracy)
		}
		again, err := b.Try(context.Background(), trial)
		if err != nil || !slices.EqualFunc(first.Measures.Confusion, again.Measures.Confusion, slices.Equal[[]int]) {
			t.Errorf("%s: %v, then %v (%v)", name, first.Measures.Confusion, again.Measures.Confusion, err)
		}
	}
	if _, _, err := Train(context.Background(), stream(set), Options{Method: Method{Classifier: golearnKNN}}); err == nil {
		t.Error("a baseline made a model")
	}
}

// TestBayesWeights: by hand, with α = 0.1. Term 0 has mass 3 and 1 in two classes, term 1 has 0 and 2.
// In class 0 the terms have 3.1 and 0.1 of 3.2. Its complement has 1.1 and 2.1 of 3.2; the
// negative logarithms, 1.067841 and 0.421213, are scaled to the sum 2.
func TestBayesWeights(t *testing.T) {
	own, all := []float64{3, 1, 0, 2}, []float64{4, 2}
	for complement, want := range map[bool][2]float64{
		false: {math.Log(3.1 / 3.2), math.Log(0.1 / 3.2)},
		true:  {2 * 1.067841 / 1.489054, 2 * 0.421213 / 1.489054},
	} {
		l := &models.Linear{Weights: make([]float32, 4)}
		bayes{complement: complement}.class(l, own, all, 0, 2)
		for term, w := range want {
			if got := float64(l.Weights[2*term]); !(math.Abs(got-w) <= 1e-5) {
				t.Errorf("complement %v: term %d weighs %v, want %v", complement, term, got, w)
			}
		}
	}
}

// TestNearest holds golearn's tree, with our distance, to all distances, sorted: points
// are sparse, and many are equal along any axis.
func TestNearest(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range 200 {
		terms, n := 1+rng.IntN(6), 1+rng.IntN(60)
		draw := func() []float64 {
			p := make([]float64, terms+1)
			p[terms] = 1
			for i := range terms {
				if rng.IntN(3) == 0 {
					p[i] = float64(rng.IntN(3)) / 2
				}
			}
			return p
		}
		rows := make([][]float64, n)
		for i := range rows {
			rows[i] = draw()
		}
		tree := kdtree.New()
		if err := tree.Build(rows); err != nil {
			t.Fatal(err)
		}
		at, k := draw(), min(neighbours, n)
		var want []float64
		for _, r := range rows {
			sum := 0.0
			for i := range r {
				sum += (r[i] - at[i]) * (r[i] - at[i])
			}
			want = append(want, math.Sqrt(sum))
		}
		slices.Sort(want)
		_, got, err := tree.Search(k, apart{}, at)
		if err != nil || !slices.Equal(got, want[:k]) {
			t.Fatalf("%d points of %d terms: distances %v (%v), want %v", n, terms, got, err, want[:k])
		}
	}
}

// TestTreeAgainstID3: on 99 pages of the demo, c45 is not behind golearn's ID3 on the same 77
// words, in the mean of many draws. One draw says little: of 20, either wins some by a tenth. By
// C4.5's own caution alone, two pages a side, c45 is .026 behind on themes.
func TestTreeAgainstID3(t *testing.T) {
	all := distinct(t)
	for _, c := range []struct {
		level Level
		draws int64
		ahead float64
	}{{Theme, 20, -0.01}, {Category, 5, 0.08}} {
		var diff []float64
		for draw := range c.draws {
			in, out := drawn(all, 9, draw)
			b, _, err := NewBench(t.Context(), stream(in), stream(out), Options{Terms: Terms{Words: 77}, Seed: draw}, c.level)
			if err != nil {
				t.Fatal(err)
			}
			accuracy := func(classifier string) float64 {
				tried, err := b.Try(t.Context(), Trial{Level: c.level, Classifier: classifier, Words: 77})
				if err != nil {
					t.Fatal(err)
				}
				return tried.Measures.Accuracy
			}
			diff = append(diff, accuracy(models.C45)-accuracy(golearnID3))
		}
		if got := mean(diff); got < c.ahead {
			t.Errorf("%s: c45 is ahead of ID3 by %.3f in the mean of %d draws, want %.2f; by draw %.3f", c.level, got, c.draws, c.ahead, diff)
		}
	}
}

// distinct returns the demo's pages that have a category, each body once.
func distinct(t *testing.T) (all []*datasets.Example) {
	set, err := datasets.Open("demo", datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for e, err := range set.Examples() {
		if err != nil {
			t.Fatal(err)
		}
		if len(e.Labels) > 1 && !seen[e.HTML+e.Text] {
			seen[e.HTML+e.Text] = true
			all = append(all, e)
		}
	}
	return all
}

// drawn divides pages, n of each category to train on and the others to test.
func drawn(all []*datasets.Example, n int, seed int64) (in, out []*datasets.Example) {
	all = slices.Clone(all)
	rng := rand.New(rand.NewPCG(uint64(seed), 0xe4b))
	rng.Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
	has := map[string]int{}
	for _, e := range all {
		if has[Category.Of(e)]++; has[Category.Of(e)] <= n {
			in = append(in, e)
		} else {
			out = append(out, e)
		}
	}
	return in, out
}
