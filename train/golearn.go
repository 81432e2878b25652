package train

import (
	"math"

	"github.com/sjwhitworth/golearn/neural"
	"gonum.org/v1/gonum/mat"

	"fossick/models/features"
)

// golearnNet is the network of sparseNet in golearn's hands: golearn activates it,
// propagates errors back and moves the weights. We give it the rows and the error
// of the outputs.
//
// It is golearn's Network, for MultiLayerNet neither takes nor gives weights and
// draws from the global source. Two things are bent to our shape:
//
//   - Outputs are to be linear, for softmax looks at all of them at once, but
//     golearn is linear at inputs only. So outputs are declared inputs, and the
//     self-connection that golearn gives these is cut.
//   - An input has no bias. So one more input is always 1, and its weights are the
//     outputs' biases.
//
// Neurons are numbered from 1: terms, the constant, outputs, hidden units.
type golearnNet struct {
	shape
	net        *neural.Network
	value, err *mat.Dense // of every neuron
	p          []float64  // probabilities
}

// tanh is what units do. golearn hands Backward the unit's value, not its sum.
var tanh = neural.NeuralFunction{
	Forward:  math.Tanh,
	Backward: func(h float64) float64 { return 1 - h*h },
}

func (g *golearnNet) constant() int    { return g.terms + 1 }
func (g *golearnNet) output(c int) int { return g.terms + 2 + c }
func (g *golearnNet) unit(u int) int   { return g.terms + 2 + g.classes + u }

// neurons returns how many neurons golearn needs. A step costs the square of it.
func (s shape) neurons() int { return s.terms + 1 + s.classes + s.hidden }

// newGolearnNet hands a network over to golearn. Every weight must be more than
// frozen from 0.
func newGolearnNet(from *sparseNet) *golearnNet {
	size := from.neurons()
	g := &golearnNet{
		shape: from.shape, net: neural.NewNetwork(size, from.terms+1+from.classes, tanh),
		value: mat.NewDense(size, 1, nil), err: mat.NewDense(size, 1, nil), p: make([]float64, from.classes),
	}
	for c := range g.classes {
		g.net.SetWeight(g.output(c), g.output(c), 0)
		g.net.SetWeight(g.constant(), g.output(c), from.outBias[c])
	}
	for u := range g.hidden {
		g.net.SetBias(g.unit(u), from.inBias[u])
		for c := range g.classes {
			g.net.SetWeight(g.unit(u), g.output(c), from.out[u*g.classes+c])
		}
		for i := range g.terms {
			g.net.SetWeight(i+1, g.unit(u), from.in[i*g.hidden+u])
		}
	}
	return g
}

// step is sparseNet.step, by golearn.
func (g *golearnNet) step(x features.Vector, class int, rate float64) {
	g.value.Zero()
	for j, i := range x.Index {
		g.value.Set(int(i), 0, float64(x.Value[j]))
	}
	g.value.Set(g.constant()-1, 0, 1)
	const layers = 2 // from inputs to units, and from these to outputs
	g.net.Activate(g.value, layers)
	for c := range g.p {
		g.p[c] = g.value.At(g.output(c)-1, 0)
	}
	softmax(g.p)
	g.err.Zero()
	for c, p := range g.p {
		g.err.Set(g.output(c)-1, 0, -p)
	}
	g.err.Set(g.output(class)-1, 0, 1-g.p[class])
	back := g.net.Error(g.value, g.err, layers)
	g.net.UpdateWeights(g.value, back, rate)
	g.net.UpdateBias(back, rate)
}

// shrink is sparseNet.shrink, by golearn.
func (g *golearnNet) shrink(by float64) {
	for u := range g.hidden {
		for c := range g.classes {
			g.net.SetWeight(g.unit(u), g.output(c), by*g.net.GetWeight(g.unit(u), g.output(c)))
		}
		for i := range g.terms {
			g.net.SetWeight(i+1, g.unit(u), by*g.net.GetWeight(i+1, g.unit(u)))
		}
	}
}

// weights takes the network back from golearn.
func (g *golearnNet) weights() *sparseNet {
	n := newSparseNet(g.shape)
	for c := range g.classes {
		n.outBias[c] = g.net.GetWeight(g.constant(), g.output(c))
	}
	for u := range g.hidden {
		n.inBias[u] = g.net.GetBias(g.unit(u))
		for c := range g.classes {
			n.out[u*g.classes+c] = g.net.GetWeight(g.unit(u), g.output(c))
		}
		for i := range g.terms {
			n.in[i*g.hidden+u] = g.net.GetWeight(i+1, g.unit(u))
		}
	}
	return n
}
