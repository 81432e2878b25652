package models

import (
	"fmt"
	"math"
	"slices"
)

// Vote asks several models of the same classes, and adds up their calibrated
// probabilities, each times its share:
//
//	s_c = ln Σ_m share_m · p_mc
//
// The logarithm makes scores of them, so that the softmax of Calibration gives
// the sum back at scale 1, and can sharpen it. The mean of models that err on
// different pages is less sure than it is right.
type Vote struct {
	Members []Member // MaxMembers at most
}

// Member is a model that votes.
type Member struct {
	Share  float64 // above 0; the shares of all members add up to 1
	Places []int32 // of the terms of Model in those of the model that asks it, rising

	// Model has the classes and the extractor of the model that asks it; terms,
	// weights, table and calibration are its own. Card.Settings says how it was
	// trained.
	Model *Model
}

// MaxMembers is how many models may vote: each is asked on every page.
const MaxMembers = 8

// check reports what keeps a vote of model m from working.
func (v *Vote) check(m *Model) error {
	if n := len(v.Members); n == 0 || n > MaxMembers {
		return fmt.Errorf("model in which %d others vote; want 1 to %d", n, MaxMembers)
	}
	var sum float64
	for i := range v.Members {
		member := &v.Members[i]
		if err := member.check(m); err != nil {
			return fmt.Errorf("member %d of a vote: %w", i+1, err)
		}
		sum += member.Share
	}
	if math.Abs(sum-1) > 1e-6 {
		return fmt.Errorf("model in which the shares of votes add up to %v; want 1", sum)
	}
	return nil
}

func (v *Member) check(m *Model) error {
	own := v.Model
	switch {
	case !(v.Share > 0 && v.Share <= 1):
		return fmt.Errorf("a share of %v; want it above 0, and 1 at most", v.Share)
	case own == nil || own.Vote != nil:
		return fmt.Errorf("no model, or a model that is itself a vote")
	case !slices.Equal(own.Classes, m.Classes) || own.Extractor != m.Extractor:
		return fmt.Errorf("other classes, or another extractor, than those of the vote")
	case len(own.Terms) != len(v.Places):
		return fmt.Errorf("%d terms at %d places", len(own.Terms), len(v.Places))
	}
	before := int32(-1)
	for i, at := range v.Places {
		if at <= before || int(at) >= len(m.Terms) || m.Terms[at] != own.Terms[i] {
			return fmt.Errorf("a term that is not where it should be among those of the vote")
		}
		before = at
	}
	return own.Check()
}

// Scores sets dst to the scores of a page, given what each member's calibrated
// probabilities are.
func (v *Vote) Scores(dst []float64, probs func(member int) []float64) {
	clear(dst)
	for i := range v.Members {
		for c, p := range probs(i) {
			dst[c] += v.Members[i].Share * p
		}
	}
	Logs(dst)
}

// Logs turns probabilities into scores, whose softmax they are.
func Logs(probs []float64) {
	for c, p := range probs {
		probs[c] = math.Log(max(p, leastProb))
	}
}

// leastProb keeps the logarithm finite of what all members rule out.
const leastProb = 1e-12

// wireMember is a member as it is written: what it has in common with the model
// that asks it is left out.
type wireMember struct {
	Share  float64 `cbor:"share"`
	Places []int32 `cbor:"places"`
	Model  *wire   `cbor:"model"`
}

func newWireVote(v *Vote) []wireMember {
	if v == nil {
		return nil
	}
	var out []wireMember
	for _, member := range v.Members {
		own := newWire(member.Model)
		own.Classes, own.Terms, own.Frequency, own.ClassPages, own.Titles, own.Extractor = nil, nil, nil, nil, nil, wireExtractor{}
		out = append(out, wireMember{member.Share, member.Places, own})
	}
	return out
}

// readVote returns the vote of model m, and gives its members what they have in
// common with m. A place outside m's terms leaves a member without terms, which
// Check reports.
func readVote(members []wireMember, m *Model) *Vote {
	if len(members) == 0 {
		return nil
	}
	v := &Vote{}
	for _, w := range members[:min(len(members), MaxMembers+1)] { // one too many, which Check reports, will do
		member := Member{Share: w.Share, Places: w.Places}
		if w.Model != nil && len(w.Model.Vote) == 0 {
			w.Model.Classes = m.Classes
			w.Model.Terms = at(m.Terms, w.Places)
			member.Model = w.Model.model()
			member.Model.Extractor = m.Extractor
			member.Model.Weighting.Bind(member.Model.Terms)
		}
		v.Members = append(v.Members, member)
	}
	return v
}

// at returns the terms at places, nil where one does not exist.
func at(terms []string, places []int32) []string {
	out := make([]string, len(places))
	for i, p := range places {
		if p < 0 || int(p) >= len(terms) {
			return nil
		}
		out[i] = terms[p]
	}
	return out
}
