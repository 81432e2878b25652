package classify

import (
	"fmt"
	"math"
	"strings"

	"fossick/models"
	"fossick/models/features"
)

// member is a model that votes: it sees, of the terms that were found for all, those
// of its own.
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

// vote asks all members of a page, given by its counts in s.terms, and leaves in s
// what they say together.
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

// explainVote gives each member's reasons for a class, with its share of the vote
// and the probability that it gives the class:
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
