package blockrank

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// now is what a part knows of the round at hand.
type now struct {
	round  int
	begin  *message
	turn   *message // the latest
	finish *message
	done   *message
	ranks  []*message // by part: scores of our copies
	ahead  []*message // by part: the latest masses, not yet counted
	mass   []*message // by part: the masses of the round before
}

// take keeps what the coordinator said.
func (n *now) take(m message, parts int) error {
	switch m.kind {
	case begin:
		n.begin = &m
		return m.has(0, 1, 1)
	case turn:
		if n.turn == nil || m.round > n.turn.round {
			n.turn = &m
		}
		return m.has(0, 2, 1+parts+depth)
	case finish:
		n.finish = &m
		return m.has(0, 0, 2)
	}
	n.done = &m
	return m.has(0, 6, 1)
}

// rounds takes part in all rounds.
func (p *Part) rounds(ctx context.Context) error {
	if err := p.classify(); err != nil {
		return err
	}
	n, to := &p.now, p.parts
	if err := p.line.send(ctx, to, message{kind: hello, numbers: []uint64{uint64(p.sum.nodes), uint64(p.sum.links), p.line.bytes}}); err != nil {
		return err
	}
	if err := p.wait(ctx, func() bool { return n.begin != nil }); err != nil {
		return err
	}
	p.sum.base, p.damping = 1/float64(n.begin.numbers[0]), n.begin.floats[0]
	for {
		turned := func() bool { return n.turn != nil && n.turn.round > n.round }
		finished := func() bool { return n.finish != nil && n.finish.round == n.round && n.round > 0 }
		if err := p.wait(ctx, func() bool { return n.done != nil || turned() || finished() }); err != nil {
			return err
		}
		var m message
		var err error
		switch {
		case n.done != nil:
			return p.end(ctx, n.done)
		case turned():
			m, err = p.play(ctx, *n.turn)
		default:
			m = message{kind: change, round: n.round, floats: make([]float64, 1)}
			m.floats[0], err = p.finish(n.finish.floats[0], n.finish.floats[1])
			m.numbers = []uint64{p.line.bytes}
			n.finish = nil
		}
		if err != nil {
			return err
		}
		if err := p.line.send(ctx, to, m); err != nil {
			return err
		}
	}
}

// ErrLate reports that the others had ended the ranking when this part came back to it.
var ErrLate = errors.New("the ranks were complete, and the other agents have dropped their messages")

// end tells the scores of pages that others have too, and hears those of ours.
func (p *Part) end(ctx context.Context, m *message) error {
	p.result = resultOf(*m)
	if p.score == nil && p.result.Nodes > 0 {
		return ErrLate
	}
	for to, nodes := range p.lent {
		if len(nodes) == 0 {
			continue
		}
		m := message{kind: ranks}
		for _, v := range nodes {
			m.floats = append(m.floats, p.score[v])
		}
		if err := p.line.send(ctx, to, m); err != nil {
			return err
		}
	}
	for from, nodes := range p.copies {
		if len(nodes) == 0 {
			continue
		}
		if err := p.wait(ctx, func() bool { return p.now.ranks[from] != nil }); err != nil {
			return err
		}
		if err := p.now.ranks[from].has(0, 0, len(nodes)); err != nil {
			return fmt.Errorf("part %d: %w", from, err)
		}
		for i, v := range nodes {
			p.score[v] = p.now.ranks[from].floats[i]
		}
	}
	return nil
}

// most sweeps of a round; more do not pay, as others' masses are old by then.
const mostSweeps = 200

// play does a round: scale, sweep, tell others, hear them. It returns the report. Its number
// is the sweeps. Its floats are sums of y of core and leaves, of the base, and what the
// equations of our core may miss. Then comes, by part, what our links bring to its core.
func (p *Part) play(ctx context.Context, t message) (message, error) {
	last, steps := t.numbers[0] != 0, t.numbers[1] != 0
	p.now.round = t.round
	used := p.scale(t.floats[1:1+p.parts], t.floats[1+p.parts:])
	left, sweeps, err := p.local(t.floats[0], steps)
	if err != nil {
		return message{}, err
	}
	if err := p.outgoing(last); err != nil {
		return message{}, err
	}
	if err := p.exchange(ctx, last); err != nil {
		return message{}, err
	}
	m := message{kind: report, round: t.round, numbers: []uint64{uint64(sweeps)}, floats: make([]float64, 4+p.parts, 4+p.parts+products)}
	s := &p.sum
	for v, r := range s.role {
		if r == ownCore {
			m.floats[0] += s.y[v]
			m.floats[4+p.me] += s.share[v] * float64(s.stay[v])
		}
	}
	m.floats[2] = float64(s.core) * s.base
	missed, came := p.heard(used)
	m.floats[3] = left + missed
	for q, o := range p.out {
		for _, v := range o.nodes[:o.core] {
			m.floats[4+q] += s.ext[v]
		}
	}
	m.floats = append(m.floats, p.ahead.see(came, used)...)
	if last {
		m.floats[1], err = p.solveLeaves()
	}
	return m, err
}

// scale multiplies what each part holds, and with it what its links bring, by the
// coordinator's factor. It returns what they bring to each node of ours. One that died has
// nothing to scale; masses of this round, which others may have sent it already, are right.
func (p *Part) scale(by, gamma []float64) (used []float64) {
	s, n := &p.sum, &p.now
	for v, r := range s.role {
		switch r {
		case ownCore:
			s.y[v] *= by[p.me]
			s.share[v] *= by[p.me]
			s.ext[v] = 0
		case ownLeaf:
			s.ext[v] = 0
		}
	}
	for q, slots := range p.into {
		if n.ahead[q] != nil && n.ahead[q].round < n.round {
			n.mass[q], n.ahead[q] = n.ahead[q], nil
		}
		factor, m := by[q], n.mass[q]
		if m == nil {
			factor, m = 1, n.ahead[q]
		}
		if m == nil || len(m.floats) < slots.core {
			continue
		}
		for i, v := range slots.nodes[:slots.core] {
			s.ext[v] += m.floats[i] * factor
		}
	}
	used = make([]float64, 0, s.core)
	for v, r := range s.role {
		if r == ownCore {
			for i, d := range p.ahead.dg {
				s.ext[v] -= gamma[i] * d[len(used)]
			}
			s.ext[v] = max(0, s.ext[v])
			used = append(used, s.ext[v])
		}
	}
	return used
}

// local ranks our core, given what others bring, until it misses less than the goal.
func (p *Part) local(goal float64, steps bool) (left float64, sweeps int, err error) {
	if steps {
		left, err = p.step()
		return left, 1, err
	}
	for sweeps < mostSweeps && p.sum.core > 0 {
		sweeps++
		if left, err = p.sweep(); err != nil || left <= goal {
			break
		}
	}
	return left, sweeps, err
}

// exchange sends each part what our links bring, and waits for what theirs do.
func (p *Part) exchange(ctx context.Context, last bool) error {
	for q, o := range p.out {
		count := o.sent(last)
		if count == 0 {
			continue
		}
		m := message{kind: masses, round: p.now.round}
		for _, v := range o.nodes[:count] {
			m.floats = append(m.floats, p.sum.ext[v])
		}
		if err := p.line.send(ctx, q, m); err != nil {
			return err
		}
	}
	n := &p.now
	err := p.wait(ctx, func() bool {
		for q, slots := range p.into {
			if slots.sent(last) > 0 && (n.ahead[q] == nil || n.ahead[q].round < n.round) {
				return false
			}
		}
		return true
	})
	if err != nil {
		return err
	}
	for q, slots := range p.into {
		if m := n.ahead[q]; m != nil {
			if err := m.has(0, 0, slots.sent(last)); err != nil || m.round != n.round {
				return fmt.Errorf("masses of part %d, round %d in round %d: %w", q, m.round, n.round, err)
			}
		}
	}
	return nil
}

// sent is of how many slots the masses are sent.
func (s slots) sent(last bool) int {
	if last {
		return len(s.nodes)
	}
	return s.core
}

// heard puts this round's masses in place of those that were used, and returns how much that
// changes of what the core has.
func (p *Part) heard(used []float64) (change float64, came []float64) {
	s := &p.sum
	for v, r := range s.role {
		if r == ownCore || r == ownLeaf {
			s.ext[v] = 0
		}
	}
	for q, slots := range p.into {
		if m := p.now.ahead[q]; m != nil {
			for i, x := range m.floats {
				s.ext[slots.nodes[i]] += x
			}
			p.now.mass[q], p.now.ahead[q] = m, nil
		}
	}
	came = make([]float64, 0, len(used))
	for v, r := range s.role {
		if r == ownCore {
			change += math.Abs(s.ext[v] - used[len(came)])
			came = append(came, s.ext[v])
		}
	}
	return change, came
}
