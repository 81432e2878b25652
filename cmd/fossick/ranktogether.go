package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"fossick/crawler/cluster"
	"fossick/crawler/cluster/blockrank"
	"fossick/crawler/cluster/peers"
	"fossick/graph"
	"fossick/internal/printable"
)

// together ranks one agent's graph with those of others, each in a process of its own.
func (c *rankCmd) together(a *app) error {
	name := c.Graphs[0]
	var agent *agentRank
	ready := func() (err error) {
		if agent, err = c.agent(a, name); err == nil {
			err = agent.read(a, int64(c.Memory))
		}
		return err
	}
	var r *rankResult
	options := c.blockOptions()
	settings := printable.Sprintf("%s, damping %g, epsilon %g, %d rounds", c.Method, c.Damping, c.Epsilon, c.Most)
	err := c.meet(a, name, "rank", settings, ready, func(ctx context.Context, s peers.Session, _ cluster.AgentID) error {
		defer a.step("ranking " + name + " with the other agents")()
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
