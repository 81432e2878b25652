package classify

import (
	"slices"

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

	// Unknown says why the model cannot tell; "" when it can. Then Label and Probs say
	// what the training pages were, and the page is not on topic, whatever they are.
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

// Score returns the probability that a text is of a class, 0 for a label that
// the model does not have. It may be a few words, of which Classify would say that they
// are too few.
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

// score leaves a page's weighed terms and probabilities in scratch space, which
// the caller puts back.
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
