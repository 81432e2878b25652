package known

import (
	"math"
	"slices"
)

// bayes is a multinomial naive Bayes classifier that learns text by text (McCallum
// and Nigam 1998), words smoothed by Laplace's rule. All classes have the same prior:
// how many texts of each came so far is the crawl's doing, not the web's.
type bayes struct {
	classes int
	words   map[token][]float32 // by class
	total   []float64           // words, by class
	texts   []int
}

// maxWords bounds the words that a classifier knows; those that come later count as
// unknown.
const maxWords = 1 << 17

func newBayes(classes int) *bayes {
	return &bayes{classes: classes, words: map[token][]float32{}, total: make([]float64, classes), texts: make([]int, classes)}
}

func (b *bayes) learn(text []token, class int) {
	b.texts[class]++
	for _, t := range text {
		counts := b.words[t]
		if counts == nil {
			if len(b.words) >= maxWords {
				continue
			}
			counts = make([]float32, b.classes)
			b.words[t] = counts
		}
		counts[class]++
		b.total[class]++
	}
}

// clone returns a copy that does not learn what the original does later.
func (b *bayes) clone() *bayes {
	c := newBayes(b.classes)
	for t, counts := range b.words {
		c.words[t] = slices.Clone(counts)
	}
	copy(c.total, b.total)
	copy(c.texts, b.texts)
	return c
}

// ready says whether there was a text of every class.
func (b *bayes) ready() bool {
	for _, n := range b.texts {
		if n == 0 {
			return false
		}
	}
	return true
}

// logs returns the log-likelihood of a text by each class in dst, classes without
// texts being impossible.
func (b *bayes) logs(dst []float64, text []token) []float64 {
	dst = dst[:0]
	for c := range b.classes {
		if b.texts[c] == 0 {
			dst = append(dst, math.Inf(-1))
		} else {
			dst = append(dst, 0)
		}
	}
	for _, t := range text {
		counts := b.words[t]
		if counts == nil {
			continue // says the same of all classes
		}
		for c := range dst {
			dst[c] += math.Log((float64(counts[c]) + 1) / (b.total[c] + float64(len(b.words)) + 1))
		}
	}
	return dst
}

// softmax turns log-likelihoods into probabilities, in place.
func softmax(logs []float64) []float64 {
	best, sum := math.Inf(-1), 0.0
	for _, x := range logs {
		best = max(best, x)
	}
	for i, x := range logs {
		logs[i] = math.Exp(x - best)
		sum += logs[i]
	}
	for i := range logs {
		logs[i] /= sum
	}
	return logs
}
