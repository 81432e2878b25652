package main

import (
	"testing"

	"fossick/features"
	"fossick/models"
	"fossick/relevance"
)

// TestBackgroundOfModel: document frequencies give a background, log-odds in their
// place and terms that are no words of a page none. What it has is the share of the
// training pages: a crawl that is like them finds nothing out of the ordinary.
func TestBackgroundOfModel(t *testing.T) {
	for _, test := range []struct {
		name    string
		terms   []string
		weights string
		want    bool
	}{
		{"idf", []string{"fern", "title:fern"}, "", true},
		{"log-odds", []string{"fern", "title:fern"}, "log odds", false},
		{"no words", []string{"title:fern", "fern tree"}, "", false},
	} {
		l, err := newLabeller(&models.Topic{Name: "plants", Model: &models.Model{
			Classifier: models.LinearSVM, Classes: []string{"other", "plants"}, Terms: test.terms,
			Weighting:   features.Weighting{IDF: features.IDF([]int32{3, 2}, 100)},
			Linear:      &models.Linear{Weights: make([]float32, 4), Bias: make([]float32, 2)},
			Calibration: models.Calibration{Scale: 1},
			Thresholds:  []float64{0.5, 0.5},
			Card:        models.Card{Settings: map[string]string{"term_weights": test.weights}},
		}})
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		var b *relevance.Background = l.background()
		if (b != nil) != test.want || b != l.background() {
			t.Errorf("%s: background %v, want one: %v, and the same twice", test.name, b, test.want)
		}
	}
}
