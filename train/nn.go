package train

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"

	"github.com/sjwhitworth/golearn/neural"
	"gonum.org/v1/gonum/mat"

	"fossick/models"
	"fossick/models/features"
)

// nn trains back-propagation networks on tf-idf weights of the terms with the highest gain.
//
// One network depends on its initial weights and the order of the rows. The mean of several depends less
// on them and is right more often (Hansen and Salamon 1990). Each network holds out another tenth of the
// rows and stops by their loss, so that together they learn from every row (Parmanto, Munro, Doyle 1996).
type nn struct{}

const (
	hiddenUnits = 32
	networks    = 5 // trained separately and averaged
)

func (nn) name() string { return models.NN }

// nnWords is the default number of terms.
const nnWords = 500

// golearn trains the model's networks within these limits, which keep it below about a minute. A row
// costs it the square of the number of neurons; at 77 words that is a hundred times sparseNet's cost.
// sparseNet finds the number of epochs, and trains folds and trials. A test checks that both give the
// same weights to nine digits.
const (
	golearnWords = 100
	golearnWork  = 1 << 32 // weights visited in all
)

// auto tries networks within these limits, below about a minute; with all words linear is better and faster.
const (
	fewWords = 500
	fewPages = 20000
)

func (c *corpus) few(o *Options) bool {
	if len(c.rows) > fewPages || !o.selected() || o.Words > fewWords {
		return false
	}
	kept, _ := c.vocabulary(c.all(), o.fitting().selection.or(0, features.ByTFDFGain))
	return 0 < len(kept) && len(kept) <= fewWords
}

func (nn) fit(ctx context.Context, c *corpus, pages []int, by fitting) (*fitted, error) {
	f := c.weighed(pages, by.or(nnWords, features.ByTFDFGain), false)
	if len(f.kept) == 0 {
		return nil, fmt.Errorf("training %s: %w", models.NN, errNoWord)
	}
	lessons := f.lessons(c, pages, uint64(by.seed))
	nets, epochs, err := teach(ctx, lessons)
	if err != nil {
		return nil, fmt.Errorf("training %s: %w", models.NN, err)
	}
	engine := "sparse"
	if final := len(pages) == len(c.rows) && !by.trial; final && affordable(lessons, epochs) {
		engine = "golearn"
		if nets, err = relearn(ctx, lessons, epochs); err != nil {
			return nil, fmt.Errorf("training %s: %w", models.NN, err)
		}
	}
	f.network = committee(nets)
	f.settings["terms"] = strconv.Itoa(len(f.kept))
	f.settings["hidden"] = strconv.Itoa(hiddenUnits)
	f.settings["networks"] = strconv.Itoa(networks)
	f.settings["epochs"] = fmt.Sprint(epochs)
	f.settings["engine"] = engine
	return f, nil
}

// tenths is the number of parts of the rows; each network holds out one part.
const tenths = 10

func (f *fitted) lessons(c *corpus, pages []int, seed uint64) []*lesson {
	rows, y := f.vectors(c, pages), c.classesOf(pages)
	part := dealEvenly(y, len(c.classes), tenths, rand.New(rand.NewPCG(seed, 0x7e27)))
	lessons := make([]*lesson, networks)
	for m := range lessons {
		l := &lesson{rows: rows, y: y, seed: seed, number: uint64(m),
			shape: shape{terms: len(f.kept), hidden: hiddenUnits, classes: len(c.classes)}}
		for i, p := range part {
			if p == m%tenths {
				l.held = append(l.held, i)
			} else {
				l.learn = append(l.learn, i)
			}
		}
		lessons[m] = l
	}
	return lessons
}

// teach trains one network per lesson, and returns how many epochs each took.
func teach(ctx context.Context, lessons []*lesson) ([]*sparseNet, []int, error) {
	nets, epochs := make([]*sparseNet, len(lessons)), make([]int, len(lessons))
	return nets, epochs, parallel(ctx, runtime.GOMAXPROCS(0), len(lessons), func(ctx context.Context, m int) (err error) {
		nets[m], epochs[m], err = lessons[m].study(ctx)
		return err
	})
}

// affordable reports whether golearn can train these networks within golearnWork.
func affordable(lessons []*lesson, epochs []int) bool {
	work := 0
	for m, l := range lessons {
		if l.shape.terms > golearnWords {
			return false
		}
		work += epochs[m] * len(l.learn) * l.shape.neurons() * l.shape.neurons()
	}
	return work <= golearnWork
}

func relearn(ctx context.Context, lessons []*lesson, epochs []int) ([]*sparseNet, error) {
	nets := make([]*sparseNet, len(lessons))
	return nets, parallel(ctx, runtime.GOMAXPROCS(0), len(lessons), func(ctx context.Context, m int) (err error) {
		nets[m], err = lessons[m].repeat(ctx, epochs[m])
		return err
	})
}

// committee merges networks of one shape into one whose scores are the mean of theirs.
func committee(nets []*sparseNet) *models.Network {
	s, by := nets[0].shape, 1/float64(len(nets))
	n := &models.Network{OutputBias: make([]float32, s.classes)}
	for _, net := range nets {
		n.HiddenBias = append(n.HiddenBias, narrow(net.inBias, 1)...)
		n.Output = append(n.Output, narrow(net.out, by)...)
	}
	for c := range s.classes {
		var sum float64
		for _, net := range nets {
			sum += net.outBias[c]
		}
		n.OutputBias[c] = float32(sum * by)
	}
	for i := range s.terms {
		for _, net := range nets {
			n.Input = append(n.Input, narrow(net.in[i*s.hidden:][:s.hidden], 1)...)
		}
	}
	return n
}

// narrow multiplies weights and converts them to float32.
func narrow(weights []float64, by float64) []float32 {
	out := make([]float32, len(weights))
	for i, w := range weights {
		out[i] = float32(w * by)
	}
	return out
}

var _ teachable = (*golearnNet)(nil)
var _ teachable = (*sparseNet)(nil)

// Settings of learning, chosen by cross-validation (docs/classifiers.md).
const (
	firstRate = 0.05 // learning rate of the first epoch
	slowing   = 5    // epochs after which the rate is half as large
	penalty   = 0.25 // weight of ½·Σ w² beside the sum of the rows' losses
	missed    = 0.2  // dropout: share of a page's words that a step leaves out
	maxEpochs = 40
	patience  = 8 // epochs without a lower loss before training stops
)

// teachable is a network that learns row by row: sparseNet or golearnNet.
type teachable interface {
	// step updates the weights by one row of a class.
	step(x features.Vector, class int, rate float64)
	// shrink multiplies the weights, but not the biases.
	shrink(by float64)
}

// lesson is the training task of one network; the same lesson always gives the same weights.
type lesson struct {
	rows        []features.Vector
	y           []int
	learn, held []int // rows to learn from, and held-out rows that decide when to stop
	shape       shape
	seed        uint64
	number      uint64 // of the network
}

// begin returns the initial network and the random source of the row order.
func (l *lesson) begin() (*sparseNet, *rand.Rand) {
	rng := rand.New(rand.NewPCG(l.seed, l.number))
	n := newSparseNet(l.shape)
	n.draw(rng)
	return n, rng
}

// epoch trains n on every row once, in random order, and applies the penalty. epoch counts from 0.
func (l *lesson) epoch(ctx context.Context, n teachable, epoch int, order []int, rng *rand.Rand) error {
	rate := firstRate / (1 + float64(epoch)/slowing)
	rng.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
	var seen features.Vector
	for k, i := range order {
		if k%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		seen = thin(seen, l.rows[i], rng)
		n.step(seen, l.y[i], rate)
	}
	n.shrink(1 - rate*penalty)
	return nil
}

// thin drops a random share of x's words and scales up the others (dropout: Srivastava and others 2014),
// so that a network cannot rely on a few words of its training sites.
func thin(dst, x features.Vector, rng *rand.Rand) features.Vector {
	dst.Index, dst.Value = dst.Index[:0], dst.Value[:0]
	for k, i := range x.Index {
		if rng.Float64() >= missed {
			dst.Index = append(dst.Index, i)
			dst.Value = append(dst.Value, x.Value[k]/(1-missed))
		}
	}
	return dst
}

// study trains until the held-out loss stops falling, and returns the best network and its epochs.
func (l *lesson) study(ctx context.Context) (top *sparseNet, epochs int, err error) {
	n, rng := l.begin()
	top = n.copyOf()
	order := slices.Clone(l.learn)
	least := math.Inf(1)
	for e := 0; e < maxEpochs && e < epochs+patience; e++ {
		if err := l.epoch(ctx, n, e, order, rng); err != nil {
			return nil, 0, err
		}
		if loss := l.loss(n); loss < least || len(l.held) == 0 {
			least, epochs = loss, e+1
			top.take(n)
		}
	}
	return top, epochs, nil
}

// loss returns the mean loss of the held-out rows, in nats.
func (l *lesson) loss(n *sparseNet) float64 {
	var sum float64
	for _, i := range l.held {
		sum += n.loss(l.rows[i], l.y[i])
	}
	return sum / float64(max(1, len(l.held)))
}

// repeat trains the lesson's network with golearn, and turns golearn's panics into errors.
func (l *lesson) repeat(ctx context.Context, epochs int) (n *sparseNet, err error) {
	defer func() {
		if r := recover(); r != nil {
			n, err = nil, fmt.Errorf("golearn's network of %d neurons: %v", l.shape.neurons(), r)
		}
	}()
	start, rng := l.begin()
	g := newGolearnNet(start)
	order := slices.Clone(l.learn)
	for e := range epochs {
		if err := l.epoch(ctx, g, e, order, rng); err != nil {
			return nil, err
		}
	}
	return g.weights(), nil
}

type shape struct{ terms, hidden, classes int }

// sparseNet is a network with one hidden layer of tanh units and with softmax outputs. A row costs its
// terms times the hidden units; words that are not on the page cost nothing.
type sparseNet struct {
	shape
	in      []float64 // w: term·hidden + unit
	inBias  []float64 // b_u
	out     []float64 // v: unit·classes + class
	outBias []float64 // b_c

	h, dh, p []float64 // of the current row: units, their errors, probabilities
}

func newSparseNet(s shape) *sparseNet {
	return &sparseNet{
		shape: s,
		in:    make([]float64, s.terms*s.hidden), inBias: make([]float64, s.hidden),
		out: make([]float64, s.hidden*s.classes), outBias: make([]float64, s.classes),
		h: make([]float64, s.hidden), dh: make([]float64, s.hidden), p: make([]float64, s.classes),
	}
}

// forward computes the hidden units h and the scores p of a row.
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

// step moves every weight down the gradient of the row's loss −ln p_class, which is the delta rule
// (Rumelhart, Hinton, Williams 1986):
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

func (n *sparseNet) shrink(by float64) {
	for i := range n.in {
		n.in[i] *= by
	}
	for i := range n.out {
		n.out[i] *= by
	}
}

// frozen is the size up to which golearn takes a weight for a missing connection and keeps it at 0.
const frozen = 0.005

// widest bounds initial weights. It is large enough that hidden units differ from the first row on.
const widest = 0.3

// draw sets random weights of either sign, with sizes uniform between 2·frozen and widest.
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

func (n *sparseNet) copyOf() *sparseNet {
	c := newSparseNet(n.shape)
	c.take(n)
	return c
}

func (n *sparseNet) take(from *sparseNet) {
	copy(n.in, from.in)
	copy(n.inBias, from.inBias)
	copy(n.out, from.out)
	copy(n.outBias, from.outBias)
}

// golearnNet trains a sparseNet with golearn, which activates, propagates errors back and moves the
// weights. It uses golearn's Network, because MultiLayerNet neither takes nor gives weights and draws
// from the global random source. Two workarounds fit our shape:
//
//   - Softmax needs linear outputs, but golearn is linear at inputs only. So outputs are
//     declared inputs, and the self-connection that golearn gives to inputs is cut.
//   - An input has no bias. So one more input is always 1, and its weights are the biases.
//
// Neurons are numbered from 1: terms, the constant, outputs, hidden units.
type golearnNet struct {
	shape
	net        *neural.Network
	value, err *mat.Dense // of every neuron
	p          []float64  // probabilities
}

// tanh is the activation function. golearn passes the unit's value to Backward, not its sum.
var tanh = neural.NeuralFunction{
	Forward:  math.Tanh,
	Backward: func(h float64) float64 { return 1 - h*h },
}

func (g *golearnNet) constant() int    { return g.terms + 1 }
func (g *golearnNet) output(c int) int { return g.terms + 2 + c }
func (g *golearnNet) unit(u int) int   { return g.terms + 2 + g.classes + u }

// neurons returns the number of neurons that golearn needs; a step costs its square.
func (s shape) neurons() int { return s.terms + 1 + s.classes + s.hidden }

// newGolearnNet copies a network into golearn. Every weight must be more than frozen from 0.
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

func (g *golearnNet) step(x features.Vector, class int, rate float64) {
	g.value.Zero()
	for j, i := range x.Index {
		g.value.Set(int(i), 0, float64(x.Value[j]))
	}
	g.value.Set(g.constant()-1, 0, 1)
	const layers = 2 // inputs to units, and units to outputs
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
