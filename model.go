package fossick

import (
	"context"

	"fossick/classify"
	"fossick/datasets"
	"fossick/models"
	"fossick/models/features"
	"fossick/train"
)

// Label is a model's verdict on a text.
type Label struct {
	Name        string
	Probability float64 // calibrated
	Unknown     string  // why the model cannot tell, or ""
}

// Example is a labelled text for training.
type Example struct {
	Label string
	Title string
	Text  string
}

type Model struct {
	m *models.Model
	c *classify.Classifier
}

// Train trains a model of all labels, at least two with five examples each. Equal examples in equal
// order give equal models.
func Train(ctx context.Context, examples []Example) (*Model, error) {
	rows := func(yield func(*datasets.Example, error) bool) {
		for _, e := range examples {
			if !yield(&datasets.Example{Label: e.Label, Title: e.Title, Text: e.Text}, nil) {
				return
			}
		}
	}
	m, _, err := train.Train(ctx, rows, train.Options{Classifier: models.LinearSVM, Seed: 1})
	if err != nil {
		return nil, err
	}
	return newModel(m)
}

// ReadModel reads a file written by WriteFile or fossick train.
func ReadModel(path string) (*Model, error) {
	m, err := models.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return newModel(m)
}

func newModel(m *models.Model) (*Model, error) {
	c, err := classify.New(m)
	if err != nil {
		return nil, err
	}
	return &Model{m, c}, nil
}

// WriteFile writes the model for ReadModel and fossick focus --model.
func (m *Model) WriteFile(path string) error { return m.m.WriteFile(path) }

func (m *Model) Label(title, text string) Label {
	r := m.c.Classify(features.Doc{Title: title, Text: text})
	return Label{r.Label, r.Score, r.Unknown}
}
