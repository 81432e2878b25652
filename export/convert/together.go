package convert

import (
	"context"
	"errors"
	"fmt"

	"fossick/export/collection"
	"fossick/internal/printable"
)

// Peers carries messages between agents by their numbers. What one sends to another arrives
// once and in order, unless one of them dies. To one that died and came back nothing comes
// that was sent before a message of its new life was received.
type Peers interface {
	// Send hands over a message. It does not wait for it to be received.
	Send(ctx context.Context, to int, message []byte) error
	// Receive returns the next message and who sent it; it waits for one.
	Receive(ctx context.Context) (from int, message []byte, err error)
}

// Group is an agent's place among those that convert together.
type Group struct {
	Me, Agents int    // its number, and of how many
	Name       string // the agent's
	Again      bool   // it was at this before, and died
	Peers      Peers
}

// Together converts the stores of several agents. Each calls it, with its own store as the
// only one of Stores. The one with a Dir collects: to it the others give their parts, and it
// makes of them what Run makes of all stores in the order of agents' numbers. The
// others keep theirs beside their stores until all is done, so that each goes on where it
// died. All get the same result.
func Together(ctx context.Context, opt Options, g Group) (_ *Result, err error) {
	if opt.limits == (limits{}) {
		opt.limits = usual
	}
	pages, print, err := opened(ctx, opt.Stores[0], "this agent's store", &opt)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, pages.Close()) }()
	c := &company{Group: g, opt: &opt, pages: pages, agents: make([]*message, g.Agents),
		me: message{Kind: hello, Name: g.Name, Print: print, Collects: opt.Dir != ""}}
	var there *manifest
	if c.me.Collects {
		if there, err = readManifest(opt.Dir); err != nil {
			return nil, err
		}
		c.me.Whole = there != nil && there.Done
	}
	at, err := c.meet(ctx)
	if err != nil {
		return nil, err
	}
	if at != g.Me {
		return (&giver{company: c, to: at}).give(ctx)
	}
	return (&collector{company: c, from: make([]giving, g.Agents)}).collect(ctx, there)
}

// company is an agent among the others.
type company struct {
	Group
	opt    *Options
	pages  *collection.Collection // of its store
	me     message                // its hello
	agents []*message             // by number: the latest hello
	early  []letter               // came before all had met
}

type letter struct {
	from int
	message
}

// meet waits for all, and returns the number of who collects.
func (c *company) meet(ctx context.Context) (collects int, err error) {
	first := c.me
	first.Again = c.Again
	c.agents[c.Me] = &first
	for to := range c.Agents {
		if to != c.Me {
			if err := c.send(ctx, to, first); err != nil {
				return 0, err
			}
		}
	}
	var early []letter
	for missing := c.Agents - 1; missing > 0; {
		from, m, err := c.receive(ctx)
		if err != nil {
			return 0, err
		}
		if m.Kind != hello {
			early = append(early, letter{from, m})
			continue
		}
		missing = 0
		for _, a := range c.agents {
			if a == nil {
				missing++
			}
		}
	}
	c.early = early
	return c.who()
}

// who finds the one that collects.
func (c *company) who() (number int, err error) {
	var names []string
	for i, a := range c.agents {
		if a.Collects {
			names, number = append(names, a.Name), i
		}
	}
	switch len(names) {
	case 1:
		return number, nil
	case 0:
		return 0, errors.New("no agent has -o; give -o DIR to one of them")
	}
	return 0, fmt.Errorf("agents %s all have -o; give -o DIR to one of them only", printable.SomeNames("", names))
}

func (c *company) send(ctx context.Context, to int, m message) error {
	return c.Peers.Send(ctx, to, m.encode())
}

// receive returns the next message. A hello is known, and if need be answered, by then.
func (c *company) receive(ctx context.Context) (from int, m message, err error) {
	if len(c.early) > 0 {
		l := c.early[0]
		c.early = c.early[1:]
		return l.from, l.message, nil
	}
	from, b, err := c.Peers.Receive(ctx)
	if err != nil {
		return from, m, err
	}
	if m, err = decodeMessage(b); err == nil && (from < 0 || from >= c.Agents || from == c.Me) {
		err = fmt.Errorf("%w: from agent %d of %d", ErrMessage, from, c.Agents)
	}
	if err != nil || m.Kind != hello {
		return from, m, err
	}
	if was := c.agents[from]; was != nil && (was.Name != m.Name || was.Print != m.Print || was.Collects != m.Collects) {
		return from, m, fmt.Errorf("agent %s came back with another or a changed store, or another -o; start the command again on all agents", m.Name)
	}
	c.agents[from] = &m
	if m.Again {
		return from, m, c.send(ctx, from, c.me)
	}
	return from, m, nil
}
