package blockrank

import "math"

// role is what a node is to a part.
type role byte

const (
	none    role = iota // others' affair: no page of ours leads to it
	ownCore             // ours, with links
	ownLeaf             // ours, without
	farCore             // another's, with links, and ours lead to it
	farLeaf             // another's, without
)

// sums are the unknowns y of the linear system whose solution is up to a factor the
// PageRank (graph/rank, gaussseidel.go),
//
//	y(p) = 1/N + d · Σ_{q→p} y(q)/C(q),
//
// of the nodes that a part owns; leaves occur at the end only. About 37 bytes a node.
type sums struct {
	role  []role
	y     []float64
	share []float64 // d·y/C of ours; 0 of others
	ext   []float64 // of ours what other parts' links bring; of others' what ours bring them
	stay  []uint32  // links of a node that lead to our core
	late  []uint32  // those of them to nodes which do not see it in the same sweep
	next  []float64 // of steps
	base  float64   // 1/N
	nodes int       // that the part owns
	core  int
	links int64 // of them
}

// classify finds each node's role, and where links of ours lead.
func (p *Part) classify() error {
	n := len(p.owner)
	p.sum = sums{role: make([]role, n), y: make([]float64, n), share: make([]float64, n), ext: make([]float64, n),
		stay: make([]uint32, n), late: make([]uint32, n)}
	s := &p.sum
	for v := range uint32(n) {
		switch {
		case p.core(v):
			s.role[v] = ownCore
			s.core++
			s.links += int64(p.links.Degree[v])
			s.nodes++
		case p.ours(v):
			s.role[v] = ownLeaf
			s.nodes++
		}
	}
	for _, o := range p.out {
		for i, v := range o.nodes {
			if s.role[v] = farCore; i >= o.core {
				s.role[v] = farLeaf
			}
		}
	}
	return p.links.In.Scan(0, n, func(v uint32, from []uint32) error {
		if s.role[v] != ownCore {
			return nil
		}
		for _, q := range from {
			if s.stay[q]++; q >= v {
				s.late[q]++
			}
		}
		return nil
	})
}

// incoming adds up from the base and all links what a node of ours has.
func (s *sums) incoming(v uint32, from []uint32) float64 {
	sum := s.base + s.ext[v]
	for _, q := range from {
		sum += s.share[q]
	}
	return sum
}

// set gives a node of the core its y.
func (p *Part) set(v uint32, y float64) {
	p.sum.y[v] = y
	p.sum.share[v] = p.damping * y / float64(p.links.Degree[v])
}

// sweep goes through the core once, in place (Gauss–Seidel). left is at least what the
// core's equations then miss, in the L1 norm, if others' masses stay as they are.
func (p *Part) sweep() (left float64, err error) {
	s := &p.sum
	err = p.links.In.Scan(0, len(s.y), func(v uint32, from []uint32) error {
		if s.role[v] != ownCore {
			return nil
		}
		was := s.share[v]
		p.set(v, s.incoming(v, from))
		left += math.Abs(s.share[v]-was) * float64(s.late[v])
		return nil
	})
	return left, err
}

// step makes a step of the power iteration: no node sees what others become in it.
func (p *Part) step() (left float64, err error) {
	s := &p.sum
	if s.next == nil {
		s.next = make([]float64, len(s.y))
	}
	err = p.links.In.Scan(0, len(s.y), func(v uint32, from []uint32) error {
		if s.role[v] == ownCore {
			s.next[v] = s.incoming(v, from)
		}
		return nil
	})
	for v, r := range s.role {
		if r == ownCore {
			was := s.share[v]
			p.set(uint32(v), s.next[v])
			left += math.Abs(s.share[v]-was) * float64(s.stay[v])
		}
	}
	return left, err
}

// outgoing adds up what our links bring to others' nodes, leaves too if last.
func (p *Part) outgoing(last bool) error {
	s := &p.sum
	return p.links.In.Scan(0, len(s.y), func(v uint32, from []uint32) error {
		if s.role[v] != farCore && !(last && s.role[v] == farLeaf) {
			return nil
		}
		sum := 0.0
		for _, q := range from {
			sum += s.share[q]
		}
		s.ext[v] = sum
		return nil
	})
}

// solveLeaves gives leaves their y, and returns the sum.
func (p *Part) solveLeaves() (held float64, err error) {
	s := &p.sum
	err = p.links.In.Scan(0, len(s.y), func(v uint32, from []uint32) error {
		if s.role[v] == ownLeaf {
			s.y[v] = s.incoming(v, from)
			held += s.y[v]
		}
		return nil
	})
	return held, err
}

// finish scales all to sum to 1 and makes a step of the power iteration from there, as one
// machine's rank does in the end. sum is that of all y, leaves that of leaves'. It
// returns what the step changes, in the L1 norm.
func (p *Part) finish(sum, leaves float64) (change float64, err error) {
	s := &p.sum
	p.score = make([]float64, len(s.y))
	anew := (1 - p.damping + p.damping*leaves/sum) * s.base
	err = p.links.In.Scan(0, len(s.y), func(v uint32, from []uint32) error {
		if s.role[v] != ownCore && s.role[v] != ownLeaf {
			return nil
		}
		p.score[v] = anew + (s.incoming(v, from)-s.base)/sum
		change += math.Abs(p.score[v] - s.y[v]/sum)
		return nil
	})
	return change, err
}
