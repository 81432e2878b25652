package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"fossick/crawler/cluster"
	"fossick/export"
	"fossick/graph"
	"fossick/graph/rank"
	"fossick/internal/cli"
	"fossick/internal/fileio"
	"fossick/internal/page"
	"fossick/store"
)

type rankCmd struct {
	Graphs   []string `arg:"" name:"GRAPH" help:"A graph file, an edge list, a corpus with links, a store, demo, or synthetic:N; several are ranked together, as agents rank what they crawled." predictor:"sets"`
	Method   string   `default:"pagerank" placeholder:"M" help:"Method: pagerank, hits or blockrank; or one way to compute them: power, gauss-seidel, blockrank-kamvar, blockrank-short [pagerank]." predictor:"rankings"`
	Block    string   `placeholder:"B" help:"Blocks of blockrank: host, site, label, or a file (node TAB block) [host]." predictor:"host,site,label,files"`
	Topic    string   `placeholder:"LABEL" xor:"personal" help:"Surfers start anew on pages with this label only: ranks pages by their importance to the topic."`
	Personal string   `placeholder:"FILE" xor:"personal" help:"Surfers start anew on these nodes only: one a line, a TAB and a weight if they differ." expert:""`
	Damping  float64  `default:"0.85" placeholder:"D" help:"Share of surfers that follow a link [0.85]."`
	Epsilon  float64  `default:"1e-10" placeholder:"E" help:"Residual at which to stop: the change that a further step would make, in the L1 norm [1e-10]."`
	Most     int      `name:"max-iterations" default:"1000" placeholder:"N" help:"Most iterations [1000]." expert:""`
	Top      int      `default:"10" placeholder:"N" help:"Nodes to print [10]."`
	Output   string   `short:"o" placeholder:"FILE" help:"Write node TAB score of all nodes (hits: authority TAB hub)."`
	withAgents
	Memory byteSize `default:"4GiB" placeholder:"SIZE" help:"Memory for the graph as arrays; a graph that needs more stays compressed, and PageRank by power iteration takes about five times as long [4GiB]." expert:""`
}

func (rankCmd) Help() string {
	return `Ranks pages by their links. In a crawl's store it also keeps the ranks with the pages, for eval and its report.

A page without links counts as linking to the pages where surfers start anew. Reads ` + export.GraphKinds + `.

Several stores, or the folder of a crawl by several agents, are ranked together. --help-all explains the methods, and how agents on several machines rank together.

Examples:
  fossick rank fossick-banking
  fossick rank links.tsv --method blockrank --block host -o ranks.tsv
  fossick rank fossick-banking --topic banking
  fossick rank fossick-banking old-crawl`
}

func (rankCmd) MoreHelp() string {
	return `The methods:

  pagerank          the fastest of those below: blockrank by hosts where nodes are URLs,
                    else gauss-seidel; power where the graph is too large for memory
  power             PageRank by power iteration
  gauss-seidel      PageRank by Gauss-Seidel: sources and leaves at once, the core between in sweeps
  blockrank         PageRank from ranks within blocks and a rank of the blocks, a step of
                    both in each sweep
  blockrank-kamvar  the same, but one after the other, and then a power iteration, as
                    first published
  blockrank-short   ranks within blocks times the rank of the blocks: close to PageRank, not equal
  hits              hubs and authorities

Several stores, or the folder of a crawl by several agents, are ranked as the agents would do it: each agent ranks its own pages, a coordinator ranks the stores, and both repeat this with what has changed. The methods are pagerank, which is then blockrank with the stores as blocks, blockrank-kamvar and power. The result differs by at most --epsilon, in the L1 norm, from the PageRank of all links together. A page in several stores belongs to the first of them. With --crawl each agent does its part on its own machine: run the same command on each. It keeps the ranks with the pages of its own store.

  fossick rank fossick-banking --crawl banking --keys keys/alpha \
      --route alpha:7422 --peers beta:7422,gamma:7422`
}

func (c *rankCmd) check() error {
	switch {
	case !slices.Contains(rank.Methods(), c.Method):
		return usagef("method %q is not known; choose one of %s", c.Method, cli.SomeNames(c.Method, rank.Methods()))
	case !(c.Damping > 0 && c.Damping < 1) || !(c.Epsilon > 0) || math.IsInf(c.Epsilon, 0) || c.Most < 1 || c.Top < 0 || c.Memory < 1<<20:
		return usagef("--damping %g, --epsilon %g, --max-iterations %d, --top %d, --memory %d: want a damping between 0 and 1, a --top of 0 or more, and more than 0 for the others", c.Damping, c.Epsilon, c.Most, c.Top, c.Memory)
	case c.Block != "" && !rank.ByBlocks(c.Method):
		return usagef("--block works only with --method blockrank")
	case c.Method == "hits" && (c.Topic != "" || c.Personal != ""):
		return usagef("--method hits takes no --topic or --personal; leave them out, or choose another method")
	}
	if c.Crawl != "" || len(c.Graphs) > 1 {
		return errors.Join(c.checkTogether(c.Graphs), c.checkSeveral())
	}
	return c.checkTogether(c.Graphs)
}

// rankResult is the output of rank (cli.md).
type rankResult struct {
	Graph      string       `json:"graph"`
	Method     string       `json:"method"`
	Nodes      int          `json:"nodes"`
	Edges      int64        `json:"edges"`
	Damping    *float64     `json:"damping"` // null for hits
	Epsilon    float64      `json:"epsilon"`
	Iterations int          `json:"iterations"` // over all edges; an iteration of hits visits them twice
	Residual   float64      `json:"residual"`
	Seconds    float64      `json:"seconds"`     // includes transposing the graph, not reading it
	Processor  float64      `json:"cpu_seconds"` // of all processors
	InMemory   bool         `json:"in_memory"`
	Blocks     *int         `json:"blocks"`            // null without blocks
	Before     *int64       `json:"iterations_before"` // cost of local ranks and block rank, in iterations; null if they are no start
	Begin      *float64     `json:"residual_before"`   // of local ranks times block rank
	Pages      *uint64      `json:"pages"`             // pages of a store that got a rank; null if it is no store
	Top        []rankedNode `json:"top"`               // of a store: only its pages
	File       *string      `json:"file"`

	// With several graphs:
	Agents int    `json:"agents,omitempty"`
	Rounds int    `json:"rounds,omitempty"`
	Sent   uint64 `json:"bytes_exchanged,omitempty"`
}

type rankedNode struct {
	Node  string   `json:"node"` // its URL, or what the graph calls it
	Score float64  `json:"score"`
	Hub   *float64 `json:"hub,omitempty"`
}

func (c *rankCmd) Run(a *app) error {
	c.Graphs = agentsOf(c.Graphs)
	if err := c.check(); err != nil {
		return err
	}
	switch {
	case c.Crawl != "":
		return c.together(a)
	case len(c.Graphs) > 1:
		return c.several(a)
	}
	source, g, err := graphOf(a, c.Graphs[0])
	if err != nil {
		return err
	}
	if g.Nodes() == 0 {
		return fmt.Errorf("%s: an empty graph; there is nothing to rank", c.Graphs[0])
	}
	opt := rank.Options{Method: c.Method, Damping: c.Damping, Epsilon: c.Epsilon, MaxIterations: c.Most, Memory: int64(c.Memory)}
	if c.Topic != "" || c.Personal != "" {
		var n int
		if opt.Personal, n, err = source.Weights(a.ctx, g, c.Topic, c.Personal); err != nil {
			return err
		}
		a.say("random surfers restart on %d of %d nodes", n, g.Nodes())
	}
	if rank.ByBlocks(c.Method) {
		if opt.Blocks, err = source.Blocks(a.ctx, g, c.Block); err != nil {
			return err
		}
	}
	defer a.step("ranking " + c.Graphs[0])()
	began, used := time.Now(), cpuTime()
	ranked, err := rank.Of(a.ctx, g, opt)
	if err != nil {
		return err
	}
	r := c.result(g, ranked)
	r.Seconds = time.Since(began).Seconds()
	r.Processor = (cpuTime() - used).Seconds()
	if err := c.keep(a, g, ranked, r); err != nil {
		return err
	}
	return a.emit(r, r.print)
}

func (c *rankCmd) result(g *graph.Graph, ranked *rank.Result) *rankResult {
	r := &rankResult{
		Graph: c.Graphs[0], Method: c.Method, Nodes: g.Nodes(), Edges: g.Edges(), Epsilon: c.Epsilon,
		Iterations: ranked.Iterations, Residual: ranked.Residual, InMemory: ranked.InMemory,
	}
	if c.Method != "hits" {
		r.Damping = &c.Damping
	}
	if ranked.Blocks > 0 {
		r.Blocks = &ranked.Blocks
	}
	if ranked.StartVisits > 0 || ranked.StartResidual > 0 {
		before := (ranked.StartVisits + max(1, g.Edges()) - 1) / max(1, g.Edges())
		r.Before, r.Begin = &before, &ranked.StartResidual
	}
	return r
}

// keep writes the scores to the store and to -o, and picks the highest.
func (c *rankCmd) keep(a *app, g *graph.Graph, ranked *rank.Result, r *rankResult) (err error) {
	var pages []bool // nodes that are stored pages; nil if it is no store
	if store.Exists(c.Graphs[0]) {
		if pages, err = c.toStore(a, c.Graphs[0], g, ranked, r); err != nil {
			return err
		}
	}
	if c.Output != "" {
		r.File = &c.Output
		if err := fileio.WritePage(c.Output, func(w io.Writer) error { return ranked.Write(w, g) }); err != nil {
			return err
		}
	}
	for _, v := range rank.Highest(ranked.Score, pages, c.Top) {
		name, err := g.Name(v)
		if err != nil {
			return err
		}
		n := rankedNode{Node: name, Score: ranked.Score[v]}
		if ranked.Hub != nil {
			n.Hub = &ranked.Hub[v]
		}
		r.Top = append(r.Top, n)
	}
	return nil
}

// toStore stores the ranks of the store's pages, and returns which nodes are pages.
func (c *rankCmd) toStore(a *app, name string, g *graph.Graph, ranked *rank.Result, r *rankResult) (pages []bool, err error) {
	s, done, err := a.openToRead(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	ranking := store.Ranking{
		Method: c.Method, Damping: c.Damping, Personal: cmp.Or(c.Personal, c.Topic),
		Iterations: r.Iterations, Residual: r.Residual, At: time.Now().UnixMilli(), Nodes: r.Nodes, Edges: r.Edges,
	}
	if c.Method == "hits" {
		ranking.Damping = 0
	}
	pages, n, err := export.PutRanks(a.ctx, g, s, ranking, ranked.Score, ranked.Hub)
	if s.Temporary() && err == nil {
		a.say("a crawl is writing %s, so the ranks are printed but not kept with its pages; rank it again when the crawl has ended", name)
	} else {
		if r.Pages != nil {
			n += *r.Pages
		}
		r.Pages = &n
	}
	return pages, err
}

func (r *rankResult) print(w io.Writer) {
	cli.Fprintf(w, "%s: %d nodes, %d edges; %s in %d iterations, residual %.2g, %.3f s", r.Graph, r.Nodes, r.Edges, r.Method, r.Iterations, r.Residual, r.Seconds)
	if !r.InMemory {
		io.WriteString(w, ", over the compressed graph")
	}
	io.WriteString(w, "\n")
	switch {
	case r.Agents > 0:
		cli.Fprintf(w, "%d agents, %d rounds, %d bytes exchanged\n", r.Agents, r.Rounds, r.Sent)
	case r.Before != nil:
		cli.Fprintf(w, "%d blocks; ranks within and between blocks cost as much as %d iterations and have the residual %.2g\n", *r.Blocks, *r.Before, *r.Begin)
	case r.Blocks != nil:
		cli.Fprintf(w, "%d blocks\n", *r.Blocks)
	}
	if len(r.Top) > 0 {
		io.WriteString(w, "\n")
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(r.Top) > 0 && r.Top[0].Hub != nil {
		io.WriteString(t, "  authority\thub\tnode\n")
	}
	for _, n := range r.Top {
		cli.Fprintf(t, "  %.6f\t", n.Score)
		if n.Hub != nil {
			cli.Fprintf(t, "%.6f\t", *n.Hub)
		}
		cli.Fprintln(t, cli.Cut(n.Node, 100))
	}
	_ = t.Flush() // its only errors are w's
	if r.Pages != nil {
		cli.Fprintf(w, "\n%d pages of the store have their rank; fossick eval %s uses it\n", *r.Pages, r.Graph)
	}
	if r.File != nil {
		cli.Fprintf(w, "\nscores: %s\n", *r.File)
	}
}

// agentRank is one of several graphs, and its part of the ranking.
type agentRank struct {
	name  string
	g     *graph.Graph
	links cluster.RankLinks
	part  *cluster.RankPart
	pages []bool // nodes that are stored pages; nil if it is no store
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

// several ranks several graphs in this process, as agents rank theirs.
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
	began, used := time.Now(), cpuTime()
	links := make([]cluster.RankLinks, len(agents))
	for i, agent := range agents {
		if err := agent.read(a, int64(c.Memory)/int64(len(agents))); err != nil {
			return fmt.Errorf("%s: %w", agent.name, err)
		}
		links[i] = agent.links
	}
	parts, err := cluster.Rank(a.ctx, links, c.blockOptions())
	if err != nil {
		return err
	}
	found := parts[0].Result()
	if found.Nodes == 0 {
		return fmt.Errorf("%s: empty graphs; there is nothing to rank", name)
	}
	r := c.resultOfSeveral(name, found, len(agents), time.Since(began))
	r.Processor = (cpuTime() - used).Seconds()
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

func (c *rankCmd) blockOptions() cluster.RankOptions {
	opt := cluster.RankOptions{Damping: c.Damping, Epsilon: c.Epsilon, MaxRounds: c.Most}
	if c.Method != "pagerank" {
		opt.Method = c.Method
	}
	return opt
}

func (c *rankCmd) resultOfSeveral(name string, found *cluster.RankResult, agents int, took time.Duration) *rankResult {
	return &rankResult{
		Graph: name, Method: c.Method, Nodes: found.Nodes, Edges: found.Edges, Damping: &c.Damping, Epsilon: c.Epsilon, Iterations: found.Sweeps,
		Residual: found.Residual, Seconds: took.Seconds(), InMemory: true, Agents: agents, Rounds: found.Rounds, Sent: found.Bytes,
	}
}

// agent opens one of several graphs. Its pages are a store's; read finds those of any other graph.
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

// read transposes the graph, in arrays if they fit into memory, else in a compressed scratch file.
// Without a store, the pages are the nodes with links, and those that none links to.
func (r *agentRank) read(a *app, memory int64) (err error) {
	l := &r.links
	if 8*r.g.Edges()+60*int64(r.g.Nodes()) <= memory {
		var in *graph.CSR
		in, l.Degree, err = graph.Transposed(r.g)
		l.In = in
	} else {
		err = r.transposeToFile(a)
	}
	if err != nil || r.pages != nil {
		return err
	}
	return l.In.Scan(0, r.g.Nodes(), func(v uint32, from []uint32) error {
		l.Page[v] = l.Degree[v] > 0 || len(from) == 0
		return nil
	})
}

func (r *agentRank) transposeToFile(a *app) error {
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

// keepSeveral stores the ranks of each store's pages, even of those that another agent owns, writes all
// scores to -o, and picks the highest.
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
	return fileio.WritePage(c.Output, func(w io.Writer) error {
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
				if _, err := cli.Fprintf(w, "%s\t%.17g\n", name, x); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// together ranks one agent's graph with the graphs of other processes.
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
	settings := cli.Sprintf("%s, damping %g, epsilon %g, %d rounds", c.Method, c.Damping, c.Epsilon, c.Most)
	err := c.meet(a, name, "rank", settings, ready, func(ctx context.Context, s cluster.TaskSession, _ cluster.AgentID) error {
		defer a.step("ranking " + name + " with the other agents")()
		began, used := time.Now(), cpuTime()
		var err error
		if agent.part, err = s.Rank(ctx, agent.links, options); err != nil {
			return err
		}
		r = c.resultOfSeveral(name, agent.part.Result(), s.Agents, time.Since(began))
		r.Processor = (cpuTime() - used).Seconds()
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
