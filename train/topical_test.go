package train

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"testing"

	"fossick/datasets"
	"fossick/models"
)

// rare makes a set in which one page of fifty is on topic, and says so by some of many words.
func rare(n int, rng *rand.Rand) (set []*datasets.Example) {
	for i := range n {
		e := &datasets.Example{URL: fmt.Sprintf("http://h%d.test/%d", i%9, i), Label: "rest"}
		words, topical := "", 1
		if i%50 == 0 {
			e.Label, topical = "bees", 6
		}
		for range 40 {
			words += fmt.Sprintf(" plain%c%c", 'a'+rng.IntN(26), 'a'+rng.IntN(4))
		}
		for range topical {
			words += fmt.Sprintf(" bee%c", 'a'+rng.IntN(12))
		}
		e.Text = words
		set = append(set, e)
	}
	return set
}

// TestTopical: with twelve pages on topic of 600, what ranks best is chosen, and its probabilities are
// as frequent as they say on pages not seen.
func TestTopical(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	m, rep, err := Train(context.Background(), stream(rare(600, rng)), Options{Target: Target{Topic: "bees"}, Seed: 1, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	if m.Classifier != models.LinearSVM {
		t.Errorf("%s was chosen: %v", m.Classifier, rep.Accuracy)
	}
	if m.Domain == nil || m.Domain.LeastWords < 1 || !(m.Domain.LeastFamiliar > 0) {
		t.Errorf("domain %+v", m.Domain)
	}
	if len(rep.Accuracy) != 3 || rep.CV == nil || rep.CV.Pages != 600 {
		t.Errorf("cross-validated %v, on %+v", rep.Accuracy, rep.CV)
	}
}

// TestRounds: a small set is held out more often than a large one, never in the same way.
func TestRounds(t *testing.T) {
	for pages, want := range map[int]int{60: 4, 600: 4, 800: 3, 2000: 1, 9000: 1} {
		c := &corpus{classes: []string{"bees", "other"}, y: make([]int, pages)}
		for p := range c.y {
			c.y[p] = p % 2
		}
		all, n := c.rounds(&Options{Folds: 5})
		if len(all) != want || n != 5 {
			t.Errorf("%d pages: %d rounds of %d folds, want %d of 5", pages, len(all), n, want)
		}
		for r := 1; r < len(all); r++ {
			if fmt.Sprint(all[r]) == fmt.Sprint(all[0]) {
				t.Errorf("%d pages: round %d is the first again", pages, r)
			}
		}
	}
	c := &corpus{classes: []string{"bees", "other"}, y: []int{0, 1, 1}}
	if all, n := c.rounds(&Options{Folds: 5}); all != nil || n >= 2 {
		t.Errorf("one page of a class: %v, %d folds", all, n)
	}
}

// TestLead: the mean of paired differences in standard errors.
func TestLead(t *testing.T) {
	a, b := &contender{losses: []float64{1, 2, 3, 4}}, &contender{losses: []float64{2, 4, 3, 4}}
	// Differences 1, 2, 0, 0: mean ¾, squares about it 2.75, standard error √2.75/4.
	if got, want := a.lead(b), 0.75/(math.Sqrt(2.75)/4); !(math.Abs(got-want) <= 1e-12) || !(math.Abs(b.lead(a)+want) <= 1e-12) {
		t.Errorf("%v and %v, want ±%v", got, b.lead(a), want)
	}
	if got := a.lead(a); got != 0 {
		t.Errorf("against itself %v", got)
	}
}
