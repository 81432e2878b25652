package train

import (
	"context"
	"math"
	"slices"
	"testing"

	"fossick/models"
	"fossick/models/features"
)

// TestMixture: of 100 pages one member gives .8 to the truth of 70 and .2 to that of 30, the other the
// reverse. The likelihood 70 ln(.2 + .6 w) + 30 ln(.8 − .6 w) is largest where .2 + .6 w = .7,
// so w = 5/6.
func TestMixture(t *testing.T) {
	a, b, y := &nominee{}, &nominee{}, make([]int, 100)
	for p := range y {
		high, low := []float64{0.8, 0.2}, []float64{0.2, 0.8}
		if p >= 70 {
			high, low = low, high
		}
		a.probs, b.probs = append(a.probs, high), append(b.probs, low)
	}
	if share := mixture([]*nominee{a, b}, y); !(math.Abs(share[0]-5.0/6) <= 1e-3) || !(math.Abs(share[0]+share[1]-1) <= 1e-9) {
		t.Errorf("shares %.4f; want .8333 and .1667", share)
	}
}

// TestStackTrains: of new pages a stack's model says the mixture of what its members say, by its
// shares, p_c = Σ_m share_m · p_mc, calibrated. No member alone decides, and the stack is right on
// no fewer pages than its worst member.
func TestStackTrains(t *testing.T) {
	m, rep, err := Train(context.Background(), stream(mixed(80, 1)), Options{Classifier: models.Stack, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if m.Classifier != models.Stack || m.Vote == nil || rep.Accuracy[models.Trees] == 0 || rep.Accuracy[models.Stack] == 0 {
		t.Fatalf("classifier %s, accuracies %v", m.Classifier, rep.Accuracy)
	}
	sum := 0.0
	var members []func(features.Doc) []float64
	for i, member := range m.Vote.Members {
		sum += member.Share
		if i > 0 && member.Share > m.Vote.Members[i-1].Share {
			t.Errorf("member %d has a larger share than the one before", i)
		}
		members = append(members, asker(member.Model))
	}
	if !(math.Abs(sum-1) <= 1e-9) || len(members) != 3 {
		t.Errorf("shares of %d members add up to %v; want 3, and 1", len(members), sum)
	}
	ask, fresh := asker(m), mixed(1000, 2)
	for _, e := range fresh {
		d, err := Doc(e)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]float64, len(m.Classes))
		for i, member := range members {
			for class, p := range member(d) {
				want[class] += m.Vote.Members[i].Share * p
			}
		}
		for class, p := range want {
			want[class] = math.Log(p)
		}
		m.Calibration.Apply(want)
		if got := ask(d); !(math.Abs(got[0]-want[0]) <= 1e-9) {
			t.Fatalf("%s: %v; the mixture of members is %v", e.URL, got, want)
		}
	}
	worst := 1.0
	for _, member := range m.Vote.Members {
		worst = min(worst, apply(t, member.Model, &Options{}, stream(fresh)).Accuracy)
	}
	if got := apply(t, m, &Options{}, stream(fresh)).Accuracy; got < worst {
		t.Errorf("%.3f of new pages right, fewer than the worst member's %.3f; %s", got, worst, m.Card.Settings["members"])
	}
}

// TestStackOfTopic: for a topic against the rest, linear in a stack is the machine that linear is
// alone, weights and calibration: both are chosen by log loss over all rounds.
func TestStackOfTopic(t *testing.T) {
	var got [2]*models.Model
	for i, name := range []string{models.LinearSVM, models.Stack} {
		var err error
		if got[i], _, err = Train(t.Context(), stream(mixed(120, 1)), Options{Target: Target{Topic: mixed(1, 1)[0].Label}, Classifier: name, Seed: 1}); err != nil {
			t.Fatal(err)
		}
	}
	alone := got[0]
	for _, member := range got[1].Vote.Members {
		own := member.Model
		if own.Classifier != models.LinearSVM {
			continue
		}
		if !slices.Equal(own.Linear.Weights, alone.Linear.Weights) || own.Calibration.Scale != alone.Calibration.Scale || !slices.Equal(own.Calibration.Offset, alone.Calibration.Offset) {
			t.Errorf("in the stack calibrated by %v, alone by %v", own.Calibration, alone.Calibration)
		}
		return
	}
	t.Error("no linear in the stack")
}
