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
	domain
	model   *models.Model // its weighting is bound
	members []member      // of a vote
	lex     *features.Lexicon
	spare   *features.Spare[scratch]
}

// scratch is reusable space for labelling one page.
type scratch struct {
	state
	members []state
	x       *features.Extractor
	said    func(member int) []float64 // the members' probabilities
	unknown *unknown                   // nil if the model can tell
}

// Result is a model's verdict on a page.
type Result struct {
	Label string    // the most probable class
	Score float64   // its probability, calibrated
	Probs []float64 // of all classes, in the order of the model's Classes

	// Unknown says why the model cannot tell, "" if it can. If set, Label and Probs are the prior of the
	// training pages, and the page is not on topic.
	Unknown string
}

// New makes a classifier of a model. It fails if the model's tables do not fit together.
func New(m *models.Model) (*Classifier, error) { return newClassifier(m, nil) }

func newClassifier(m *models.Model, also *features.Also) (*Classifier, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	own := *m // Bind must not change a shared model
	own.Weighting.Bind(own.Terms)
	c := &Classifier{model: &own, domain: newDomain(&own)}
	c.lex = features.FixedLexicon(c.domain.terms)
	if own.Vote != nil {
		for i := range own.Vote.Members {
			c.members = append(c.members, newMember(&own.Vote.Members[i], len(own.Terms)))
		}
	}
	x := features.NewExtractor(own.Extractor, c.lex)
	if also != nil {
		x.ReadAlong(*also)
	}
	scorer := models.NewScorer(c.model)
	ofMember := make([]*models.Scorer, len(c.members))
	for i := range c.members {
		ofMember[i] = models.NewScorer(c.members[i].model)
	}
	c.spare = features.NewSpare(func() *scratch {
		s := &scratch{state: newState(c.model, scorer), x: x.Fork()}
		for i := range c.members {
			s.members = append(s.members, newState(c.members[i].model, ofMember[i]))
		}
		s.said = func(member int) []float64 { return s.members[member].probs }
		return s
	})
	return c, nil
}

// Model returns the model at work. It must not be changed.
func (c *Classifier) Model() *models.Model { return c.model }

// Classify labels a page. Ties go to the class that sorts first.
func (c *Classifier) Classify(d features.Doc) Result {
	s := c.look(d)
	defer c.spare.Put(s)
	return c.result(s, s.best())
}

func (c *Classifier) result(s *scratch, class int) Result {
	if s.unknown != nil {
		return Result{c.model.Classes[c.class], c.prior[c.class], slices.Clone(c.prior), s.unknown.why(c.model.Domain)}
	}
	return Result{Label: c.model.Classes[class], Score: s.probs[class], Probs: slices.Clone(s.probs)}
}

// ClassifyAndExplain labels a page and says why, as ExplainFor does, in one pass.
func (c *Classifier) ClassifyAndExplain(d features.Doc) (Result, string) {
	s := c.look(d)
	defer c.spare.Put(s)
	best := s.best()
	return c.result(s, best), c.explain(s, best)
}

// Score returns the probability that a text, however short, is of a class; 0 if the model lacks the label.
func (c *Classifier) Score(d features.Doc, label string) float64 {
	class := c.model.Class(label)
	if class < 0 {
		return 0
	}
	s := c.score(d)
	defer c.spare.Put(s)
	return s.probs[class]
}

// best returns the most probable class, the first of ties.
func (s *scratch) best() int {
	best := 0
	for i, p := range s.probs {
		if p > s.probs[best] {
			best = i
		}
	}
	return best
}

// look scores a whole page, and tests whether the model can judge it.
func (c *Classifier) look(d features.Doc) *scratch {
	s := c.spare.Get()
	s.terms = s.x.CountUnsorted(s.terms, d)
	c.judge(s, d.Lang)
	return s
}

// judge is look for a page that is already counted.
func (c *Classifier) judge(s *scratch, lang string) {
	unknown, terms := c.domain.unknown(s.terms, s.x.Strange(), lang)
	c.weigh(s)
	if unknown == nil {
		unknown = c.doubt(s, terms)
	}
	s.unknown = unknown
}

// score scores a text in scratch space, which the caller puts back.
func (c *Classifier) score(d features.Doc) *scratch {
	s := c.spare.Get()
	s.terms, s.unknown = s.x.CountUnsorted(s.terms, d), nil
	c.weigh(s)
	return s
}

func (c *Classifier) weigh(s *scratch) {
	s.terms = c.domain.known(s.terms)
	if c.members != nil {
		c.vote(s)
	} else {
		s.score()
	}
}

// state is a model's reusable space for one page, with the outcome.
type state struct {
	model   *models.Model
	scorer  *models.Scorer
	terms   features.Vector // counts, then weights
	probs   []float64
	decided int32 // see models.Scorer.Scores
}

func newState(m *models.Model, scorer *models.Scorer) state {
	return state{model: m, scorer: scorer.Fork(), probs: make([]float64, len(m.Classes))}
}

func (s *state) score() {
	s.model.Weighting.Apply(s.terms)
	s.decided = s.scorer.Scores(s.probs, s.terms)
	s.model.Calibration.Apply(s.probs)
}

// NewReading is New with a second reader of each text, so that the text is split into words once. Read and
// ScoreWords return what it reads.
func NewReading(m *models.Model, also features.Also) (*Classifier, error) {
	return newClassifier(m, &also)
}

// Reading is the further outcome of Read, which reuses its slices.
type Reading struct {
	Words []uint32  // the second reader's, of title, description and text, without most repeats
	Parts []float64 // by part: the probability of the class asked for

	PartWords []uint32 // the second reader's, of all parts in a row
	PartEnds  []int    // by part: the end of its words
}

// Part is a piece of text to score. Around says where in the page's text its words stand, before and after
// something such as a link. It is zero if Text is not from there, or is empty.
type Part struct {
	Text   string
	Around [2]features.Span
}

// Read labels a page and says why, as ClassifyAndExplain does. It also fills r with the second reader's
// words and with each part's Score for the class of this number.
func (c *Classifier) Read(r *Reading, d features.Doc, class int, parts iter.Seq[Part]) (Result, string) {
	s := c.spare.Get()
	defer c.spare.Put(s)
	s.terms, r.Words = s.x.CountAndKeep(s.terms, r.Words[:0], d)
	c.judge(s, d.Lang)
	best := s.best()
	result, why := c.result(s, best), c.explain(s, best)
	r.Parts, r.PartWords, r.PartEnds = r.Parts[:0], r.PartWords[:0], r.PartEnds[:0]
	silence, silent := 0.0, false // score of an empty part, as most are
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

// ScoreWords returns a text's probability of class number class, and appends the second reader's words.
func (c *Classifier) ScoreWords(d features.Doc, class int, words []uint32) (float64, []uint32) {
	s := c.spare.Get()
	defer c.spare.Put(s)
	s.terms, words = s.x.CountBoth(s.terms, words, d)
	c.weigh(s)
	return s.probs[class], words
}

// member is a model in a vote. Of the terms of the vote it sees its own.
type member struct {
	model  *models.Model // its weighting is bound
	share  float64
	number []int32 // by term of the vote: the member's number, −1 for another member's
}

func newMember(v *models.Member, terms int) member {
	own := *v.Model // Bind must not change a shared model
	own.Weighting.Bind(own.Terms)
	m := member{model: &own, share: v.Share, number: make([]int32, terms)}
	for i := range m.number {
		m.number[i] = -1
	}
	for i, at := range v.Places {
		m.number[at] = int32(i)
	}
	return m
}

// vote scores a page by all members, from the counts in s.terms, and sets s to their vote.
func (c *Classifier) vote(s *scratch) {
	for i := range c.members {
		own := &s.members[i]
		own.terms = c.members[i].pick(own.terms, s.terms)
		own.score()
	}
	c.model.Vote.Scores(s.probs, s.said)
	c.model.Calibration.Apply(s.probs)
}

// pick returns the member's terms of x, in dst's slices.
func (m *member) pick(dst, x features.Vector) features.Vector {
	dst.Index, dst.Value = dst.Index[:0], dst.Value[:0]
	for j, i := range x.Index {
		if own := m.number[i]; own >= 0 {
			dst.Index, dst.Value = append(dst.Index, own), append(dst.Value, x.Value[j])
		}
	}
	return dst
}

// explainVote lists each member's reasons for a class, with its share of the vote and its probability for
// the class:
//
//	linear (50 %, 0.93): mortgag +2.00 → banking; c45 (50 %, 0.97): mortgag > 0 → banking (37/39)
func (c *Classifier) explainVote(s *scratch, class int) string {
	parts := make([]string, len(c.members))
	for i := range c.members {
		m, own := &c.members[i], &s.members[i]
		parts[i] = fmt.Sprintf("%s (%.0f %%, %.2f): %s", m.model.Classifier, math.Round(100*m.share), own.probs[class], own.explain(class))
	}
	return strings.Join(parts, "; ")
}
