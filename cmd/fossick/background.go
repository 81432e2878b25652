package main

import (
	"math"

	"fossick/features"
	"fossick/relevance"
)

// background is on what share of the model's training pages its words stand, nil
// where the model does not say. It is worked out once.
func (l *labeller) background() *relevance.Background {
	l.large.Do(func() { l.atLarge = l.newBackground() })
	return l.atLarge
}

// newBackground reads the shares from the inverse document frequencies, which are
// 1 + ln((1 + n) / (1 + DF)), see features.Weighting. A model that weighs its terms by
// log-odds, as one of good examples alone does, has none.
func (l *labeller) newBackground() *relevance.Background {
	m := l.classifier.Model()
	if m.Card.Settings["term_weights"] != "" {
		return nil
	}
	return relevance.NewBackground(func(yield func(string, float64) bool) {
		for i, idf := range m.Weighting.IDF {
			if features.IsWord(m.Terms[i]) && !yield(m.Terms[i], math.Exp(1-float64(idf))) {
				return
			}
		}
	})
}
