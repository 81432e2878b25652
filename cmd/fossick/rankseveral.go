package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fossick/crawler/cluster"
	"fossick/graph"
	"fossick/graph/rank"
	"fossick/internal/page"
	"fossick/internal/printable"
	"fossick/internal/process"
	"fossick/internal/wholefile"
	"fossick/store"
)

// agentRank is a graph of several, and its part in the ranking.
type agentRank struct {
	name  string
	g     *graph.Graph
	links cluster.RankLinks
	part  *cluster.RankPart
	pages []bool // nodes that are stored pages; nil when it is no store
}

func (c *rankCmd) checkSeveral() error {
	switch {
	case c.Method != "pagerank" && !slices.Contains(cluster.RankMethods, c.Method):
		return usagef("--method %s ranks one graph only; for several choose pagerank, %s", c.Method, strings.Join(cluster.RankMethods, ", "))
	case c.Block != "":
		return usagef("--block works with one graph only; of several graphs each is a block")
	case c.Topic != "" || c.Personal != "":
		return usagef("--topic and --personal work with one graph only; leave them out")
	}
	return nil
}

// several ranks several graphs as agents rank theirs, in this process.
func (c *rankCmd) several(a *app) error {
	agents := make([]*agentRank, len(c.Graphs))
	for i, name := range c.Graphs {
		var err error
		if agents[i], err = c.agent(a, name); err != nil {
			return err
		}
	}
	name := strings.Join(c.Graphs, " ")
	defer a.step("ranking " + name)()
	began, used := time.Now(), process.Worked()
	links := make([]cluster.RankLinks, len(agents))
	for i, agent := range agents {
		if err := agent.read(a, int64(c.Memory)/int64(len(agents))); err != nil {
			return fmt.Errorf("%s: %w", agent.name, err)
		}
		links[i] = agent.links
	}
	parts, found, err := cluster.Rank(a.ctx, links, c.blockOptions())
	if err != nil {
		return err
	}
	if found.Nodes == 0 {
		return fmt.Errorf("%s: empty graphs; there is nothing to rank", name)
	}
	r := c.resultOfSeveral(name, found, len(agents), time.Since(began))
	if used != nil {
		cpu := (*process.Worked() - *used).Seconds()
		r.Processor = &cpu
	}
	for i, agent := range agents {
		agent.part = parts[i]
		_, arrays := agent.links.In.(*graph.CSR)
		r.InMemory = r.InMemory && arrays
	}
	if err := c.keepSeveral(a, agents, r); err != nil {
		return err
	}
	return a.emit(r, r.print)
}

// blockOptions are those of ranking several.
func (c *rankCmd) blockOptions() cluster.RankOptions {
	opt := cluster.RankOptions{Damping: c.Damping, Epsilon: c.Epsilon, MaxRounds: c.Most}
	if c.Method != "pagerank" {
		opt.Method = c.Method
	}
	return opt
}

// resultOfSeveral says how the ranks of so many agents were found.
func (c *rankCmd) resultOfSeveral(name string, found *cluster.RankResult, agents int, took time.Duration) *rankResult {
	return &rankResult{
		Graph: name, Method: c.Method, Nodes: found.Nodes, Edges: found.Edges, Damping: &c.Damping, Epsilon: c.Epsilon, Iterations: found.Sweeps,
		Residual: found.Residual, Seconds: took.Seconds(), InMemory: true, Agents: agents, Rounds: found.Rounds, Sent: found.Bytes,
	}
}

// agent opens one of several graphs, and finds out which nodes are its pages: a store's,
// or else those that links lead from, and those that none leads to.
func (c *rankCmd) agent(a *app, name string) (*agentRank, error) {
	_, g, err := graphOf(a, name)
	if err != nil {
		return nil, err
	}
	agent := &agentRank{name: name, g: g}
	n := g.Nodes()
	agent.links.Keys, agent.links.Page = make([]uint64, n), make([]bool, n)
	for v := range n {
		url, err := g.Name(uint32(v))
		if err != nil {
			return nil, err
		}
		agent.links.Keys[v] = page.Key(url)
	}
	if !store.Exists(name) {
		return agent, nil
	}
	s, done, err := a.openToRead(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	for p, err := range s.Pages() {
		if err == nil {
			err = a.ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		v, ok, err := g.Node(p.URL)
		if err != nil {
			return nil, err
		}
		if ok {
			agent.links.Page[v] = true
		}
	}
	agent.pages = agent.links.Page
	return agent, err
}

// read turns the graph round: as arrays where they take no more than memory, else as a
// compressed scratch file.
func (r *agentRank) read(a *app, memory int64) (err error) {
	l := &r.links
	if 8*r.g.Edges()+60*int64(r.g.Nodes()) <= memory {
		var in *graph.CSR
		in, l.Degree, err = graph.Transposed(r.g)
		l.In = in
	} else {
		err = r.turnRound(a)
	}
	if err != nil || r.pages != nil {
		return err
	}
	return l.In.Scan(0, r.g.Nodes(), func(v uint32, from []uint32) error {
		l.Page[v] = l.Degree[v] > 0 || len(from) == 0
		return nil
	})
}

func (r *agentRank) turnRound(a *app) error {
	dir, err := os.MkdirTemp("", "fossick-graph-")
	if err != nil {
		return err
	}
	a.onClose(func() error { return os.RemoveAll(dir) })
	path := filepath.Join(dir, "transposed")
	if err := r.g.Transpose(a.ctx, path, 0); err != nil {
		return err
	}
	in, err := graph.Open(path)
	if err != nil {
		return err
	}
	a.onClose(in.Close)
	r.links.In, r.links.Degree = in, make([]uint32, r.g.Nodes())
	return r.g.Scan(0, r.g.Nodes(), func(v uint32, links []uint32) error {
		r.links.Degree[v] = uint32(len(links))
		return nil
	})
}

// keepSeveral gives each store's pages their ranks, those that another owns among them,
// writes all scores where they are wanted, and picks the highest.
func (c *rankCmd) keepSeveral(a *app, agents []*agentRank, r *rankResult) error {
	for _, agent := range agents {
		score, mine := make([]float64, agent.g.Nodes()), make([]bool, agent.g.Nodes())
		for v := range score {
			score[v], mine[v] = agent.part.Score(uint32(v))
			mine[v] = mine[v] && (agent.pages == nil || agent.pages[v])
		}
		if agent.pages != nil {
			if _, err := c.toStore(a, agent.name, agent.g, &rank.Result{Score: score}, r); err != nil {
				return err
			}
		}
		for _, v := range rank.Highest(score, mine, c.Top) {
			name, err := agent.g.Name(v)
			if err != nil {
				return err
			}
			r.Top = append(r.Top, rankedNode{Node: name, Score: score[v]})
		}
	}
	slices.SortStableFunc(r.Top, func(x, y rankedNode) int { return cmp.Compare(y.Score, x.Score) })
	r.Top = r.Top[:min(c.Top, len(r.Top))]
	if c.Output == "" {
		return nil
	}
	r.File = &c.Output
	return wholefile.Page(c.Output, func(w io.Writer) error {
		for _, agent := range agents {
			for v := range agent.links.Keys {
				x, ours := agent.part.Score(uint32(v))
				if !ours {
					continue
				}
				name, err := agent.g.Name(uint32(v))
				if err != nil {
					return err
				}
				if _, err := printable.Fprintf(w, "%s\t%.17g\n", name, x); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
