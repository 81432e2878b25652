package blockrank

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Options say how ranks are computed; the zero value works.
type Options struct {
	// Method is blockrank [default]; blockrank-kamvar, whose ranks within blocks and rank of
	// the blocks are only the start, and then all make a step of the power iteration a
	// round; power, such steps alone.
	Method    string
	Damping   float64 // d, in (0,1) [0.85]
	Epsilon   float64 // how far from PageRank the result may be, in the L1 norm [1e-10]
	MaxRounds int     // [1000]
}

// Methods are the values of Options.Method.
var Methods = []string{"blockrank", "blockrank-kamvar", "power"}

// Result says how the ranks were found.
type Result struct {
	Nodes    int
	Edges    int64
	Rounds   int
	Sweeps   int     // of the part with the most, over its links
	Residual float64 // what a further step of the power iteration would change, in the L1 norm
	Bytes    uint64  // sent by all
	Meeting  uint64  // those of them before the first round
}

// message tells all parts how their ranks were found.
func (r *Result) message() message {
	return message{kind: done, floats: []float64{r.Residual},
		numbers: []uint64{uint64(r.Nodes), uint64(r.Edges), uint64(r.Rounds), uint64(r.Sweeps), r.Bytes, r.Meeting}}
}

func resultOf(m message) *Result {
	n := m.numbers
	return &Result{Nodes: int(n[0]), Edges: int64(n[1]), Rounds: int(n[2]), Sweeps: int(n[3]), Bytes: n[4], Meeting: n[5], Residual: m.floats[0]}
}

func (o Options) filled() (Options, error) {
	if o.Method == "" {
		o.Method = Methods[0]
	}
	if o.Damping == 0 {
		o.Damping = 0.85
	}
	if o.Epsilon == 0 {
		o.Epsilon = 1e-10
	}
	if o.MaxRounds == 0 {
		o.MaxRounds = 1000
	}
	if !(o.Damping > 0 && o.Damping < 1) || !(o.Epsilon > 0) || o.MaxRounds < 0 {
		return o, fmt.Errorf("PageRank: damping %g, epsilon %g, %d rounds; want a damping between 0 and 1, and more than 0 for the others", o.Damping, o.Epsilon, o.MaxRounds)
	}
	return o, nil
}

// coordinator is its state.
type coordinator struct {
	line  *line
	parts int
	opt   Options
	r     Result

	tolerance float64 // of what is missed, as a share of what is held
	missed    float64 // in the round before; +Inf before the first
	most      float64 // that may be missed while blocks are scaled
	scaling   bool
}

// Coordinate leads so many parts to their ranks. It is peer number parts.
//
// A step of the power iteration that changes δ has a result at most δ·d/(1−d) from
// PageRank. So it ends when that is ε. With r what the equations miss and S the sum of y
// the step changes at most 2|r|/S.
func Coordinate(ctx context.Context, peers Peers, parts int, opt Options) (*Result, error) {
	opt, err := opt.filled()
	if err != nil {
		return nil, err
	}
	want := opt.Epsilon * min(1, (1-opt.Damping)/opt.Damping)
	c := &coordinator{line: newLine(peers, parts+1), parts: parts, opt: opt, tolerance: want / 2, missed: math.Inf(1), scaling: true}
	if err := c.greet(ctx); err != nil {
		return nil, err
	}
	factor, goal, last := ones(parts), startGoal/float64(parts), false
	var gamma [depth]float64
	for c.r.Nodes > 0 {
		if c.r.Rounds++; c.r.Rounds > opt.MaxRounds {
			return &c.r, fmt.Errorf("PageRank: the error is still %.2g after %d rounds; give an epsilon larger than %g", c.missed, opt.MaxRounds, opt.Epsilon)
		}
		b, lost, err := c.turn(ctx, goal, factor, gamma, last)
		if err != nil {
			return &c.r, err
		}
		if last && !lost && b.missed <= c.tolerance*b.holds {
			if lost, err = c.finish(ctx, b); err != nil {
				return &c.r, err
			}
			if !lost && c.r.Residual <= want {
				break
			}
			if !lost {
				c.tolerance /= 4
			}
		}
		factor, goal, last = c.next(b)
		gamma = [depth]float64{}
		if c.scaling && c.opt.Method == "blockrank" {
			gamma = weights(b.products[:])
		}
	}
	return &c.r, c.all(ctx, c.r.message())
}

const (
	// startGoal is what parts may miss after the first round, of a sum between 1
	// and 1/(1−d). Ranks within blocks as a start need no more.
	startGoal = 0.1
	// A round brings what a part misses to a share of what all missed before, unless
	// what others send then changes it.
	roundGoal = 0.1
)

// blocks is what parts reported.
type blocks struct {
	h, a          []float64
	f             [][]float64
	holds, leaves float64
	missed        float64
	products      [products]float64
}

// greet waits for all parts and begins.
func (c *coordinator) greet(ctx context.Context) error {
	said, _, err := c.gather(ctx, hello, 0, 3, 0)
	if err != nil {
		return err
	}
	for _, m := range said {
		c.r.Nodes += int(m.numbers[0])
		c.r.Edges += int64(m.numbers[1])
		c.r.Meeting += m.numbers[2]
	}
	return c.all(ctx, message{kind: begin, numbers: []uint64{uint64(c.r.Nodes)}, floats: []float64{c.opt.Damping}})
}

// turn has a round played. lost says that a part died in it: its masses may have reached some
// and not others, so it is not the last.
func (c *coordinator) turn(ctx context.Context, goal float64, factor []float64, gamma [depth]float64, last bool) (b blocks, lost bool, err error) {
	step := c.opt.Method == "power" || c.opt.Method == "blockrank-kamvar" && c.r.Rounds > 1
	m := message{kind: turn, round: c.r.Rounds, numbers: []uint64{one(last), one(step)}, floats: slices.Concat([]float64{goal}, factor, gamma[:])}
	if err := c.all(ctx, m); err != nil {
		return b, false, err
	}
	said, lost, err := c.gather(ctx, report, c.r.Rounds, 1, 4+c.parts+products)
	if err != nil {
		return b, false, err
	}
	sweeps := 0
	for _, m := range said {
		b.h, b.a, b.f = append(b.h, m.floats[0]), append(b.a, m.floats[2]), append(b.f, m.floats[4:4+c.parts])
		b.holds, b.leaves, b.missed = b.holds+m.floats[0], b.leaves+m.floats[1], b.missed+m.floats[3]
		for i, x := range m.floats[4+c.parts:] {
			b.products[i] += x
		}
		sweeps = max(sweeps, int(m.numbers[0]))
	}
	c.r.Sweeps += sweeps
	return b, lost, nil
}

// next says what the round after this one is to do. It is the last when what is missed
// falls as it did.
func (c *coordinator) next(b blocks) (factor []float64, goal float64, last bool) {
	want := c.tolerance * b.holds
	rate := min(1, b.missed/c.missed) // 0 after the first
	last = c.r.Rounds > 1 && b.missed*rate <= want || b.missed <= want
	// As in graph/rank: scaling is no law, so it ends where sweeps alone would do better.
	if c.most *= math.Sqrt(c.opt.Damping); c.r.Rounds == 1 {
		c.most = 4 * b.missed
	}
	c.scaling = c.scaling && b.missed <= c.most
	c.missed = b.missed
	factor = ones(c.parts)
	if c.scaling && (c.opt.Method == "blockrank" || c.opt.Method == "blockrank-kamvar" && c.r.Rounds == 1) {
		factor = factors(b.h, b.a, b.f)
	}
	return factor, max(roundGoal*b.missed, want/4) / float64(c.parts), last
}

// finish has all scale their ranks and make a step.
func (c *coordinator) finish(ctx context.Context, b blocks) (lost bool, err error) {
	if err := c.all(ctx, message{kind: finish, round: c.r.Rounds, floats: []float64{b.holds + b.leaves, b.leaves}}); err != nil {
		return false, err
	}
	said, lost, err := c.gather(ctx, change, c.r.Rounds, 1, 1)
	if err != nil || lost {
		return lost, err
	}
	c.r.Residual, c.r.Bytes = 0, c.line.bytes
	for _, m := range said {
		c.r.Residual += m.floats[0]
		c.r.Bytes += m.numbers[0]
	}
	return false, nil
}

// all sends all parts a message.
func (c *coordinator) all(ctx context.Context, m message) error {
	for to := range c.parts {
		if err := c.line.send(ctx, to, m); err != nil {
			return err
		}
	}
	return nil
}

// gather waits for a message of each part. lost says that one died and came back meanwhile;
// of changes there is then no more to wait for.
func (c *coordinator) gather(ctx context.Context, k kind, round, numbers, floats int) (said []*message, lost bool, err error) {
	said = make([]*message, c.parts)
	for missing := c.parts; missing > 0; {
		from, m, err := c.line.receive(ctx)
		if err != nil {
			return nil, lost, err
		}
		if from == c.parts {
			return nil, lost, errors.Join(ErrMessage, errors.New("the coordinator cannot send to itself"))
		}
		switch {
		case m.kind == again:
			if lost = true; k == change {
				return nil, true, nil
			}
			if said[from] != nil {
				said[from] = nil
				missing++
			}
		case m.kind == k && m.round == round:
			if err := m.has(0, numbers, floats); err != nil {
				return nil, lost, fmt.Errorf("part %d: %w", from, err)
			}
			if said[from] == nil {
				missing--
			}
			said[from] = &m
		}
	}
	return said, lost, nil
}
