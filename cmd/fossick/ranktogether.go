package main

import (
	"context"
	"fmt"
	"time"

	"fossick/crawler/cluster"
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
	err := c.meet(a, name, "rank", settings, ready, func(ctx context.Context, s cluster.TaskSession, _ cluster.AgentID) error {
		defer a.step("ranking " + name + " with the other agents")()
		began := time.Now()
		var err error
		if agent.part, err = s.Rank(ctx, agent.links, options); err != nil {
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
