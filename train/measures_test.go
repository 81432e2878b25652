package train

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"fossick/datasets"
	"fossick/models"
	"fossick/models/features"
)

// TestMeasuresCompared prints the accuracy of each measure of words and classifier, by
// five folds within training data. It takes minutes and asserts little, so it runs only
// when asked:
//
//	FOSSICK_COMPARE=1 go test ./train -run TestMeasuresCompared -v -timeout 30m
func TestMeasuresCompared(t *testing.T) {
	if os.Getenv("FOSSICK_COMPARE") == "" {
		t.Skip("set FOSSICK_COMPARE=1 to compare measures on whole corpora")
	}
	roles := Options{Target: Target{Labels: []string{"student", "faculty", "course", "project"}}}
	for _, c := range []struct {
		data  string
		words int
		keep  func(int, *datasets.Example) bool
	}{
		{"webkb", 77, func(_ int, e *datasets.Example) bool { return e.Site != "cornell" && roles.Class(e) != "" }},
		{"wikispeedia/train.jsonl.zst", 77, func(int, *datasets.Example) bool { return true }},
		{"20news", 500, func(_ int, e *datasets.Example) bool { return e.Split == "train" }},
	} {
		b, _, err := NewBench(context.Background(), where(examples(t, c.data), c.keep), nil, Options{Seed: 1}, Theme)
		if err != nil {
			t.Fatal(err)
		}
		gain := 0.0
		for _, m := range features.Measures() {
			var line strings.Builder
			for _, name := range []string{models.C45, models.LinearSVM, models.NaiveBayes} {
				got, err := b.Try(context.Background(), Trial{Level: Theme, Classifier: name, Words: c.words, Select: m})
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&line, " %s %.3f", name, got.Measures.Accuracy)
				if m == features.ByGain && name == models.LinearSVM {
					gain = got.Measures.Accuracy
				}
				if m == features.ByMI && name == models.LinearSVM && got.Measures.Accuracy > gain {
					t.Errorf("%s: rare words do better than those that gain", c.data)
				}
			}
			t.Logf("%s, %d words, %s:%s", c.data, c.words, m, &line)
		}
	}
}
