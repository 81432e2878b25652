package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"fossick/cluster"
	"fossick/cluster/blockrank"
	"fossick/cluster/bus"
	"fossick/cluster/peers"
	"fossick/graph"
	"fossick/store"
)

// together ranks one agent's graph with those of others, each in a process of its own.
func (c *rankCmd) together(a *app) (err error) {
	name := c.Graphs[0]
	id, err := c.agentOf(a, name)
	if err != nil {
		return err
	}
	exchange, closeServer, err := c.serve(a.ctx, a, c.Crawl, name, id)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeServer()) }()
	named, err := c.awaited(a, exchange, id)
	if err != nil {
		return err
	}
	agent, err := c.agent(a, name)
	if err == nil {
		err = agent.read(a, int64(c.Memory))
	}
	if err != nil {
		return err
	}
	defer a.step("ranking " + name + " with the other agents")()
	var r *rankResult
	options := c.blockOptions()
	told := &rankTold{a: a}
	err = peers.Run(a.ctx, peers.Options{
		Me: id, Task: "rank", Agents: c.Agents, Named: named, Progress: told.tell,
		Settings: fmt.Sprintf("%s, damping %g, epsilon %g, %d rounds, %d agents", c.Method, c.Damping, c.Epsilon, c.Most, c.Agents),
		Open: func(ctx context.Context, at cluster.AgentID) (cluster.Exchange, error) {
			opt := exchange
			opt.Agent = at
			return bus.Open(ctx, opt)
		},
	}, func(ctx context.Context, s peers.Session) error {
		if agent.part == nil {
			a.say("all %d agents are here", s.Agents)
		} else {
			a.say("all %d agents are here again, and begin anew", s.Agents)
		}
		began := time.Now()
		if err := agent.rankWith(ctx, s, options); err != nil {
			return err
		}
		r = c.resultOfSeveral(name, agent.part.Result(), s.Agents, time.Since(began))
		return nil
	})
	if err != nil {
		return fmt.Errorf("ranking with the other agents of %s: %w", c.Crawl, err)
	}
	if r.Nodes == 0 {
		return fmt.Errorf("%s: empty graphs; there is nothing to rank", c.Crawl)
	}
	_, r.InMemory = agent.links.In.(*graph.CSR)
	if err := c.keepSeveral(a, []*agentRank{agent}, r); err != nil {
		return err
	}
	return a.emit(r, r.print)
}

// agentOf returns the agent whose store it is. Another graph goes by a name made of where it
// is, so that it has the same one when it comes back.
func (c *rankCmd) agentOf(a *app, name string) (id cluster.AgentID, err error) {
	live := false
	if store.Exists(name) {
		s, done, err := a.openToRead(name)
		if err != nil {
			return "", err
		}
		id, live = cluster.AgentID(s.Info().Agent), s.Temporary()
		if err := done(); err != nil {
			return "", err
		}
	}
	switch {
	case c.Nats == "" && id == "":
		return "", usagef("%s is not the store of an agent, which has a server's files; use --nats", name)
	case c.Nats == "" && live:
		return "", usagef("an agent is at work in %s, with the server; reach it by --nats, at the port of its --local", name)
	case id != "":
		return id, nil
	}
	host, err := os.Hostname()
	if err != nil {
		return "", err
	}
	path, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(host + "\x00" + path))
	return cluster.AgentID(hex.EncodeToString(sum[:8])), nil
}

// awaited are the agents that the crawl has had, unless their number is given. The exchange
// knows them as long as it has its values.
func (c *rankCmd) awaited(a *app, opt bus.Options, id cluster.AgentID) (named []cluster.AgentID, err error) {
	ctx, stop := a.ctx, func() {}
	if c.Nats != "" { // else the others' servers may come later
		ctx, stop = context.WithTimeout(ctx, statusWait)
	}
	defer stop()
	opt.Agent = cluster.AgentID(newAgentID())
	waits := a.step("waiting for the exchange")
	exchange, err := bus.Open(ctx, opt)
	waits()
	if err != nil {
		return nil, fmt.Errorf("the crawl %s: %w", c.Crawl, err)
	}
	defer func() { err = errors.Join(err, exchange.Close()) }()
	if c.Agents > 0 {
		return nil, nil
	}
	values, err := exchange.Values(ctx)
	if err != nil {
		return nil, err
	}
	s, err := cluster.StatusOf(values)
	if err != nil {
		return nil, err
	}
	for _, one := range s.Agents {
		named = append(named, one.ID)
	}
	switch {
	case len(named) == 0:
		return nil, fmt.Errorf("the exchange knows no agent of a crawl %q; --crawl names it as they do, and --agents N ranks without such knowledge", c.Crawl)
	case !slices.Contains(named, id):
		return nil, fmt.Errorf("agent %s of %s is none of the %d that crawl %s has had; to rank it with them give all of them --agents N", id, c.Graphs[0], len(named), c.Crawl)
	}
	return named, nil
}

// rankWith does an agent's part in the ranking, and leads it if that is its part.
func (r *agentRank) rankWith(ctx context.Context, s peers.Session, opt blockrank.Options) (err error) {
	if r.part, err = blockrank.New(r.links, s.Me, s.Agents, s.Peer, s.Again); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return r.part.Run(ctx) })
	if s.Leader != nil {
		g.Go(func() error {
			_, err := blockrank.Coordinate(ctx, s.Leader, s.Agents, opt)
			return err
		})
	}
	if err = g.Wait(); errors.Is(err, blockrank.ErrLate) {
		return errors.Join(peers.ErrAnew, err)
	}
	return err
}

// rankTold says who is missing, when that changes.
type rankTold struct {
	a    *app
	last string
}

func (t *rankTold) tell(s peers.Standing) {
	var names []string
	for _, id := range s.Missing {
		names = append(names, string(id))
	}
	text := ""
	switch missing := strings.Join(names, ", "); {
	case s.Working && missing != "":
		text = "no word from agent " + missing + "; started again with its store it goes on, and the others wait"
	case s.Working:
	case missing != "":
		text = fmt.Sprintf("%d of %d agents are here; run the same command at agent %s", s.Here, s.Wanted, missing)
	default:
		text = fmt.Sprintf("%d of %d agents are here; run the same command at the others", s.Here, s.Wanted)
	}
	if text != t.last && text != "" {
		t.a.say("%s", text)
	}
	t.last = text
}
