package models

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

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

// Model is a trained classifier. It never changes once trained or read, so goroutines may share it.
type Model struct {
	Classifier string   // one of the names above
	Classes    []string // labels, sorted

	Extractor features.ExtractorOptions
	Terms     []string // the vocabulary; a term's number is its place here
	Weighting features.Weighting
	Frequency []float32 // by term: share of the training pages that have it; nil before version 4, and in members of a vote

	// ClassPages counts training pages by class and term; nil before version 5, and in members of a vote.
	ClassPages [][]int32
	// Titles has, by class, the words of its training pages' titles, sorted by language and word.
	Titles map[string][]TitleWord
	// Domain says which pages the model can judge; nil before version 8, and in members of a vote.
	Domain *Domain

	Linear  *Linear  // of linear and nb
	Tree    *Tree    // of c45
	Rules   *Rules   // of cn2
	Network *Network // of nn
	Vote    *Vote    // of vote and stack
	Forest  Forest   // of trees

	Calibration Calibration

	// Thresholds has, by class, the probability from which on a page counts as the class against the
	// rest: the one with the best F1 in cross-validation.
	Thresholds []float64

	// Keywords has K for each class, best first.
	Keywords map[string][]string

	Card Card
}

// MaxClasses is the most classes of a model, because tables and tests grow with their square.
const MaxClasses = 1024

// TitleWord is a word in the titles of a class's training pages.
type TitleWord struct {
	_      struct{} `cbor:",toarray"`
	Word   string   // in lower case, as it was written
	Lang   string   // of the pages
	Pages  int      // of the class, with the word in their titles
	Others int      // of all other classes, likewise
}

// Card says where a model comes from.
type Card struct {
	Data     []string          `cbor:"data"`            // the sets it was trained on
	Split    string            `cbor:"split"`           // which part of them, in words
	Pages    int               `cbor:"pages"`           // training pages
	PerClass map[string]int    `cbor:"per_class"`       // the same by class
	Settings map[string]string `cbor:"settings"`        // training settings, which differ by classifier
	Seed     int64             `cbor:"seed"`            // random seed
	CV       *Score            `cbor:"cv"`              // by cross-validation on the training pages; nil if not done
	Test     *Score            `cbor:"test"`            // on test pages; nil if there were none
	Marks    marks             `cbor:"marks,omitempty"` // of training pages, rising; see Trained; nil before version 7
}

// Score is the outcome of a test.
type Score struct {
	Pages    int
	Accuracy float64
	MacroF1  float64
}

// Class returns the number of a label, or -1.
func (m *Model) Class(label string) int { return slices.Index(m.Classes, label) }

// Threshold returns the probability from which on a page counts as label; 1 if the model lacks the label.
func (m *Model) Threshold(label string) float64 {
	if c := m.Class(label); c >= 0 {
		return m.Thresholds[c]
	}
	return 1
}

// Check returns an error if m cannot work: sizes that disagree, bad places, or numbers that are not finite.
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

// classPages reports whether a table has k rows of n page counts.
func classPages(rows [][]int32, k, n int) bool {
	return len(rows) == k && !slices.ContainsFunc(rows, func(row []int32) bool {
		return len(row) != n || slices.ContainsFunc(row, func(pages int32) bool { return pages < 0 })
	})
}

// titled reports whether the title words are of the model's classes and stand on pages.
func (m *Model) titled() bool {
	for class, words := range m.Titles {
		if m.Class(class) < 0 || slices.ContainsFunc(words, func(w TitleWord) bool { return w.Pages < 1 || w.Others < 0 }) {
			return false
		}
	}
	return true
}

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
// with the parameters that make held-out labels most likely (Platt 1999 for more than two classes).
// Scale 0 means that the scores are probabilities already.
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

// Domain describes the pages that a model can judge. On a page in an unknown language, or of very few
// words, the model knows no more than its Prior.
type Domain struct {
	// Words are those on most training pages, most frequent first; Shares are their shares of the pages.
	Words  []string `cbor:"words"`
	Shares floats   `cbor:"shares"`

	// LeastFamiliar is the least familiarity of a page: the mean, over the words of its title and text,
	// of the share of the training pages that have the word.
	LeastFamiliar float64 `cbor:"least_familiar"`
	// LeastForeign is the same for pages in a language outside Languages.
	LeastForeign float64 `cbor:"least_foreign"`

	// LeastWords is how many of Words a page needs, LeastTerms how many words among the model's terms.
	LeastWords int `cbor:"least_words"`
	LeastTerms int `cbor:"least_terms"`

	Languages []string `cbor:"languages"` // of the training pages, as page.LangCode writes them, sorted
}

// DomainWords is the most words of a Domain.
const DomainWords = 500

func (d *Domain) whole() bool {
	return len(d.Words) == len(d.Shares) && len(d.Words) <= DomainWords && shares(d.Shares) && share(d.LeastFamiliar) && share(d.LeastForeign) && d.LeastWords >= 0 && d.LeastTerms >= 0
}

func share(v float64) bool { return v >= 0 && v <= 1 }

// Other is the class of pages off topic in a model of one topic.
const Other = "other"

// Prior returns the verdict on a page of which nothing is known: each class's share of the training pages,
// and the class, which is Other in a model of one topic, else the most frequent.
func (m *Model) Prior() (class int, probs []float64) {
	probs = make([]float64, len(m.Classes))
	var sum float64
	for i, label := range m.Classes {
		probs[i] = float64(m.Card.PerClass[label])
		sum += probs[i]
	}
	for i := range probs {
		if sum == 0 {
			probs[i] = 1 / float64(len(probs))
		} else {
			probs[i] /= sum
		}
		if probs[i] > probs[class] {
			class = i
		}
	}
	if len(m.Classes) == 2 && m.Class(Other) >= 0 {
		class = m.Class(Other)
	}
	return class, probs
}

// Linear has a score for each class: s_c = bias_c + Σ_i w_ic · x_i. It holds support vector machines and
// naive Bayes.
type Linear struct {
	Weights floats `cbor:"weights"` // term·classes + class, so that a term's weights lie together
	Bias    floats `cbor:"bias"`    // by class
}

func (l *Linear) check(terms, classes int) error {
	if len(l.Bias) != classes || len(l.Weights) != terms*classes {
		return fmt.Errorf("model of %d terms and %d classes with %d weights and %d biases",
			terms, classes, len(l.Weights), len(l.Bias))
	}
	if !finite(l.Weights) || !finite(l.Bias) {
		return fmt.Errorf("model with weights that are not numbers")
	}
	return nil
}

// Scores sets dst, one place per class, to the scores of x.
func (l *Linear) Scores(dst []float64, x features.Vector) {
	k := len(l.Bias)
	for c := range dst {
		dst[c] = float64(l.Bias[c])
	}
	for j, i := range x.Index {
		v := float64(x.Value[j])
		row := l.Weights[int(i)*k:][:len(dst)]
		for c, w := range row {
			dst[c] += v * float64(w)
		}
	}
}

// Scorer scores pages by a model's table, unless it is a vote. It reuses its space, so it is not safe for
// concurrent use.
type Scorer struct {
	model  *Model
	shares [][]float32 // of a tree, rules or each tree of a forest: class probabilities, at the places of Counts
	dense  []float32   // by term: counts of the page; zero between pages
	rules  []int32     // those that decide the page
	hidden []float32   // of a network
}

// NewScorer returns a scorer of a model that passes Check. The model's table must not change afterwards.
func NewScorer(m *Model) *Scorer {
	s, k := Scorer{model: m}, len(m.Classes)
	switch {
	case m.Tree != nil && m.Tree.Shares != nil:
		s.shares = [][]float32{m.Tree.Shares}
	case m.Tree != nil:
		s.shares = [][]float32{laplace(m.Tree.Counts, k)}
	case m.Rules != nil:
		s.shares = [][]float32{m.Rules.shares(k)}
	}
	for _, t := range m.Forest {
		s.shares = append(s.shares, leafShares(t.Counts, k))
	}
	return s.Fork()
}

// Fork returns another scorer of the model, with its own space.
func (s *Scorer) Fork() *Scorer {
	f := &Scorer{model: s.model, shares: s.shares}
	if f.shares != nil {
		f.dense = make([]float32, len(s.model.Terms))
	}
	if s.model.Network != nil {
		f.hidden = make([]float32, s.model.Network.Units())
	}
	return f
}

// Scores sets dst, one place per class, to the scores of x: counts for trees and rules, else weights. It
// returns what decided, to explain the scores: the leaf of a tree, or the rule that speaks best.
func (s *Scorer) Scores(dst []float64, x features.Vector) (decided int32) {
	m := s.model
	switch {
	case m.Linear != nil:
		m.Linear.Scores(dst, x)
		return 0
	case m.Network != nil:
		m.Network.Scores(dst, x, s.hidden)
		return 0
	}
	s.fill(x)
	switch {
	case m.Rules != nil:
		s.rules = m.Rules.on(s.rules[:0], s.dense)
		decided = m.Rules.decide(dst, s.rules, s.shares[0])
	case m.Tree != nil:
		decided = m.Tree.find(s.dense)
		for c, p := range s.row(m.Tree, 0, decided) {
			dst[c] = float64(p)
		}
		Logs(dst)
	default:
		clear(dst)
		for i, t := range m.Forest {
			for c, p := range s.row(t, i, t.find(s.dense)) {
				dst[c] += float64(p)
			}
		}
		for c := range dst {
			dst[c] /= float64(len(m.Forest))
		}
		Logs(dst)
	}
	s.empty(x)
	return decided
}

func (s *Scorer) fill(x features.Vector) {
	for j, i := range x.Index {
		s.dense[i] = x.Value[j]
	}
}

func (s *Scorer) empty(x features.Vector) {
	for _, i := range x.Index {
		s.dense[i] = 0
	}
}

// row returns the class probabilities of a leaf of tree number i.
func (s *Scorer) row(t *Tree, i int, leaf int32) []float32 {
	return s.shares[i][t.Leaf[leaf]:][:len(s.model.Classes)]
}

// Decided returns the leaf of a forest with the largest share of a class, the first of ties, and its tree.
// agree counts the trees for which the class is the most probable.
func (s *Scorer) Decided(class int, x features.Vector) (tree int, leaf int32, agree int) {
	s.fill(x)
	most := float32(-1)
	for i, t := range s.model.Forest {
		at := t.find(s.dense)
		row := s.row(t, i, at)
		if row[class] > most {
			tree, leaf, most = i, at, row[class]
		}
		if row[class] == slices.Max(row) {
			agree++
		}
	}
	s.empty(x)
	return tree, leaf, agree
}

// Summary describes the model and its card in one line.
func (m *Model) Summary() string {
	text := fmt.Sprintf("%s, %d classes", m.Classifier, len(m.Classes))
	if m.Card.Pages > 0 {
		text += fmt.Sprintf(", trained on %d pages", m.Card.Pages)
	}
	if len(m.Card.Data) > 0 {
		text += " of " + strings.Join(m.Card.Data, ", ")
	}
	for _, s := range []struct {
		score *Score
		how   string
	}{{m.Card.CV, "in cross-validation"}, {m.Card.Test, "on test pages"}} {
		if s.score != nil {
			text += fmt.Sprintf(", accuracy %v and macro-F1 %v %s", thousandths(s.score.Accuracy), thousandths(s.score.MacroF1), s.how)
		}
	}
	return text + fmt.Sprintf(", seed %d", m.Card.Seed)
}

func thousandths(x float64) float64 { return math.Round(x*1000) / 1000 }

// marksMost is how many marks of training pages a card keeps: the smallest, a sample drawn by hash.
const marksMost = 1024

// Mark returns a hash of a page's title and text.
func Mark(d features.Doc) uint64 {
	h := sha256.New()
	h.Write([]byte(d.Title))
	h.Write([]byte{0})
	h.Write([]byte(d.Text))
	return binary.LittleEndian.Uint64(h.Sum(nil))
}

// KeepMarks returns the marks that a card keeps of all training pages. It reorders all.
func KeepMarks(all []uint64) []uint64 {
	slices.Sort(all)
	all = slices.Compact(all)
	return slices.Clone(all[:min(len(all), marksMost)])
}

// Trained says whether the model was trained on a page with this mark, and whether the card can tell. It can
// tell for as large a share of any set as of the training pages: for all if these were fewer than
// marksMost.
func (c *Card) Trained(mark uint64) (trained, known bool) {
	n := len(c.Marks)
	if n == 0 || n >= marksMost && mark > c.Marks[n-1] {
		return false, false
	}
	_, trained = slices.BinarySearch(c.Marks, mark)
	return trained, true
}
