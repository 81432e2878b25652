package train

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"fossick/models/features"
)

// How a network learns, chosen by folds (docs/classifiers.md).
const (
	firstRate = 0.05 // of a step in the first epoch
	slowing   = 5    // epochs after which it is half as large
	penalty   = 0.25 // of ½·Σ w², beside the sum of the rows' losses
	missed    = 0.2  // share of a page's words that a step does not see
	maxEpochs = 40
	patience  = 8 // epochs without a smaller loss before it ends
)

// teachable is a network that learns row by row: ours, or golearn's.
type teachable interface {
	// step moves the weights by one row of a class.
	step(x features.Vector, class int, rate float64)
	// shrink multiplies the weights, but not the biases.
	shrink(by float64)
}

// lesson is what one network learns, and from what: the same lesson always gives
// the same weights.
type lesson struct {
	rows        []features.Vector
	y           []int
	learn, held []int // rows to learn from, and those that say when to stop
	shape       shape
	seed        uint64
	number      uint64 // of the network
}

// begin returns the network before its first row, and the source of the order of
// rows.
func (l *lesson) begin() (*sparseNet, *rand.Rand) {
	rng := rand.New(rand.NewPCG(l.seed, l.number))
	n := newSparseNet(l.shape)
	n.draw(rng)
	return n, rng
}

// epoch shows n every row once, in random order, at a rate that falls from epoch to
// epoch (from 0). Then it shrinks the weights by the penalty. Of each row some words
// are missing, other ones each time.
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

// thin returns x without a share of its words, drawn anew each time, and the
// others as much larger (Srivastava and others 2014). So a network cannot lean
// on a few words that its own sites happen to use. The result is in dst's
// slices, which are cut first.
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

// study trains a network until the loss of the held rows has not fallen for a
// while. It returns the network as it was when that loss was least, and the
// number of epochs until then.
func (l *lesson) study(ctx context.Context) (top *sparseNet, epochs int, err error) {
	n, rng := l.begin()
	top = n.copyOf()
	order := append([]int(nil), l.learn...)
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

// loss returns the mean loss of the held rows, in nats.
func (l *lesson) loss(n *sparseNet) float64 {
	var sum float64
	for _, i := range l.held {
		sum += n.loss(l.rows[i], l.y[i])
	}
	return sum / float64(max(1, len(l.held)))
}

// repeat trains the lesson's network by golearn for a number of epochs. It turns
// golearn's panics into errors.
func (l *lesson) repeat(ctx context.Context, epochs int) (n *sparseNet, err error) {
	defer func() {
		if r := recover(); r != nil {
			n, err = nil, fmt.Errorf("golearn's network of %d neurons: %v", l.shape.neurons(), r)
		}
	}()
	start, rng := l.begin()
	g := newGolearnNet(start)
	order := append([]int(nil), l.learn...)
	for e := range epochs {
		if err := l.epoch(ctx, g, e, order, rng); err != nil {
			return nil, err
		}
	}
	return g.weights(), nil
}
