package train

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"fossick/datasets"
	"fossick/internal/fulltest"
	"fossick/models"
	"fossick/models/features"
)

// twoLevels makes n pages of two themes with two categories each.
func twoLevels(n int, seed uint64) datasets.Stream {
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
func at(l Level, set datasets.Stream) datasets.Stream {
	return func(yield func(*datasets.Example, error) bool) {
		for e, err := range set {
			e.Label = l.of(e)
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
		opt := Options{Mu: 0.03, Memory: memory, Tmp: t.TempDir()}
		for _, l := range []Level{theme, category} {
			tested, rep, err := newBench(ctx, twoLevels(200, 1), twoLevels(80, 2), opt, l.of)
			if err != nil {
				t.Fatal(err)
			}
			folded, _, err := newBench(ctx, twoLevels(200, 1), nil, opt, l.of)
			if err != nil {
				t.Fatal(err)
			}
			if (rep.Spilled > 0) != (memory > 0) {
				t.Fatalf("memory %d: %d bytes in a file", memory, rep.Spilled)
			}
			for _, mu := range []float64{0.03, 0.08} {
				one := trial{classifier: models.C45, mu: mu}
				m, rep, err := Train(ctx, at(l, twoLevels(200, 1)), Options{Classifier: models.C45, Mu: mu})
				if err != nil {
					t.Fatal(err)
				}
				want := apply(t, m, &Options{}, at(l, twoLevels(80, 2)))
				got, err := tested.try(ctx, one)
				if err != nil || got.words != len(m.Terms) || got.measures.Accuracy != want.Accuracy || got.measures.Pages != 80 {
					t.Errorf("%s, μ %v: %d words, %+v, %v; want %d, %+v", l, mu, got.words, got.measures, err, len(m.Terms), want)
				}
				cv, err := folded.try(ctx, one)
				if err != nil || cv.measures.Accuracy != rep.Accuracy[models.C45] || cv.measures.Pages != 200 {
					t.Errorf("%s, μ %v, by folds: %+v, %v; want accuracy %v", l, mu, cv.measures, err, rep.Accuracy[models.C45])
				}
			}
		}
	}
}

func TestBenchTrials(t *testing.T) {
	ctx := context.Background()
	b, _, err := newBench(ctx, twoLevels(200, 1), twoLevels(80, 2), Options{}, category.of)
	if err != nil {
		t.Fatal(err)
	}
	all := []string{models.C45, models.NaiveBayes, models.CN2, models.LinearSVM, models.NN}
	for _, name := range all[:fulltest.Rounds(2, len(all))] {
		few, err := b.try(ctx, trial{classifier: name, words: 3})
		if err != nil {
			t.Fatal(err)
		}
		many, err := b.try(ctx, trial{classifier: name, words: 60})
		if err != nil || few.words != 3 || many.words != 60 || !(many.measures.Accuracy > few.measures.Accuracy) {
			t.Errorf("%s: accuracy %v with 60 words and %v with 3, %v", name, many.measures, few.measures, err)
		}
	}
	byOwn, _, err := newBench(ctx, twoLevels(200, 1), twoLevels(80, 2), Options{Select: features.ByGain}, category.of)
	if err != nil {
		t.Fatal(err)
	}
	gain := trial{classifier: models.C45, mu: 0.05}
	want, err := byOwn.try(ctx, gain)
	if err != nil {
		t.Fatal(err)
	}
	gain.by = features.ByGain
	if got, err := b.try(ctx, gain); err != nil || got.words != want.words || got.measures.Accuracy != want.measures.Accuracy || got.words == 0 {
		t.Errorf("by gain as a trial: %+v, %v; want what a bench of it says, %+v", got, err, want)
	}
	if got, err := b.try(ctx, trial{classifier: models.C45, mu: 9}); err != nil || got.words != 0 || got.measures != nil {
		t.Errorf("a μ that no word gains: %+v, %v; want 0 words and no accuracy", got, err)
	}
	for _, choosy := range []string{"", Auto, models.Voting} {
		if _, err := b.try(ctx, trial{classifier: choosy}); err == nil {
			t.Errorf("%q was tried", choosy)
		}
	}
}

func TestBenchErrors(t *testing.T) {
	none := func(func(*datasets.Example, error) bool) {}
	if _, _, err := newBench(context.Background(), none, nil, Options{}, theme.of); !errors.Is(err, ErrData) {
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
	if _, _, err := newBench(context.Background(), oneTheme, nil, Options{}, theme.of); !errors.Is(err, ErrData) {
		t.Errorf("a single theme: %v", err)
	}
	if _, _, err := newBench(context.Background(), oneTheme, nil, Options{}, category.of); err != nil {
		t.Errorf("four categories of a single theme: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := newBench(ctx, twoLevels(40, 1), nil, Options{}, theme.of); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}
