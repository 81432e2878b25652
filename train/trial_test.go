package train

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"

	"fossick/datasets"
	"fossick/internal/fulltest"
	"fossick/models"
	"fossick/models/features"
)

// twoLevels makes n pages of two themes with two categories each.
func twoLevels(n int, seed uint64) iter.Seq2[*datasets.Example, error] {
	return func(yield func(*datasets.Example, error) bool) {
		rng := rand.New(rand.NewPCG(seed, 1))
		for i := range n {
			theme := []string{"land", "sea"}[i%2]
			category := theme + []string{"bird", "fish"}[i/2%2]
			var text strings.Builder
			for range 60 {
				switch rng.IntN(24) {
				case 0:
					fmt.Fprintf(&text, "%sish%c ", theme, 'a'+rune(rng.IntN(4)))
				case 1:
					fmt.Fprintf(&text, "%sish%c ", category, 'a'+rune(rng.IntN(4)))
				default:
					fmt.Fprintf(&text, "plain%c%c ", 'a'+rune(rng.IntN(8)), 'a'+rune(rng.IntN(8)))
				}
			}
			e := &datasets.Example{URL: fmt.Sprintf("http://s.test/%d/%d", seed, i), Label: theme, Labels: []string{theme, category}, Text: text.String()}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// at labels examples at a level, for Train.
func at(l Level, set iter.Seq2[*datasets.Example, error]) iter.Seq2[*datasets.Example, error] {
	return func(yield func(*datasets.Example, error) bool) {
		for e, err := range set {
			e.Label = l.Of(e)
			if !yield(e, err) {
				return
			}
		}
	}
}

// TestBenchIsTrain: at both levels, with test pages and by folds, in memory and from
// a file, a trial says what training and testing a model says.
func TestBenchIsTrain(t *testing.T) {
	ctx := context.Background()
	for _, memory := range []int64{0, 100 << 10} {
		opt := Options{Terms: Terms{Mu: 0.03}, Space: Space{Memory: memory, Tmp: t.TempDir()}}
		tested, rep, err := NewBench(ctx, twoLevels(200, 1), twoLevels(80, 2), opt, Theme, Category)
		if err != nil {
			t.Fatal(err)
		}
		folded, _, err := NewBench(ctx, twoLevels(200, 1), nil, opt, Theme, Category)
		if err != nil {
			t.Fatal(err)
		}
		if (rep.Spilled > 0) != (memory > 0) {
			t.Fatalf("memory %d: %d bytes in a file", memory, rep.Spilled)
		}
		for _, l := range []Level{Theme, Category} {
			for _, mu := range []float64{0.03, 0.08} {
				trial := Trial{Level: l, Classifier: models.C45, Mu: mu}
				m, rep, err := Train(ctx, at(l, twoLevels(200, 1)), Options{Method: Method{Classifier: models.C45}, Terms: Terms{Mu: mu}})
				if err != nil {
					t.Fatal(err)
				}
				want := apply(t, m, &Options{}, at(l, twoLevels(80, 2)))
				got, err := tested.Try(ctx, trial)
				if err != nil || got.Words != len(m.Terms) || got.Measures.Accuracy != want.Accuracy || got.Measures.Pages != 80 {
					t.Errorf("%s, μ %v: %d words, %+v, %v; want %d, %+v", l, mu, got.Words, got.Measures, err, len(m.Terms), want)
				}
				cv, err := folded.Try(ctx, trial)
				if err != nil || cv.Measures.Accuracy != rep.Accuracy[models.C45] || cv.Measures.Pages != 200 {
					t.Errorf("%s, μ %v, by folds: %+v, %v; want accuracy %v", l, mu, cv.Measures, err, rep.Accuracy[models.C45])
				}
			}
		}
	}
}

func TestBenchTrials(t *testing.T) {
	ctx := context.Background()
	b, _, err := NewBench(ctx, twoLevels(200, 1), twoLevels(80, 2), Options{}, Theme, Category)
	if err != nil {
		t.Fatal(err)
	}
	all := []string{models.C45, models.NaiveBayes, models.CN2, models.LinearSVM, models.NN}
	for _, name := range all[:fulltest.Rounds(2, len(all))] {
		few, err := b.Try(ctx, Trial{Level: Category, Classifier: name, Words: 3})
		if err != nil {
			t.Fatal(err)
		}
		many, err := b.Try(ctx, Trial{Level: Category, Classifier: name, Words: 60})
		if err != nil || few.Words != 3 || many.Words != 60 || !(many.Measures.Accuracy > few.Measures.Accuracy) {
			t.Errorf("%s: accuracy %v with 60 words and %v with 3, %v", name, many.Measures, few.Measures, err)
		}
	}
	byOwn, _, err := NewBench(ctx, twoLevels(200, 1), twoLevels(80, 2), Options{Terms: Terms{Select: features.ByMI}}, Category)
	if err != nil {
		t.Fatal(err)
	}
	mi := Trial{Level: Category, Classifier: models.C45, Mu: 1.2}
	want, err := byOwn.Try(ctx, mi)
	if err != nil {
		t.Fatal(err)
	}
	mi.Select = features.ByMI
	if got, err := b.Try(ctx, mi); err != nil || got.Words != want.Words || got.Measures.Accuracy != want.Measures.Accuracy || got.Words == 0 {
		t.Errorf("by mutual information as a trial: %+v, %v; want what a bench of it says, %+v", got, err, want)
	}
	if got, err := b.Try(ctx, Trial{Level: Theme, Classifier: models.C45, Mu: 9}); err != nil || got.Words != 0 || got.Measures != nil {
		t.Errorf("a μ that no word gains: %+v, %v; want 0 words and no accuracy", got, err)
	}
	for _, choosy := range []string{"", Auto, models.Voting} {
		if _, err := b.Try(ctx, Trial{Level: Theme, Classifier: choosy}); err == nil {
			t.Errorf("%q was tried", choosy)
		}
	}
	if _, err := b.Try(ctx, Trial{Level: "planet", Classifier: models.C45}); err == nil {
		t.Error("an unknown level was tried")
	}
}

func TestBenchErrors(t *testing.T) {
	none := func(func(*datasets.Example, error) bool) {}
	if _, _, err := NewBench(context.Background(), none, nil, Options{}, Theme); !errors.Is(err, ErrData) {
		t.Errorf("a bench of nothing: %v", err)
	}
	oneTheme := func(yield func(*datasets.Example, error) bool) {
		for e := range twoLevels(40, 1) {
			e.Labels[0] = "land"
			if !yield(e, nil) {
				return
			}
		}
	}
	if _, _, err := NewBench(context.Background(), oneTheme, nil, Options{}, Category, Theme); !errors.Is(err, ErrData) {
		t.Errorf("a single theme: %v", err)
	}
	if _, _, err := NewBench(context.Background(), oneTheme, nil, Options{}, Category); err != nil {
		t.Errorf("four categories of a single theme: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := NewBench(ctx, twoLevels(40, 1), nil, Options{}, Theme); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}
