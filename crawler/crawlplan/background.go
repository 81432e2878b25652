package crawlplan

import (
	"math"

	"fossick/internal/page"
	"fossick/models"
	"fossick/models/features"
	"fossick/relevance"
	"fossick/relevance/learned"
)

// background is on what share of the model's training pages its words stand, nil
// where the model does not say. It is worked out once.
func (l *Labeller) background() *learned.Background {
	l.large.Do(func() { l.atLarge = l.newBackground() })
	return l.atLarge
}

// warmStart is what the model's training pages on topic say of words, nil where the model
// does not say. It is worked out once.
func (l *Labeller) warmStart() *learned.WarmStart {
	l.started.Do(func() { l.warm = learned.NewWarmStart(l.classifier.Model(), l.class) })
	return l.warm
}

// share is what share of the model's training pages is of the topic, 0 where its card
// does not say.
func (l *Labeller) share() float64 {
	m := l.classifier.Model()
	return float64(m.Card.PerClass[m.Classes[l.class]]) / float64(max(1, m.Card.Pages))
}

// seen is how many of the model's training pages are of the topic, 0 where its card does
// not say.
func (l *Labeller) seen() float64 {
	m := l.classifier.Model()
	return float64(m.Card.PerClass[m.Classes[l.class]])
}

// trainedOn says whether the model is known to be trained on a page.
func (l *Labeller) trainedOn(p *page.Page) bool {
	trained, _ := l.classifier.Model().Card.Trained(models.Mark(features.Doc(p.Fields())))
	return trained
}

// learned is the policy that learns while the crawl goes on.
func (in Input) learned() *learned.Scorer {
	l := in.Labeller
	return learned.New(l.judge, learned.Options{
		Cut: l.cut, Explore: in.Explore / float64(max(1, in.Topics)), Seed: in.Seed, Reader: l.reader(), Scorers: in.Topics,
		Keywords: in.topicWords(), Rho: in.Rho,
		Background: l.background(), WarmStart: l.warmStart(), Share: l.share(), Seen: l.seen(),
	})
}

// topicWords is K: that which was given, else the model's own; nil where there is none.
func (in Input) topicWords() *relevance.Keywords {
	if in.Keywords != nil {
		return in.Keywords
	}
	k, _ := relevance.NewKeywords(in.Labeller.keywords()) // an error says that there are none
	return k
}

// keywords is the model's own K.
func (l *Labeller) keywords() []string {
	m := l.classifier.Model()
	return m.Keywords[m.Classes[l.class]]
}

func (l *Labeller) newBackground() *learned.Background {
	m := l.classifier.Model()
	shares := m.Frequency
	if shares == nil {
		shares = sharesByIDF(m)
	}
	return learned.NewBackground(func(yield func(string, float64) bool) {
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
