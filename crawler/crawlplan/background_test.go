package crawlplan

import (
	"testing"

	"fossick/internal/page"
	"fossick/models"
	"fossick/models/features"
	"fossick/relevance/learned"
)

// TestBackgroundOfModel: the shares of pages that a model has give a background; in a
// model of an earlier format document frequencies do, and log-odds in their place do
// not. Terms that are no words of a page give none. What it has is the share of the
// training pages: a crawl that is like them finds nothing out of the ordinary.
func TestBackgroundOfModel(t *testing.T) {
	for _, test := range []struct {
		name    string
		terms   []string
		weights string
		shares  []float32
		want    bool
	}{
		{"idf", []string{"fern", "title:fern"}, "", nil, true},
		{"log-odds", []string{"fern", "title:fern"}, "log odds", nil, false},
		{"shares", []string{"fern", "title:fern"}, "log odds", []float32{0.5, 0.5}, true},
		{"no words", []string{"title:fern", "lead:fern"}, "", []float32{0.5, 0.5}, false},
	} {
		l, err := NewLabeller(&models.Topic{Name: "plants", Model: &models.Model{
			Classifier: models.LinearSVM, Classes: []string{"other", "plants"}, Terms: test.terms,
			Weighting:   features.Weighting{IDF: features.IDF([]int32{3, 2}, 100)},
			Frequency:   test.shares,
			Linear:      &models.Linear{Weights: make([]float32, 4), Bias: make([]float32, 2)},
			Calibration: models.Calibration{Scale: 1},
			Thresholds:  []float64{0.5, 0.5},
			Card:        models.Card{Settings: map[string]string{"term_weights": test.weights}},
		}})
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		var b *learned.Background = l.background()
		if (b != nil) != test.want || b != l.background() {
			t.Errorf("%s: background %v, want one: %v, and the same twice", test.name, b, test.want)
		}
	}
}

// TestTrainedStart: a start page that the model was trained on is told from others, by its
// text.
func TestTrainedStart(t *testing.T) {
	text := func(url, text string) *page.Page {
		p, err := page.Parse([]byte("<title>ferns</title><p>"+text), page.ParseOptions{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	was, copied, other := text("http://a.test/", "green"), text("http://b.test/", "green"), text("http://a.test/", "red")
	l, err := NewLabeller(&models.Topic{Name: "plants", Model: &models.Model{
		Classifier: models.LinearSVM, Classes: []string{"other", "plants"}, Terms: []string{"fern"},
		Weighting:   features.Weighting{IDF: features.IDF([]int32{3}, 100)},
		Linear:      &models.Linear{Weights: make([]float32, 2), Bias: make([]float32, 2)},
		Calibration: models.Calibration{Scale: 1},
		Thresholds:  []float64{0.5, 0.5},
		Card:        models.Card{Marks: models.KeepMarks([]uint64{models.Mark(features.Doc(was.Fields()))})},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		page *page.Page
		want bool
	}{{"the page", was, true}, {"a copy", copied, true}, {"another text", other, false}} {
		if got := l.trainedOn(c.page); got != c.want {
			t.Errorf("%s: trained on it: %v, want %v", c.name, got, c.want)
		}
	}
}
