package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"fossick/models/features"
)

func TestEnoughFolds(t *testing.T) {
	folds := []int{0, 1, 2, 3, 4}
	for _, c := range []struct{ pages, learners, want int }{
		{100, 1, 5}, {2400, 1, 5}, {2600, 1, 4}, {11314, 1, 1}, {11314, 2, 5}, {1_000_000, 1, 1},
	} {
		if got := len(enoughFolds(folds, c.pages, c.learners)); got != c.want {
			t.Errorf("%d pages, %d learners: %d folds, want %d", c.pages, c.learners, got, c.want)
		}
	}
}

func TestAhead(t *testing.T) {
	right, wrong := []float64{1, 0}, []float64{0, 1}
	a := &heldOut{scores: [][]float64{right, right, wrong, nil, right}}
	b := &heldOut{scores: [][]float64{right, wrong, right, right, wrong}}
	if got := ahead(a, b, make([]int, 5)); got.AOnly != 2 || got.BOnly != 1 {
		t.Errorf("a alone %d, b alone %d; want 2 and 1: page 3 is judged by one only", got.AOnly, got.BOnly)
	}
}

// TestTune: on held-out pages what is chosen is no worse than either weighting, and
// all pages of a small set are judged.
func TestTune(t *testing.T) {
	set := toy(240, "bank", "code", "star")
	for i, e := range set {
		for k := range 12 {
			e.Text += " rare" + string(rune('a'+(i/3+k*7)%26)) + string(rune('a'+(i/3*k)%26))
		}
	}
	opt := Options{Classifier: "linear", Seed: 1, Folds: 5}
	c, err := gather(context.Background(), stream(set), &opt, &Report{})
	if err != nil {
		t.Fatal(err)
	}
	every := []int{0, 1, 2, 3, 4}
	h, err := tune(context.Background(), c, folds(c, 5, &opt), every, opt.fitting())
	if err != nil {
		t.Fatal(err)
	}
	if scores, _ := h.judged(c.y); len(scores) != len(c.y) {
		t.Errorf("%d of %d pages judged", len(scores), len(c.y))
	}
	for _, odds := range []bool{false, true} {
		alone, err := crossValidate(context.Background(), c, linear{odds: odds}, folds(c, 5, &opt), every, opt.fitting())
		if err != nil {
			t.Fatal(err)
		}
		if h.score < alone.score-1e-12 {
			t.Errorf("tuned %v, below %v with odds %v", h.score, alone.score, odds)
		}
	}
}

// TestWarm: a machine that starts from a part of the pages ends where one does that
// starts from nothing, as near as it goes to the end.
func TestWarm(t *testing.T) {
	opt := Options{Seed: 1, Folds: 5}
	c, err := gather(context.Background(), stream(toy(150, "bank", "code", "star")), &opt, &Report{})
	if err != nil {
		t.Fatal(err)
	}
	cold, err := linear{}.fit(context.Background(), c, c.all(), opt.fitting())
	if err != nil {
		t.Fatal(err)
	}
	part, err := linear{passes: 3}.fit(context.Background(), c, c.all()[:100], opt.fitting())
	if err != nil {
		t.Fatal(err)
	}
	warm, err := linear{warm: part.dual}.fit(context.Background(), c, c.all(), opt.fitting())
	if err != nil {
		t.Fatal(err)
	}
	a, b := make([]float64, 3), make([]float64, 3)
	for p := range c.rows {
		cold.scores(a, c, p)
		warm.scores(b, c, p)
		for k := range a {
			if d := a[k] - b[k]; d > svmDefaults.eps || d < -svmDefaults.eps {
				t.Fatalf("page %d: scores %v from nothing, %v from a part", p, a, b)
			}
		}
	}
}

// TestCounting: every counter gets all pages in their order, and after an error no
// more, while the reading goes on to its end.
func TestCounting(t *testing.T) {
	const pages = 20*countedPages + 5
	var a, b []string
	n := newCounting(func(label string, d features.Doc) error {
		a = append(a, label+d.Text)
		return nil
	}, nil, func(label string, d features.Doc) error {
		if b = append(b, label+d.Text); len(b) == 3 {
			return io.ErrShortWrite
		}
		return nil
	})
	var want []string
	failed := false
	for i := range pages {
		d := features.Doc{Text: fmt.Sprint(i)}
		want = append(want, "x"+d.Text)
		failed = n.add("x", d) != nil || failed
	}
	if err := n.close(); !errors.Is(err, io.ErrShortWrite) || !failed {
		t.Errorf("error %v at the end, while adding %v; want a short write, and soon", err, failed)
	}
	if !slices.Equal(a, want) || len(b) != 3 {
		t.Errorf("counters got %d and %d pages; want %d in order, and 3", len(a), len(b), pages)
	}
}

// TestSelectionHasNoLead: of few words none stands twice, and the model does not
// look for what it has no terms of; of all words the lead is part.
func TestSelectionHasNoLead(t *testing.T) {
	set := toy(120, "bank", "code")
	for _, words := range []int{0, 30} {
		m, _, err := Train(context.Background(), stream(set), Options{Classifier: "linear", Seed: 1, Words: words})
		if err != nil {
			t.Fatal(err)
		}
		led := slices.ContainsFunc(m.Terms, func(s string) bool { return strings.HasPrefix(s, "lead:") })
		if led != (words == 0) || (m.Extractor.Lead > 0) != led {
			t.Errorf("%d words: terms of the lead %v, lead of %d words", words, led, m.Extractor.Lead)
		}
	}
}
