package train

import (
	"context"
	"iter"
	"testing"
	"time"

	"fossick/datasets"
	"fossick/internal/fulltest"
	"fossick/models"
	"fossick/models/features"
)

// examples opens a corpus, or skips the test where there is none.
func examples(t testing.TB, name string) *datasets.Set {
	t.Helper()
	set, err := datasets.Open(fulltest.Corpus(t, name), datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// where passes on the examples that keep says.
func where(set *datasets.Set, keep func(n int, e *datasets.Example) bool) iter.Seq2[*datasets.Example, error] {
	return func(yield func(*datasets.Example, error) bool) {
		n := 0
		for e, err := range set.Examples() {
			if err == nil {
				n++
				if !keep(n-1, e) {
					continue
				}
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// apply tests a model on examples.
func apply(t testing.TB, m *models.Model, opt *Options, seq iter.Seq2[*datasets.Example, error]) Measures {
	t.Helper()
	ask := asker(m)
	var truth, predicted []int
	for e, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		class := m.Class(opt.Class(e))
		if class < 0 {
			continue
		}
		d, err := Doc(e)
		if err != nil {
			t.Fatal(err)
		}
		s := ask(d)
		truth, predicted = append(truth, class), append(predicted, best(s))
	}
	return Measure(len(m.Classes), truth, predicted)
}

// asker returns what gives a page's probabilities by a model. Members of a vote look
// at the page each for itself.
func asker(m *models.Model) func(features.Doc) []float64 {
	x := features.NewExtractor(m.Extractor, features.FixedLexicon(m.Terms))
	w := m.Weighting
	w.Bind(m.Terms)
	s, dense := make([]float64, len(m.Classes)), make([]float32, len(m.Terms))
	score := func(features.Doc, features.Vector) {}
	switch {
	case m.Tree != nil:
		tree := models.NewWalker(m.Tree, len(m.Terms), len(m.Classes))
		score = func(_ features.Doc, v features.Vector) { tree.Scores(s, v, dense); models.Logs(s) }
	case m.Rules != nil:
		rules := models.NewMatcher(m.Rules, len(m.Terms), len(m.Classes))
		score = func(_ features.Doc, v features.Vector) { rules.Scores(s, v, &models.RuleScratch{Dense: dense}) }
	case m.Forest != nil:
		forest := models.NewRanger(m.Forest, len(m.Terms), len(m.Classes))
		score = func(_ features.Doc, v features.Vector) { forest.Scores(s, v, dense) }
	case m.Network != nil:
		score = func(_ features.Doc, v features.Vector) { m.Network.Scores(s, v, make([]float32, m.Network.Units())) }
	case m.Vote != nil:
		var members []func(features.Doc) []float64
		for _, member := range m.Vote.Members {
			members = append(members, asker(member.Model))
		}
		score = func(d features.Doc, _ features.Vector) {
			m.Vote.Scores(s, func(i int) []float64 { return members[i](d) })
		}
	default:
		score = func(_ features.Doc, v features.Vector) { m.Linear.Scores(s, v) }
	}
	return func(d features.Doc) []float64 {
		v := x.Count(features.Vector{}, d)
		w.Apply(v)
		score(d, v)
		m.Calibration.Apply(s)
		return s
	}
}

// TestRealCorpora holds the classifiers to what they reach on sets that were not
// looked at when they were tuned: a margin below the figures of docs/results.md.
func TestRealCorpora(t *testing.T) {
	fulltest.Only(t, "trains on whole corpora")
	roles := []string{"student", "faculty", "course", "project"}
	cornell := func(_ int, e *datasets.Example) bool { return e.Site == "cornell" }
	bySplit := func(_ int, e *datasets.Example) bool { return e.Split == "test" }
	fifth := func(n int, _ *datasets.Example) bool { return n%5 == 4 }
	for _, c := range []struct {
		name, data string
		opt        Options
		test       func(int, *datasets.Example) bool
		accuracy   float64
		macroF1    float64
	}{
		{"webkb linear", "webkb", Options{Classifier: "linear", Target: Target{Labels: roles}}, cornell, 0.92, 0},
		{"webkb nb", "webkb", Options{Classifier: "nb", Target: Target{Labels: roles}}, cornell, 0.80, 0},
		{"webkb c45", "webkb", Options{Classifier: "c45", Target: Target{Labels: roles}, Words: 77}, cornell, 0.80, 0},
		{"webkb cn2", "webkb", Options{Classifier: "cn2", Target: Target{Labels: roles}, Words: 77}, cornell, 0.87, 0},
		{"20news linear", "20news", Options{Classifier: "linear"}, bySplit, 0.83, 0.82},
		{"20news nb", "20news", Options{Classifier: "nb"}, bySplit, 0, 0.78},
		{"20news c45", "20news", Options{Classifier: "c45", Words: 500}, bySplit, 0.5, 0},
		{"20news cn2", "20news", Options{Classifier: "cn2", Words: 500}, bySplit, 0.62, 0},
		{"webkb nn", "webkb", Options{Classifier: "nn", Target: Target{Labels: roles}, Words: 77}, cornell, 0.88, 0},
		{"20news nn", "20news", Options{Classifier: "nn", Words: 500}, bySplit, 0.66, 0},
		{"wikispeedia linear", "wikispeedia/train.jsonl.zst", Options{Classifier: "linear"}, fifth, 0.85, 0},
		{"wikispeedia nb", "wikispeedia/train.jsonl.zst", Options{Classifier: "nb"}, fifth, 0.6, 0},
		{"wikispeedia c45", "wikispeedia/train.jsonl.zst", Options{Classifier: "c45", Words: 77}, fifth, 0.40, 0},
		{"wikispeedia cn2", "wikispeedia/train.jsonl.zst", Options{Classifier: "cn2", Words: 77}, fifth, 0.56, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := examples(t, c.data)
			c.opt.Seed = 1
			start := time.Now()
			m, rep, err := Train(context.Background(), where(set, func(n int, e *datasets.Example) bool { return !c.test(n, e) }), c.opt)
			if err != nil {
				t.Fatal(err)
			}
			took := time.Since(start)
			got := apply(t, m, &c.opt, where(set, c.test))
			t.Logf("%d train, %d test, %d terms: accuracy %.4f, macro F1 %.4f; cross-validated %.4f; %s",
				rep.Pages, got.Pages, len(m.Terms), got.Accuracy, got.MacroF1, rep.CV.Accuracy, took.Round(time.Millisecond))
			if got.Accuracy < c.accuracy || got.MacroF1 < c.macroF1 {
				t.Errorf("accuracy %.4f, macro F1 %.4f; want %.2f, %.2f", got.Accuracy, got.MacroF1, c.accuracy, c.macroF1)
			}
		})
	}
}
