package train

import (
	"math"
	"math/rand/v2"

	"fossick/models/features"
)

// shape is the size of a network.
type shape struct{ terms, hidden, classes int }

// sparseNet is a network of one layer of tanh units and softmax outputs, which
// learns row by row. A row costs its terms times the hidden units: words that are
// not on a page cost nothing.
type sparseNet struct {
	shape
	in      []float64 // w: term·hidden + unit
	inBias  []float64 // b_u
	out     []float64 // v: unit·classes + class
	outBias []float64 // b_c

	h, dh, p []float64 // of the row at hand: units, their errors, probabilities
}

func newSparseNet(s shape) *sparseNet {
	return &sparseNet{
		shape: s,
		in:    make([]float64, s.terms*s.hidden), inBias: make([]float64, s.hidden),
		out: make([]float64, s.hidden*s.classes), outBias: make([]float64, s.classes),
		h: make([]float64, s.hidden), dh: make([]float64, s.hidden), p: make([]float64, s.classes),
	}
}

// forward leaves the units' values in h and the scores in p.
func (n *sparseNet) forward(x features.Vector) {
	h := n.h
	copy(h, n.inBias)
	for j, i := range x.Index {
		v := float64(x.Value[j])
		for u, w := range n.in[int(i)*n.hidden:][:len(h)] {
			h[u] += v * w
		}
	}
	p := n.p
	copy(p, n.outBias)
	for u, a := range h {
		v := math.Tanh(a)
		h[u] = v
		for c, w := range n.out[u*n.classes:][:len(p)] {
			p[c] += v * w
		}
	}
}

// softmax turns scores into probabilities, in place.
func softmax(s []float64) {
	most := s[0]
	for _, v := range s {
		most = max(most, v)
	}
	var sum float64
	for c, v := range s {
		s[c] = math.Exp(v - most)
		sum += s[c]
	}
	for c := range s {
		s[c] /= sum
	}
}

// loss returns −ln p of the row's class, in nats.
func (n *sparseNet) loss(x features.Vector, class int) float64 {
	n.forward(x)
	softmax(n.p)
	return -math.Log(max(n.p[class], 1e-300))
}

// step moves every weight by rate times the fall of the row's loss −ln p_class,
// which is the delta rule (Rumelhart, Hinton, Williams 1986):
//
//	δ_c = [c = class] − p_c             Δv_uc = rate·h_u·δ_c      Δb_c = rate·δ_c
//	δ_u = (1 − h_u²)·Σ_c v_uc·δ_c       Δw_iu = rate·x_i·δ_u      Δb_u = rate·δ_u
func (n *sparseNet) step(x features.Vector, class int, rate float64) {
	n.forward(x)
	softmax(n.p)
	d := n.p
	for c := range d {
		d[c] = -d[c]
	}
	d[class]++
	for u, h := range n.h {
		row := n.out[u*n.classes:][:len(d)]
		var back float64
		by := rate * h
		for c, v := range row {
			back += v * d[c]
			row[c] = v + by*d[c]
		}
		n.dh[u] = rate * (1 - h*h) * back
		n.inBias[u] += n.dh[u]
	}
	for c, v := range d {
		n.outBias[c] += rate * v
	}
	dh := n.dh
	for j, i := range x.Index {
		v := float64(x.Value[j])
		row := n.in[int(i)*n.hidden:][:len(dh)]
		for u, e := range dh {
			row[u] += v * e
		}
	}
}

// shrink multiplies the weights, but not the biases.
func (n *sparseNet) shrink(by float64) {
	for i := range n.in {
		n.in[i] *= by
	}
	for i := range n.out {
		n.out[i] *= by
	}
}

// frozen is the size up to which golearn takes a first weight for a missing
// connection, which it then keeps at 0.
const frozen = 0.005

// widest bounds first weights: large enough that hidden units differ from the
// first row on.
const widest = 0.3

// draw gives n random weights of either sign, evenly spread between 2·frozen and
// widest.
func (n *sparseNet) draw(rng *rand.Rand) {
	for _, weights := range [...][]float64{n.in, n.inBias, n.out, n.outBias} {
		for i := range weights {
			w := 2*frozen + (widest-2*frozen)*rng.Float64()
			if rng.IntN(2) == 0 {
				w = -w
			}
			weights[i] = w
		}
	}
}

// copyOf returns n with weights of its own.
func (n *sparseNet) copyOf() *sparseNet {
	c := newSparseNet(n.shape)
	c.take(n)
	return c
}

// take copies the weights of a network of the same shape.
func (n *sparseNet) take(from *sparseNet) {
	copy(n.in, from.in)
	copy(n.inBias, from.inBias)
	copy(n.out, from.out)
	copy(n.outBias, from.outBias)
}
