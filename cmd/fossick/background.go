package main

import (
	"math"

	"fossick/features"
	"fossick/models"
	"fossick/relevance"
)

// background is on what share of the model's training pages its words stand, nil
// where the model does not say. It is worked out once.
func (l *labeller) background() *relevance.Background {
	l.large.Do(func() { l.atLarge = l.newBackground() })
	return l.atLarge
}

// lesson is what the model's training pages on topic say of words, nil where the model
// does not say. It is worked out once.
func (l *labeller) lesson() *relevance.Lesson {
	l.taught.Do(func() { l.lessons = relevance.NewLesson(l.classifier.Model(), l.class) })
	return l.lessons
}

// share is what share of the model's training pages is of the topic, 0 where its card
// does not say.
func (l *labeller) share() float64 {
	m := l.classifier.Model()
	return float64(m.Card.PerClass[m.Classes[l.class]]) / float64(max(1, m.Card.Pages))
}

func (l *labeller) newBackground() *relevance.Background {
	m := l.classifier.Model()
	shares := m.Frequency
	if shares == nil {
		shares = sharesByIDF(m)
	}
	return relevance.NewBackground(func(yield func(string, float64) bool) {
		for i, share := range shares {
			if features.IsWord(m.Terms[i]) && !yield(m.Terms[i], float64(share)) {
				return
			}
		}
	})
}

// sharesByIDF reads the shares of a model of an earlier format from the inverse
// document frequencies, which are 1 + ln((1 + n) / (1 + DF)), see features.Weighting.
// One that weighs its terms by log-odds has none.
func sharesByIDF(m *models.Model) []float32 {
	if m.Card.Settings["term_weights"] != "" {
		return nil
	}
	shares := make([]float32, len(m.Weighting.IDF))
	for i, idf := range m.Weighting.IDF {
		shares[i] = float32(math.Exp(1 - float64(idf)))
	}
	return shares
}
