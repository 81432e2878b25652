package models

import (
	"fmt"
	"math"
	"slices"

	"fossick/models/features"
)

// Network is a back-propagation network (Rumelhart, Hinton, Williams 1986) with one hidden layer. From a
// page x of weighed terms it computes
//
//	h_u = tanh(b_u + Σ_i x_i·w_iu)
//	s_c = b_c + Σ_u h_u·v_uc
//
// Calibration turns the scores s into probabilities by softmax. Several networks whose scores are averaged
// are one network, with their hidden units side by side and v and b_c divided by their number.
type Network struct {
	Input      floats `cbor:"input"`       // w: term·units + unit, so that a term's weights lie together
	HiddenBias floats `cbor:"hidden_bias"` // by unit
	Output     floats `cbor:"output"`      // v: unit·classes + class
	OutputBias floats `cbor:"output_bias"` // by class
}

// Units returns the number of hidden units.
func (n *Network) Units() int { return len(n.HiddenBias) }

func (n *Network) check(terms, classes int) error {
	units := n.Units()
	if units == 0 || len(n.OutputBias) != classes || len(n.Output) != units*classes || len(n.Input) != terms*units {
		return fmt.Errorf("model of %d terms and %d classes whose network of %d hidden units has %d weights in, %d out and %d biases",
			terms, classes, units, len(n.Input), len(n.Output), len(n.OutputBias))
	}
	for _, weights := range [...][]float32{n.Input, n.HiddenBias, n.Output, n.OutputBias} {
		if !finite(weights) {
			return fmt.Errorf("model whose network has weights that are not numbers")
		}
	}
	return nil
}

// Scores sets dst, one place per class, to the scores of x. hidden is scratch, one place per unit. It costs
// the terms of x times the units, and makes no garbage.
func (n *Network) Scores(dst []float64, x features.Vector, hidden []float32) {
	n.sums(x, hidden)
	k := len(dst)
	for c, b := range n.OutputBias[:k] {
		dst[c] = float64(b)
	}
	for u, sum := range hidden {
		h := math.Tanh(float64(n.HiddenBias[u] + sum))
		for c, v := range n.Output[u*k:][:k] {
			dst[c] += h * float64(v)
		}
	}
}

// sums sets hidden to Σ_i x_i·w_iu for each unit.
func (n *Network) sums(x features.Vector, hidden []float32) {
	clear(hidden)
	for j, i := range x.Index {
		v := x.Value[j]
		row := n.Input[int(i)*len(hidden):][:len(hidden)]
		for u, w := range row {
			hidden[u] += v * w
		}
	}
}

// Relevance sets dst[j] to what term x.Index[j] adds to a class's score beyond the mean of all classes. All
// terms add up to the difference between x and a page without words:
//
//	r_j = Σ_u x_j·w_ju · (tanh(b_u + a_u) − tanh(b_u)) / a_u · (v_uc − mean_c v_uc),   a_u = Σ_i x_i·w_iu
//
// It is the input times the mean gradient along the way from the empty page to x (integrated gradients,
// Sundararajan, Taly, Yan 2017), in closed form for one hidden layer. The gradient at x alone is nearly 0
// where units are saturated, which is where the network is sure.
func (n *Network) Relevance(dst []float64, x features.Vector, class int) {
	hidden := make([]float32, n.Units())
	n.sums(x, hidden)
	k := len(n.OutputBias)
	for u, a := range hidden {
		row := n.Output[u*k:][:k]
		var mean float64
		for _, v := range row {
			mean += float64(v) / float64(k)
		}
		hidden[u] = float32(meanSlope(float64(n.HiddenBias[u]), float64(a)) * (float64(row[class]) - mean))
	}
	for j, i := range x.Index {
		dst[j] = 0
		for u, w := range n.Input[int(i)*len(hidden):][:len(hidden)] {
			dst[j] += float64(x.Value[j]) * float64(w) * float64(hidden[u])
		}
	}
}

// Linearized returns the linear model that agrees with n near the empty page, to the first order.
func (n *Network) Linearized() *Linear {
	units, k := n.Units(), len(n.OutputBias)
	l := &Linear{Weights: make([]float32, len(n.Input)/units*k), Bias: make([]float32, k)}
	hidden, scores := make([]float32, units), make([]float64, k)
	n.Scores(scores, features.Vector{}, hidden)
	for c, s := range scores {
		l.Bias[c] = float32(s)
	}
	for u, b := range n.HiddenBias {
		slope := float32(meanSlope(float64(b), 0))
		for i := range len(n.Input) / units {
			w := slope * n.Input[i*units+u]
			row := l.Weights[i*k:][:k]
			for c, v := range n.Output[u*k:][:k] {
				row[c] += w * v
			}
		}
	}
	return l
}

// meanSlope returns the mean of tanh' between b and b+a.
func meanSlope(b, a float64) float64 {
	if math.Abs(a) < 1e-6 { // the quotient would be noise
		h := math.Tanh(b + a/2)
		return 1 - h*h
	}
	return (math.Tanh(b+a) - math.Tanh(b)) / a
}

// Vote adds up the calibrated probabilities of several models of the same classes, each times its share:
//
//	s_c = ln Σ_m share_m · p_mc
//
// The logarithm makes them scores. The softmax of Calibration gives the sum back at scale 1 and can sharpen
// it: the mean of models that err on different pages is less sure than it is right.
type Vote struct {
	Members []Member // at most MaxMembers
}

// Member is a model in a vote.
type Member struct {
	Share  float64 // above 0; the shares of all members add up to 1
	Places []int32 // of Model's terms among those of the vote, rising

	// Model has the classes and the extractor of the vote; terms, weights, table and calibration are its
	// own. Card.Settings says how it was trained.
	Model *Model
}

// MaxMembers is the most members of a vote, because each scores every page.
const MaxMembers = 8

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

// Scores sets dst to the scores of a page, given each member's calibrated probabilities.
func (v *Vote) Scores(dst []float64, probs func(member int) []float64) {
	clear(dst)
	for i := range v.Members {
		for c, p := range probs(i) {
			dst[c] += v.Members[i].Share * p
		}
	}
	Logs(dst)
}

// Logs turns probabilities into scores that have them as softmax.
func Logs(probs []float64) {
	for c, p := range probs {
		probs[c] = math.Log(max(p, leastProb))
	}
}

// leastProb keeps the logarithm of a probability of 0 finite.
const leastProb = 1e-12

// wireMember is a member as written, without what it shares with the vote.
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

// readVote returns the vote of model m, and gives its members what they share with m. A place outside m's
// terms leaves a member without terms, which Check reports.
func readVote(members []wireMember, m *Model) *Vote {
	if len(members) == 0 {
		return nil
	}
	v := &Vote{}
	for _, w := range members[:min(len(members), MaxMembers+1)] { // one too many suffices for Check to report it
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

// at returns the terms at places, nil if one does not exist.
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
