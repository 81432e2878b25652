package classify

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"fossick/models"
	"fossick/models/features"
)

// Classifier labels pages by a model. It is safe for concurrent use.
type Classifier struct {
	machine
	domain
	members []member // of a model that is a vote: they score in its place
	lex     *features.Lexicon
	also    *features.Also // reads along, nil without
	spare   *features.Spare[scratch]
}

// scratch is what labelling one page needs; it is used again for the next.
type scratch struct {
	state
	members []state
	x       *features.Extractor
	said    func(member int) []float64 // the members' probabilities
	unknown *unknown                   // nil where the model can tell
}

// Result is what a model says of a page.
type Result struct {
	Label string    // the most probable class
	Score float64   // its probability, calibrated
	Probs []float64 // of all classes, in the order of the model's Classes

	// Unknown says why the model cannot tell; "" when it can. Then Label and Probs say what the
	// training pages were, and the page is not on topic, whatever they are.
	Unknown string
}

// New sets a model to work. It fails on a model whose tables do not fit together.
func New(m *models.Model) (*Classifier, error) { return newClassifier(m, nil) }

func newClassifier(m *models.Model, also *features.Also) (*Classifier, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	own := *m // Bind must not touch a model that others use
	own.Weighting.Bind(own.Terms)
	c := &Classifier{machine: newMachine(&own), domain: newDomain(&own), also: also}
	c.lex = features.FixedLexicon(c.domain.terms)
	if own.Vote != nil {
		for i := range own.Vote.Members {
			c.members = append(c.members, newMember(&own.Vote.Members[i], len(own.Terms)))
		}
	}
	words := features.NewSharedWords()
	c.spare = features.NewSpare(func() *scratch {
		s := &scratch{state: c.newState(), x: features.NewExtractor(own.Extractor, c.lex)}
		s.x.Share(words)
		if c.also != nil {
			s.x.ReadAlong(*c.also)
		}
		for i := range c.members {
			s.members = append(s.members, c.members[i].newState())
		}
		s.said = func(member int) []float64 { return s.members[member].probs }
		return s
	})
	return c, nil
}

// Model returns the model at work. It must not be changed.
func (c *Classifier) Model() *models.Model { return c.model }

// Classify labels a page. Equal probabilities go to the class that sorts first.
func (c *Classifier) Classify(d features.Doc) Result {
	s := c.look(d)
	defer c.spare.Put(s)
	return c.result(s, s.best())
}

// result is what s says of a page.
func (c *Classifier) result(s *scratch, class int) Result {
	if s.unknown != nil {
		return Result{c.model.Classes[c.class], c.prior[c.class], slices.Clone(c.prior), s.unknown.why(c.model.Domain)}
	}
	return Result{Label: c.model.Classes[class], Score: s.probs[class], Probs: slices.Clone(s.probs)}
}

// ClassifyAndExplain labels a page and says why, as Explain does, in one pass.
func (c *Classifier) ClassifyAndExplain(d features.Doc) (Result, string) {
	s := c.look(d)
	defer c.spare.Put(s)
	best := s.best()
	return c.result(s, best), c.explain(s, best)
}

// Score returns the probability that a text is of a class, 0 for a label that the model does not have.
// It may be a few words, of which Classify would say that they are too few.
func (c *Classifier) Score(d features.Doc, label string) float64 {
	class := c.model.Class(label)
	if class < 0 {
		return 0
	}
	s := c.score(d)
	defer c.spare.Put(s)
	return s.probs[class]
}

// best returns the most probable class; of equal ones that which sorts first.
func (s *scratch) best() int {
	best := 0
	for i, p := range s.probs {
		if p > s.probs[best] {
			best = i
		}
	}
	return best
}

// look is score for a whole page, of which the model may know too little.
func (c *Classifier) look(d features.Doc) *scratch {
	s := c.spare.Get()
	s.terms = s.x.CountUnsorted(s.terms, d)
	c.judge(s, d.Lang)
	return s
}

// judge is weigh for the counts of a whole page.
func (c *Classifier) judge(s *scratch, lang string) {
	unknown, terms := c.domain.unknown(s.terms, s.x.Strange(), lang)
	c.weigh(s)
	if unknown == nil {
		unknown = c.doubt(s, terms)
	}
	s.unknown = unknown
}

// score leaves a page's weighed terms and probabilities in scratch space, which the caller puts back.
func (c *Classifier) score(d features.Doc) *scratch {
	s := c.spare.Get()
	s.terms, s.unknown = s.x.CountUnsorted(s.terms, d), nil
	c.weigh(s)
	return s
}

// weigh makes probabilities of a page's counts.
func (c *Classifier) weigh(s *scratch) {
	s.terms = c.domain.known(s.terms)
	if c.members != nil {
		c.vote(s)
	} else {
		c.machine.score(&s.state)
	}
}

// machine scores what a page has of a model's terms. It is not changed once made, and so may be shared
// by goroutines, each with a state of its own.
type machine struct {
	model *models.Model
	tree  *models.Walker  // of a model that has a tree
	rules *models.Matcher // of a model that has rules
	trees *models.Ranger  // of a model that has a forest
}

// state is what a machine needs to score a page, and what it then knows of it; it is used again for the
// next.
type state struct {
	terms features.Vector // counts before, weights after
	probs []float64
	dense []float32 // for trees and rules: counts of all terms, zero between pages
	match models.RuleScratch
	leaf  int32     // for trees: where the page ended
	rule  int32     // for rules: which one decided
	units []float32 // for networks: the hidden units
}

// newMachine sets up a model that passes Check and whose Weighting is bound.
func newMachine(m *models.Model) machine {
	w := machine{model: m}
	if m.Tree != nil {
		w.tree = models.NewWalker(m.Tree, len(m.Terms), len(m.Classes))
	}
	if m.Rules != nil {
		w.rules = models.NewMatcher(m.Rules, len(m.Terms), len(m.Classes))
	}
	if m.Forest != nil {
		w.trees = models.NewRanger(m.Forest, len(m.Terms), len(m.Classes))
	}
	return w
}

func (w *machine) newState() state {
	m := w.model
	s := state{probs: make([]float64, len(m.Classes))}
	if m.Network != nil {
		s.units = make([]float32, m.Network.Units())
	}
	if m.Tree != nil || m.Rules != nil || m.Forest != nil {
		s.dense = make([]float32, len(m.Terms))
		s.match.Dense = s.dense
	}
	return s
}

// score weighs the counts of s, and sets its probabilities.
func (w *machine) score(s *state) {
	m := w.model
	m.Weighting.Apply(s.terms)
	switch {
	case m.Tree != nil:
		s.leaf = w.tree.Scores(s.probs, s.terms, s.dense)
		if m.Calibration.Scale != 0 { // in models before version 9 a leaf's shares are the probabilities
			models.Logs(s.probs)
		}
	case m.Rules != nil:
		s.rule = w.rules.Scores(s.probs, s.terms, &s.match)
	case m.Forest != nil:
		w.trees.Scores(s.probs, s.terms, s.dense)
	case m.Network != nil:
		m.Network.Scores(s.probs, s.terms, s.units)
	default:
		m.Linear.Scores(s.probs, s.terms)
	}
	m.Calibration.Apply(s.probs)
}

// NewReading is New with a second reader of each text, so that it is cut into words once. Read and
// ScoreWords have what was read.
func NewReading(m *models.Model, also features.Also) (*Classifier, error) {
	return newClassifier(m, &also)
}

// Reading is what else one cut of a page gives. Its slices are used again by Read.
type Reading struct {
	Words []uint32  // what the second reader has of title, description and text, without most repeats
	Parts []float64 // of each part the probability of the class asked for

	PartWords []uint32 // what the second reader has of all parts, one after the other
	PartEnds  []int    // where the words of each part end
}

// Part is a part of a page's text. Around says where its words are, those before and those behind
// something; the zero value: Text is not from there, or empty.
type Part struct {
	Text   string
	Around [2]features.Span
}

// Read labels a page and says why, as ClassifyAndExplain does, and leaves in r what else there is to
// know. That is the words, and of each part what Score says for the class with the number given.
func (c *Classifier) Read(r *Reading, d features.Doc, class int, parts iter.Seq[Part]) (Result, string) {
	s := c.spare.Get()
	defer c.spare.Put(s)
	s.terms, r.Words = s.x.CountAndKeep(s.terms, r.Words[:0], d)
	c.judge(s, d.Lang)
	best := s.best()
	result, why := c.result(s, best), c.explain(s, best)
	r.Parts, r.PartWords, r.PartEnds = r.Parts[:0], r.PartWords[:0], r.PartEnds[:0]
	silence, silent := 0.0, false // what is said of no words; most parts have none
	for part := range parts {
		switch {
		case part == (Part{}) && silent:
			r.Parts, r.PartEnds = append(r.Parts, silence), append(r.PartEnds, len(r.PartWords))
			continue
		case part.Around == [2]features.Span{}:
			s.terms, r.PartWords = s.x.CountBoth(s.terms, r.PartWords, features.Doc{Text: part.Text, Lang: d.Lang})
		default:
			s.terms, r.PartWords = s.x.CountAround(s.terms, r.PartWords, d.Text, d.Lang, part.Around)
		}
		r.PartEnds = append(r.PartEnds, len(r.PartWords))
		c.weigh(s)
		r.Parts = append(r.Parts, s.probs[class])
		if part == (Part{}) {
			silence, silent = s.probs[class], true
		}
	}
	return result, why
}

// ScoreWords returns the probability that a text is of the class of that number. It appends to words
// what the second reader has of it.
func (c *Classifier) ScoreWords(d features.Doc, class int, words []uint32) (float64, []uint32) {
	s := c.spare.Get()
	defer c.spare.Put(s)
	s.terms, words = s.x.CountBoth(s.terms, words, d)
	c.weigh(s)
	return s.probs[class], words
}

// member is a model that votes: it sees, of the terms that were found for all, those of its own.
type member struct {
	machine
	share  float64
	number []int32 // of each term of the vote among the member's, −1 for those of others
}

func newMember(v *models.Member, terms int) member {
	own := *v.Model // Bind must not touch a model that others use
	own.Weighting.Bind(own.Terms)
	m := member{machine: newMachine(&own), share: v.Share, number: make([]int32, terms)}
	for i := range m.number {
		m.number[i] = -1
	}
	for i, at := range v.Places {
		m.number[at] = int32(i)
	}
	return m
}

// vote asks all members of a page, given by its counts in s.terms, and leaves in s what they say
// together.
func (c *Classifier) vote(s *scratch) {
	for i := range c.members {
		own := &s.members[i]
		own.terms = c.members[i].pick(own.terms, s.terms)
		c.members[i].score(own)
	}
	c.model.Vote.Scores(s.probs, s.said)
	c.model.Calibration.Apply(s.probs)
}

// pick returns what x has of the member's terms, in dst's slices.
func (m *member) pick(dst, x features.Vector) features.Vector {
	dst.Index, dst.Value = dst.Index[:0], dst.Value[:0]
	for j, i := range x.Index {
		if own := m.number[i]; own >= 0 {
			dst.Index, dst.Value = append(dst.Index, own), append(dst.Value, x.Value[j])
		}
	}
	return dst
}

// explainVote gives each member's reasons for a class, with its share of the vote and the probability
// that it gives the class:
//
//	linear (50 %, 0.93): mortgag +2.00 → banking; c45 (50 %, 0.97): mortgag > 0 → banking (37/39)
func (c *Classifier) explainVote(s *scratch, class int) string {
	parts := make([]string, len(c.members))
	for i := range c.members {
		m, own := &c.members[i], &s.members[i]
		parts[i] = fmt.Sprintf("%s (%.0f %%, %.2f): %s", m.model.Classifier, math.Round(100*m.share), own.probs[class], m.explain(own, class))
	}
	return strings.Join(parts, "; ")
}
