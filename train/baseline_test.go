package train

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sjwhitworth/golearn/kdtree"
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
