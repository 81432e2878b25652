package classify

import (
	"fossick/models"
	"fossick/models/features"
)

// machine scores what a page has of a model's terms. It is not changed once made,
// and so may be shared by goroutines, each with a state of its own.
type machine struct {
	model *models.Model
	tree  *models.Walker  // of a model that has a tree
	rules *models.Matcher // of a model that has rules
	trees *models.Ranger  // of a model that has a forest
}

// state is what a machine needs to score a page, and what it then knows of it; it
// is used again for the next.
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
