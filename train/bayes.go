package train

import (
	"context"
	"math"

	"fossick/models"
)

// bayes is complement naive Bayes on tf-idf weights (Rennie, Shih, Teevan,
// Karger 2003). A class's weights come from the pages of all other classes, of
// which there are more and more alike in number:
//
//	w_ic = −ln( (α + Σ_{j∉c} x_ij) / (α n + Σ_{j∉c} Σ_i x_ij) )
//
// The multinomial kind, with its own class's pages and a prior, is the same table
// with other numbers; it wins where classes are many and even. Cross-validation
// inside "nb" is not worth its time: auto compares both.
type bayes struct {
	complement bool
	odds       bool // terms are weighed by log odds in place of idf, as in linear
}

func (bayes) name() string { return models.NaiveBayes }

// smoothing is α, chosen by cross-validation as the SVM's settings were.
const smoothing = 0.1

func (b bayes) fit(_ context.Context, c *corpus, pages []int, by fitting) (*fitted, error) {
	f := c.weighed(pages, by.selection, b.odds)
	k, n := len(c.classes), len(f.kept)
	own := make([]float64, n*k) // Σ x over a class's pages
	all := make([]float64, n)
	for i, v := range f.vectors(c, pages) {
		class := c.y[pages[i]]
		for j, t := range v.Index {
			own[int(t)*k+class] += float64(v.Value[j])
			all[t] += float64(v.Value[j])
		}
	}
	f.linear = &models.Linear{Weights: make([]float32, n*k), Bias: make([]float32, k)}
	f.settings["nb"] = "multinomial"
	if b.complement {
		f.settings["nb"] = "complement"
	}
	rows := c.classRows(pages)
	for class := range k {
		b.class(f.linear, own, all, class, k)
		if !b.complement {
			f.linear.Bias[class] = float32(math.Log(float64(rows[class]+1) / float64(len(pages)+k)))
		}
	}
	return f, nil
}

// class sets the weights of one class.
func (b bayes) class(l *models.Linear, own, all []float64, class, k int) {
	mass := func(t int) float64 {
		if b.complement {
			return max(0, all[t]-own[t*k+class])
		}
		return own[t*k+class]
	}
	total := smoothing * float64(len(all))
	for t := range all {
		total += mass(t)
	}
	var length float64
	for t := range all {
		w := math.Log((smoothing + mass(t)) / total)
		if b.complement {
			w = -w
		}
		length += math.Abs(w)
		l.Weights[t*k+class] = float32(w)
	}
	if !b.complement {
		return
	}
	// Weights of classes with long, repetitive complements would outshout the
	// others: scale each class's to the same sum (their step 8).
	for t := range all {
		l.Weights[t*k+class] *= float32(float64(len(all)) / length)
	}
}
