package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fossick/datasets"
	"fossick/internal/cli"
	"fossick/internal/testkit"
	"fossick/models"
	"fossick/models/features"
)

// TestMake: the model and its page are written, and the result measures the model on the set's test rows.
func TestMake(t *testing.T) {
	dir := t.TempDir()
	k := Plan{
		Sets: []string{"demo"}, Open: datasets.Open, Say: func(string, ...any) {}, Log: slog.New(slog.DiscardHandler),
		Options: Options{
			Classifier: "nb", Folds: 3, Target: Target{Topic: "banking"},
			Seed: 1, Explain: true, Step: func(string) {},
		},
		Out: filepath.Join(dir, "m.model"), Explain: filepath.Join(dir, "m.html"), Version: "0",
	}
	r, err := k.Make(t.Context(), func(rows datasets.Stream) datasets.Stream { return rows })
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.ReadFile(k.Out)
	if err != nil || m.Card.Test == nil || *r.Threshold != m.Threshold("banking") || r.Words != len(m.Terms) {
		t.Fatalf("%+v: %v", r, err)
	}
	if *r.TestPages != m.Card.Test.Pages || *r.AccuracyFrom != "test" || !(*r.Accuracy > 0.8) || len(r.Curve) == 0 || len(r.Reliability.Bins) == 0 {
		t.Errorf("the result is %+v", r)
	}
	if page, err := os.ReadFile(k.Explain); err != nil || !strings.Contains(string(page), "fossick 0") {
		t.Errorf("no page: %v", err)
	}
	var text strings.Builder
	r.Print(&text)
	for _, want := range []string{"Trained nb on ", "test pages", "The whole model on a page: "} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in %s", want, text.String())
		}
	}
	if b, err := json.Marshal(r); err != nil || !strings.Contains(string(b), `"reliability":{"ece":`) || !strings.Contains(string(b), `"learning_curve":[{"pages":`) {
		t.Errorf("%s: %v", b, err)
	}
}

// TestRun sweeps two μ on the demo set: the larger leaves fewer words, both ways to choose words appear, and
// two steps leave fewer words where the first drops some.
func TestRun(t *testing.T) {
	trials := Trials{
		Plan: Plan{
			Sets: []string{"demo"}, Open: datasets.Open, Say: func(string, ...any) {}, Log: slog.New(slog.DiscardHandler),
			Options: Options{Target: Target{Topic: "sport"}, Seed: 1},
		},
		Classifiers: []string{models.NaiveBayes},
		Task:        cli.NewScreen(t.Output(), cli.ScreenOptions{Quiet: true}).Begin,
	}
	testkit.Must(t, trials.MuSweep.UnmarshalText([]byte("0.01:0.03:0.02")))
	r := testkit.Call(trials.Run(t.Context())).Must(t)
	if len(r.Sweep) != 4 || r.Sweep[0].Words <= r.Sweep[1].Words || *r.Sweep[0].Accuracy < 0.8 || r.Protocol != nil {
		t.Fatalf("%+v", r.Sweep)
	}
	if two, one := r.Sweep[0], r.Sweep[2]; two.Select != "tfdf+gain" || one.Select != "gain" || two.Words >= one.Words {
		t.Errorf("by two steps %+v, by gain alone %+v", two, one)
	}
	var b strings.Builder
	if r.Print(&b); !strings.Contains(b.String(), "theme: 2 classes, 345 training and 297 test pages, words by gain") {
		t.Errorf("as text: %s", b.String())
	}
}

func TestMuRange(t *testing.T) {
	for text, want := range map[string][]float64{
		"0.01:0.05:0.01": {0.01, 0.02, 0.03, 0.04, 0.05},
		"0.1:0.35:0.1":   {0.1, 0.2, 0.3},
		"0.2:0.2:1":      {0.2},
		"1:1000:1":       nil, // 1,000 steps, not checked one by one
	} {
		var r MuRange
		if err := r.UnmarshalText([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := r.values()
		if want == nil {
			if len(got) != 1000 || got[999] != 1000 {
				t.Errorf("%s: %d values to %v, want 1000 to 1000", text, len(got), got[len(got)-1])
			}
			continue
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	if got := (MuRange{0.01, 0.18, 0.01}).values(); len(got) != 18 || got[2] != 0.03 || got[17] != 0.18 {
		t.Errorf("the paper's range: %v", got)
	}
	for _, text := range []string{"", "0.1", "0.1:0.2", "0.1:0.01:0.01", "0.1:0.2:0", "0:1:0.1", "1e-12:1:0.1", "1:2:1e-12", "1:1001:1", "0.1:NaN:0.1", "0.1:Inf:0.1", "-1:1:1", "a:b:c", "1:2:3:4"} {
		var r MuRange
		if err := r.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was read as %v", text, r)
		}
	}
}

// FuzzMuRange: an accepted range has 1 to 1000 positive, rising values inside it.
func FuzzMuRange(f *testing.F) {
	for _, s := range []string{"0.01:0.18:0.01", "1:1:1", "1e-9:1e-8:1e-9", "5:4:1", "0.1:0.2:1e9", "::"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var r MuRange
		if r.UnmarshalText([]byte(text)) != nil {
			return
		}
		mu := r.values()
		if len(mu) < 1 || len(mu) > mostSteps || mu[0] <= 0 || mu[len(mu)-1] > r.to+finest+r.step*1e-6 {
			t.Fatalf("%q: %d values, %v to %v", text, len(mu), mu[0], mu[len(mu)-1])
		}
		for i := 1; i < len(mu); i++ {
			if mu[i] <= mu[i-1] {
				t.Fatalf("%q: %v after %v", text, mu[i], mu[i-1])
			}
		}
	})
}

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

func at(l labelLevel, set datasets.Stream) datasets.Stream {
	return func(yield func(*datasets.Example, error) bool) {
		for e, err := range set {
			e.Label = l.of(e)
			if !yield(e, err) {
				return
			}
		}
	}
}

// TestBenchIsTrain: a trial equals training and testing a model, at both levels and in little memory.
func TestBenchIsTrain(t *testing.T) {
	ctx := context.Background()
	for _, memory := range []int64{0, 100 << 10} {
		opt := Options{Mu: 0.03, Memory: memory}
		for _, l := range []labelLevel{theme, category} {
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
	for _, name := range all[:testkit.Rounds(2, len(all))] {
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
