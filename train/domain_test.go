package train

import (
	"context"
	"math"
	"testing"

	"fossick/datasets"
)

func TestLeast(t *testing.T) {
	many := func(n int, of uint16) (all []uint16) {
		for range n {
			all = append(all, of)
		}
		return all
	}
	for _, test := range []struct {
		name  string
		words []uint16
		gain  []int
		want  int
	}{
		{"the least of few pages", []uint16{9, 7, 12}, []int{1, 1, 1}, 7},
		{"nine pages of 400", append(many(9, 2), many(391, 11)...), make([]int, 400), 2},
		{"four pages of 500", append(many(4, 2), many(496, 11)...), make([]int, 500), 11},
		{"the model knows short pages", append(many(4, 2), many(496, 11)...), append([]int{1, 0, 1, -1}, make([]int, 496)...), 2},
		{"the model errs on short pages", append(many(4, 2), many(496, 11)...), append([]int{1, 0, -1, -1}, make([]int, 496)...), 11},
		{"never too many", many(500, 90), make([]int, 500), 80},
	} {
		if got := int(least(test.words, test.gain, 0, 80, fewShare)); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

// TestDomain: what the pages of a set have in common, by hand.
func TestDomain(t *testing.T) {
	set := []*datasets.Example{
		{URL: "http://a.test/1", Label: "bees", Text: "the hive the bee"},
		{URL: "http://a.test/2", Label: "bees", Text: "the bee"},
		{URL: "http://a.test/3", Label: "rest", Text: "the car once"},
		{URL: "http://a.test/4", Label: "rest", Text: "the car twice"},
	}
	m, _, err := Train(context.Background(), stream(set), Options{Target: Target{Topic: "bees"}, Classifier: "c45", Words: 1, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	d := m.Domain
	share := map[string]float32{}
	for i, w := range d.Words {
		share[w] = d.Shares[i]
	}
	if d.Words[0] != "the" || share["the"] != 1 || share["bee"] != 0.5 || share["car"] != 0.5 || share["onc"] != 0.25 {
		t.Errorf("common words %v on %v", d.Words, d.Shares)
	}
	// The pages' means: (2 + ¼ + ½)/4, 1.5/2, (1 + ½ + ¼)/3 twice. A quarter of the upper
	// middle is less than the least.
	if want := (2.75 / 4) / familiarPart; !(math.Abs(d.LeastFamiliar-want) <= 1e-6) || d.LeastForeign != d.LeastFamiliar {
		t.Errorf("least familiar %v and %v, want %v", d.LeastFamiliar, d.LeastForeign, want)
	}
	if d.LeastWords != 2 {
		t.Errorf("least words %d, want 2", d.LeastWords)
	}
}
