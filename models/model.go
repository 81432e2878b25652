package models

import (
	"fmt"
	"math"
	"slices"

	"fossick/models/features"
)

// Names of the classifiers.
const (
	LinearSVM  = "linear"
	NaiveBayes = "nb"
	C45        = "c45"
	CN2        = "cn2"
	NN         = "nn"
	Voting     = "vote"
	Trees      = "trees"
	Stack      = "stack"
)

// Model is a trained classifier. It is not changed once trained or read, and so
// may be shared by goroutines.
type Model struct {
	Classifier string   // one of the names above
	Classes    []string // labels, sorted

	Extractor features.ExtractorOptions
	Terms     []string // the vocabulary; a feature's number is its place here
	Weighting features.Weighting
	Frequency []float32 // by term, the share of the training pages that have it; nil in models before version 4, and in members of a vote

	// ClassPages has, by class and term, how many of the class's training pages have
	// the term. It is nil in models before version 5, and in members of a vote.
	ClassPages [][]int32
	// Titles has, by class, the words of its training pages' titles, by language and word.
	Titles map[string][]TitleWord
	// Domain says of which pages the model knows enough; nil in models before version 8, and
	// in members of a vote.
	Domain *Domain

	Linear  *Linear  // of linear and nb
	Tree    *Tree    // of c45
	Rules   *Rules   // of cn2
	Network *Network // of nn
	Vote    *Vote    // of vote and stack
	Forest  Forest   // of trees

	Calibration Calibration

	// Thresholds has, for each class, the probability from which a page counts as the
	// class against the rest. It is the one with the best F1 in cross-validation.
	Thresholds []float64

	// Keywords has K for each class, best first.
	Keywords map[string][]string

	Card Card
}

// MaxClasses is how many classes a model may have: tables and tests grow with the square
// of it.
const MaxClasses = 1024

// TitleWord is a word of titles.
type TitleWord struct {
	Word   string // in lower case, as it was written
	Lang   string // of the pages
	Pages  int    // of the class, with the word in their titles
	Others int    // of all other classes, likewise
}

// Card says where a model comes from.
type Card struct {
	Data     []string          // the sets it was trained on
	Split    string            // which part of them, in words
	Pages    int               // training pages
	PerClass map[string]int    // the same by class
	Settings map[string]string // of the training that differ by classifier
	Seed     int64             // random seed
	CV       *Score            // by cross-validation on the training pages; nil when not done
	Test     *Score            // on pages not trained on; nil when there were none
	Marks    []uint64          // of training pages, rising, see Trained; nil in models before version 7
}

// Score is what a test said.
type Score struct {
	Pages    int
	Accuracy float64
	MacroF1  float64
}

// Class returns the number of a label, or -1.
func (m *Model) Class(label string) int { return slices.Index(m.Classes, label) }

// Threshold returns the probability from which a page counts as label; 1 for a
// label that the model does not have.
func (m *Model) Threshold(label string) float64 {
	if c := m.Class(label); c >= 0 {
		return m.Thresholds[c]
	}
	return 1
}

// Check reports what keeps m from working: tables whose sizes disagree, places
// that do not exist, numbers that are none.
func (m *Model) Check() error {
	k, n := len(m.Classes), len(m.Terms)
	switch {
	case k == 0:
		return fmt.Errorf("model without classes")
	case k > MaxClasses:
		return fmt.Errorf("model of %d classes; it may have %d", k, MaxClasses)
	case len(m.Thresholds) != k:
		return fmt.Errorf("model of %d classes with %d thresholds", k, len(m.Thresholds))
	case m.Weighting.IDF != nil && len(m.Weighting.IDF) != n:
		return fmt.Errorf("model of %d terms with %d document frequencies", n, len(m.Weighting.IDF))
	case m.Frequency != nil && (len(m.Frequency) != n || !shares(m.Frequency)):
		return fmt.Errorf("model of %d terms with %d shares of pages; want as many, from 0 to 1", n, len(m.Frequency))
	case m.ClassPages != nil && !classPages(m.ClassPages, k, n):
		return fmt.Errorf("model of %d classes and %d terms whose pages by class do not fit", k, n)
	case m.Domain != nil && !m.Domain.whole():
		return fmt.Errorf("model whose common words and their shares of pages do not fit")
	case !m.titled():
		return fmt.Errorf("model with title words that occur in no title of its classes")
	case !finite(m.Weighting.IDF) || !finite(m.Weighting.Blocks[:]):
		return fmt.Errorf("model whose term weights are not numbers")
	case m.tables() != 1:
		return fmt.Errorf("model of classifier %q with %d tables; want one: linear, tree, rules, network, forest or vote", m.Classifier, m.tables())
	}
	for i := range k {
		if slices.Contains(m.Classes[:i], m.Classes[i]) {
			return fmt.Errorf("model with class %q twice", m.Classes[i])
		}
	}
	if err := m.Calibration.check(k); err != nil {
		return err
	}
	if m.Linear != nil {
		return m.Linear.check(n, k)
	}
	if m.Rules != nil {
		return m.Rules.check(n, k)
	}
	if m.Network != nil {
		return m.Network.check(n, k)
	}
	if m.Vote != nil {
		return m.Vote.check(m)
	}
	if m.Forest != nil {
		return m.Forest.check(n, k)
	}
	return m.Tree.check(n, k)
}

func (m *Model) tables() (n int) {
	for _, has := range [...]bool{m.Linear != nil, m.Tree != nil, m.Rules != nil, m.Network != nil, m.Vote != nil, m.Forest != nil} {
		if has {
			n++
		}
	}
	return n
}

// classPages says whether a table has k rows of n numbers of pages.
func classPages(rows [][]int32, k, n int) bool {
	return len(rows) == k && !slices.ContainsFunc(rows, func(row []int32) bool {
		return len(row) != n || slices.ContainsFunc(row, func(pages int32) bool { return pages < 0 })
	})
}

// titled says whether the words of titles are of the model's classes, and of pages.
func (m *Model) titled() bool {
	for class, words := range m.Titles {
		if m.Class(class) < 0 || slices.ContainsFunc(words, func(w TitleWord) bool { return w.Pages < 1 || w.Others < 0 }) {
			return false
		}
	}
	return true
}

// shares says whether all values are from 0 to 1.
func shares(values []float32) bool {
	return !slices.ContainsFunc(values, func(v float32) bool { return !(v >= 0 && v <= 1) })
}

func finite(values []float32) bool {
	return !slices.ContainsFunc(values, func(v float32) bool {
		return math.IsNaN(float64(v)) || math.IsInf(float64(v), 0)
	})
}

// Calibration turns the scores of a classifier into probabilities:
//
//	p_c = softmax_c(Scale · s_c + Offset_c)
//
// with the parameters that make held-out labels most likely (Platt 1999 for more
// than two classes). Scale 0 means that the scores are probabilities already.
type Calibration struct {
	Scale  float64
	Offset []float64 // by class; nil: 0
}

func (c *Calibration) check(classes int) error {
	bad := func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
	if bad(c.Scale) || c.Scale < 0 || slices.ContainsFunc(c.Offset, bad) || c.Offset != nil && len(c.Offset) != classes {
		return fmt.Errorf("model whose calibration does not fit %d classes", classes)
	}
	return nil
}

// Apply turns the scores of a page into probabilities, in place.
func (c *Calibration) Apply(s []float64) {
	if c.Scale == 0 {
		return
	}
	most := math.Inf(-1)
	for i := range s {
		s[i] *= c.Scale
		if c.Offset != nil {
			s[i] += c.Offset[i]
		}
		most = max(most, s[i])
	}
	var sum float64
	for i := range s {
		s[i] = math.Exp(s[i] - most)
		sum += s[i]
	}
	for i := range s {
		s[i] /= sum
	}
}
