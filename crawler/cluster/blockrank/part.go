package blockrank

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"fossick/graph"
)

// Links are what an agent knows of the web: the nodes of its own graph, numbered from 0.
type Links struct {
	// In is the transposed graph: to each node those that lead to it. It is
	// read from front to end in each sweep, so it may be compressed.
	In     graph.Lists
	Degree []uint32 // links of each node
	Keys   []uint64 // of each node's URL; the same with all agents, none twice here
	// Page says which nodes are pages that the agent has, others are only linked to. Of
	// agents that have a page the first owns it, and its links count.
	Page []bool
}

// Part is an agent's part in the ranking. It is used by one goroutine.
type Part struct {
	me, parts int
	links     Links
	line      *line
	again     bool
	damping   float64

	owner []uint32 // of each node
	out   []slots  // by part: nodes of its that ours lead to
	into  []slots  // by part: nodes of ours that its lead to
	sum   sums

	copies [][]uint32 // by part: pages of ours that it owns, by key
	lent   [][]uint32 // by part: pages that we own and it has, by key

	meet meeting

	now   now
	ahead foresight
	score []float64

	result *Result
}

// slots are nodes in the order in which their masses are sent: first those with links,
// which matter in each round, then leaves, which do in the last.
type slots struct {
	nodes []uint32
	core  int // of them with links
}

// New makes part me of so many. again says that it was at work before and died.
func New(links Links, me, parts int, peers Peers, again bool) (*Part, error) {
	n := links.In.Nodes()
	if len(links.Degree) != n || len(links.Keys) != n || len(links.Page) != n {
		return nil, fmt.Errorf("part %d: %d nodes with %d degrees, %d keys, %d in pages", me, n, len(links.Degree), len(links.Keys), len(links.Page))
	}
	if me < 0 || me >= parts {
		return nil, fmt.Errorf("part %d of %d", me, parts)
	}
	return &Part{me: me, parts: parts, links: links, again: again, line: newLine(peers, parts+1),
		owner: make([]uint32, n), out: make([]slots, parts), into: make([]slots, parts),
		meet: newMeeting(parts), now: now{ahead: make([]*message, parts), mass: make([]*message, parts), ranks: make([]*message, parts)}}, nil
}

// Run ranks together with the others. It returns when all ranks are known.
func (p *Part) Run(ctx context.Context) error {
	if p.again {
		for to := range p.parts + 1 {
			if to != p.me {
				if err := p.line.send(ctx, to, message{kind: again}); err != nil {
					return err
				}
			}
		}
	}
	if err := p.meetOthers(ctx); err != nil {
		return fmt.Errorf("part %d: %w", p.me, err)
	}
	if err := p.rounds(ctx); err != nil {
		return fmt.Errorf("part %d: %w", p.me, err)
	}
	return nil
}

// Score returns the PageRank of a node after Run, and whether the part owns it. Of those that
// it does not own it knows that of its pages.
func (p *Part) Score(v uint32) (score float64, ours bool) {
	if p.score == nil {
		return 0, false
	}
	return p.score[v], p.owner[v] == uint32(p.me)
}

// Result says how the ranks were found, after Run.
func (p *Part) Result() *Result { return p.result }

// ours says whether the part owns a node, core whether it has links besides.
func (p *Part) ours(v uint32) bool { return p.owner[v] == uint32(p.me) }
func (p *Part) core(v uint32) bool { return p.ours(v) && p.links.Degree[v] > 0 }

// wait takes messages in until there is what is waited for.
func (p *Part) wait(ctx context.Context, have func() bool) error {
	for !have() {
		from, m, err := p.line.receive(ctx)
		if err != nil {
			return err
		}
		if err := p.take(from, m); err != nil {
			return fmt.Errorf("peer %d: %w", from, err)
		}
	}
	return nil
}

// take puts a message where it is looked for. One that comes again says the same.
func (p *Part) take(from int, m message) error {
	coordinator := from == p.parts
	switch m.kind {
	case again:
		return nil
	case begin, turn, finish, done:
		if !coordinator {
			return errors.Join(ErrMessage, errors.New("only the coordinator may send this"))
		}
		return p.now.take(m, p.parts)
	case claims, owners, mentions, places, wants, leaves, copies, masses, ranks:
		if coordinator || from == p.me {
			return errors.Join(ErrMessage, errors.New("only other parts may send this"))
		}
		switch m.kind {
		case ranks:
			p.now.ranks[from] = &m
			return nil
		case masses:
			if slices.ContainsFunc(m.floats, func(x float64) bool { return x < 0 }) {
				return fmt.Errorf("%w: a mass below 0", ErrMessage)
			}
			p.now.ahead[from] = &m
			return nil
		}
		p.meet[m.kind][from] = &m
		return nil
	}
	return fmt.Errorf("%w: kind %d is not for parts", ErrMessage, m.kind)
}
