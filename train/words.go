package train

import (
	"cmp"
	"fmt"
	"slices"

	"fossick/models"
)

// bestWords is how many words a class shows on either side.
const bestWords = 25

// classWords are the words that speak most for a class, and against it.
type classWords struct {
	Class        string
	For, Against []word
}

type word struct {
	Term   string
	Weight string
	Width  int // of its bar, percent of the class's heaviest
}

// words returns the heaviest words of each class; nil for trees and rules.
//
// A word's weight is what one occurrence adds to the score of the class beyond the
// mean of all classes, before the page is scaled to length 1:
//
//	(w_ic − mean_c w_ic) · IDF(i)
//
// A network's w_ic is the slope of its score at the empty page.
func words(m *models.Model) []classWords {
	weight := weights(m)
	if weight == nil {
		return nil
	}
	var out []classWords
	for class, name := range m.Classes {
		all := make([]weighed, len(m.Terms))
		for i := range m.Terms {
			all[i] = weighed{i, weight(i, class)}
		}
		slices.SortFunc(all, func(a, b weighed) int {
			return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.term, b.term))
		})
		cw := classWords{Class: name, For: heaviest(m, all, 1)}
		slices.Reverse(all)
		cw.Against = heaviest(m, all, -1)
		out = append(out, cw)
	}
	return out
}

type weighed struct {
	term   int
	weight float64
}

// heaviest returns the first words whose weight has the sign.
func heaviest(m *models.Model, all []weighed, sign float64) []word {
	var out []word
	for _, w := range all[:min(bestWords, len(all))] {
		if w.weight*sign <= 0 {
			break
		}
		out = append(out, word{m.Terms[w.term], fmt.Sprintf("%+.2f", w.weight), max(1, int(100*w.weight/all[0].weight))})
	}
	return out
}

// weights returns the weight of a term for a class, nil when the model has no such
// thing.
func weights(m *models.Model) func(term, class int) float64 {
	if m.Linear != nil {
		return linearWeights(m, m.Linear)
	}
	if m.Network != nil {
		return linearWeights(m, m.Network.Linearized())
	}
	return nil
}

func linearWeights(m *models.Model, l *models.Linear) func(term, class int) float64 {
	k := len(m.Classes)
	return func(term, class int) float64 {
		row := l.Weights[term*k:][:k]
		var mean float64
		for _, w := range row {
			mean += float64(w) / float64(k)
		}
		return (float64(row[class]) - mean) * once(m, term)
	}
}

// once is the weight of a single occurrence of a term, before the page is scaled.
func once(m *models.Model, term int) float64 {
	if m.Weighting.IDF == nil {
		return 1
	}
	return float64(m.Weighting.IDF[term])
}
