package train

import (
	"context"
	"math"
	"slices"
	"testing"

	"fossick/internal/stats"
	"fossick/models"
)

// TestLearningCurve: it rises where there is something to learn, ends with all
// pages, and is the same every time.
func TestLearningCurve(t *testing.T) {
	set := toy(400, "bank", "code", "star")
	opt := Options{Classifier: models.NaiveBayes, Seed: 3, Explain: true}
	_, rep, err := Train(context.Background(), stream(set), opt)
	if err != nil {
		t.Fatal(err)
	}
	curve := rep.Curve
	if len(curve) != 6 || curve[0].Pages < 10 || curve[0].Pages > 13 || curve[5].Pages != 320 {
		t.Fatalf("points %v; want 6, from 1/32 of 320 pages to all of them", curve)
	}
	for i := 1; i < len(curve); i++ {
		if curve[i].Pages <= curve[i-1].Pages {
			t.Errorf("pages do not rise: %v", curve)
		}
	}
	first, last := curve[0], curve[5]
	if last.Accuracy != rep.Accuracy[models.NaiveBayes] {
		t.Errorf("the last point has %v, cross-validation %v", last.Accuracy, rep.Accuracy)
	}
	if first.Accuracy >= last.Accuracy || first.CI != stats.Wilson(int(first.Accuracy*400+0.5), 400) {
		t.Errorf("first %v, last %v", first, last)
	}
	if _, again, err := Train(context.Background(), stream(set), opt); err != nil || !slices.Equal(again.Curve, curve) {
		t.Errorf("again %v (%v), want %v", again.Curve, err, curve)
	}
}

// TestLearningCurveOfFew: where even half the pages are too few, all is the only point.
func TestLearningCurveOfFew(t *testing.T) {
	_, rep, err := Train(context.Background(), stream(toy(12, "bank", "code")), Options{Classifier: models.LinearSVM, Explain: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(rep.Curve) != 1 {
		t.Errorf("points %v, want one", rep.Curve)
	}
}

func TestPartNests(t *testing.T) {
	c := &corpus{classes: []string{"a", "b"}, y: []int{0, 0, 0, 0, 0, 0, 0, 1, 0, 1}}
	order := []int{9, 3, 1, 0, 7, 2, 4, 5, 6, 8}
	pages := []int{0, 1, 2, 3, 4, 5, 7, 9}
	quarter, half := c.part(order, pages, 1./4), c.part(order, pages, 1./2)
	if want := []int{9, 3, 1}; !slices.Equal(quarter, want) {
		t.Errorf("a quarter: %v, want %v", quarter, want)
	}
	for _, p := range quarter {
		if !slices.Contains(half, p) {
			t.Errorf("page %d of %v is not in %v", p, quarter, half)
		}
	}
}

// TestReliability: worked by hand. Pages that are .9 sure: two of four right; .95:
// one of one; .3: none of one.
func TestReliability(t *testing.T) {
	var pages []Judged
	for i, right := range []bool{true, true, false, false, true, false, true} {
		p := Judged{Score: []float64{0.9, 0.9, 0.9, 0.9, 0.95, 0.3, 1}[i]}
		if !right {
			p.Label = 1
		}
		pages = append(pages, p)
	}
	r := measureReliability(pages)
	if len(r.Bins) != 2 || r.Bins[0].Pages != 1 || r.Bins[1].Pages != 6 {
		t.Fatalf("bins %+v", r.Bins)
	}
	top := r.Bins[1]
	if !(math.Abs(top.Mean-5.55/6) <= 1e-12) || !(math.Abs(top.Right-4./6) <= 1e-12) || top.From != 0.9 || top.To != 1 {
		t.Errorf("top bin %+v", top)
	}
	// ECE = 1/7 · |0 − .3| + 6/7 · |4/6 − 5.55/6|, all of it too sure.
	if want := (0.3 + 1.55) / 7; !(math.Abs(r.ECE-want) <= 1e-12) || !(math.Abs(r.Over-want) <= 1e-12) {
		t.Errorf("ECE %v, over %v, want %v", r.ECE, r.Over, want)
	}
	if none := measureReliability(nil); len(none.Bins) != 0 || none.ECE != 0 {
		t.Errorf("no pages: %+v", none)
	}
}

// TestRightCI: pages of one site count as one, where sites are held out.
func TestRightCI(t *testing.T) {
	right := func(i int) bool { return i%10 < 8 && i/10 != 3 } // of ten sites, one is all wrong
	pages := rightCI(100, func(int) string { return "" }, right)
	sites := rightCI(100, func(i int) string { return "abcdefghij"[i/10 : i/10+1] }, right)
	if pages != stats.Wilson(72, 100) {
		t.Errorf("pages: %v, want Wilson's", pages)
	}
	if sites[0] >= pages[0] || sites[1] <= pages[1] {
		t.Errorf("sites %v, want wider than pages %v", sites, pages)
	}
	// A page of an unknown site is a site of its own.
	if got := rightCI(100, func(i int) string { return "ab"[:min(1, i/50)] }, right); got == pages || got == sites {
		t.Errorf("half of the sites unknown: %v", got)
	}
}

func TestMajority(t *testing.T) {
	m := Measure(3, []int{0, 1, 1, 2, 2, -1}, []int{0, 0, 0, 0, 0, 0})
	if class, accuracy := m.majority(); class != 1 || accuracy != 2./6 {
		t.Errorf("class %d, accuracy %v; want 1, a third", class, accuracy)
	}
	if _, accuracy := new(Measures).majority(); accuracy != 0 {
		t.Errorf("no pages: %v", accuracy)
	}
}

// TestHeld: the held-out pages are those of the set, in order, and sum up to CV.
func TestHeld(t *testing.T) {
	set := toy(90, "bank", "code", "star")
	m, rep, err := Train(context.Background(), stream(set), Options{Classifier: models.C45, Seed: 3, Explain: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range rep.Held {
		if h.URL != set[i].URL || m.Classes[h.Truth] != set[i].Label || !(h.Score > 0 && h.Score <= 1) {
			t.Fatalf("page %d: %+v of %+v", i, h, set[i])
		}
	}
	cv, _ := measureJudged(len(m.Classes), rep.Held)
	if len(rep.Held) != 90 || cv.Accuracy != rep.CV.Accuracy {
		t.Errorf("%d pages, accuracy %v, want %v", len(rep.Held), cv.Accuracy, rep.CV.Accuracy)
	}
}
