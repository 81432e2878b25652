package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"
	"time"

	"fossick/export/sources"
	"fossick/graph"
	"fossick/graph/rank"
	"fossick/internal/cli"
	"fossick/internal/nearest"
	"fossick/internal/printable"
	"fossick/internal/process"
	"fossick/internal/wholefile"
	"fossick/store"
)

// rankCmd ranks the nodes of a graph.
type rankCmd struct {
	Graphs   []string `arg:"" name:"GRAPH" help:"A graph file, an edge list, a corpus with links, a store, demo, or synthetic:N; several are ranked together, as agents rank what they crawled." predictor:"sets"`
	Method   string   `default:"pagerank" placeholder:"M" help:"Method: pagerank, hits or blockrank; or one way to compute them: power, gauss-seidel, components, blockrank-kamvar, blockrank-short [pagerank]." predictor:"rankings"`
	Block    string   `placeholder:"B" help:"Blocks of blockrank: host, site, label, or a file (node TAB block) [host]." predictor:"host,site,label,files"`
	Topic    string   `placeholder:"LABEL" xor:"personal" help:"Surfers start anew on pages with this label only: ranks pages by their importance to the topic."`
	Personal string   `placeholder:"FILE" xor:"personal" help:"Surfers start anew on these nodes only: one a line, a TAB and a weight if they differ." expert:""`
	Damping  float64  `default:"0.85" placeholder:"D" help:"Share of surfers that follow a link [0.85]."`
	Epsilon  float64  `default:"1e-10" placeholder:"E" help:"Residual at which to stop: the change that a further step would make, in the L1 norm [1e-10]."`
	Most     int      `name:"max-iterations" default:"1000" placeholder:"N" help:"Most iterations [1000]." expert:""`
	Top      int      `default:"10" placeholder:"N" help:"Nodes to print [10]."`
	Output   string   `short:"o" placeholder:"FILE" help:"Write node TAB score of all nodes (hits: authority TAB hub)."`
	withAgents
	Memory cli.Size `default:"4GiB" placeholder:"SIZE" help:"Memory for the graph as arrays; a graph that needs more stays compressed, and PageRank by power iteration takes about five times as long [4GiB]." expert:""`
}

func (rankCmd) Help() string {
	return `Ranks pages by their links. In a crawl's store it also keeps the ranks with the pages, for eval and its report.

A page without links counts as linking to the pages where surfers start anew. Reads ` + sources.Kinds + `.

Several stores, or the folder of a crawl by several agents, are ranked together. --help-all explains the methods, and how agents on several machines rank together.

Examples:
  fossick rank fossick-banking
  fossick rank links.tsv --method blockrank --block host -o ranks.tsv
  fossick rank fossick-banking --topic banking
  fossick rank fossick-banking old-crawl`
}

// MoreHelp implements cli.More.
func (rankCmd) MoreHelp() string {
	return `The methods:

  pagerank          the fastest of those below: blockrank by hosts where nodes are URLs,
                    else gauss-seidel; power where the graph is too large for memory
  power             PageRank by power iteration
  gauss-seidel      PageRank by Gauss-Seidel: sources and leaves at once, the core between in sweeps
  components        the same, one strongly connected component after another
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
		return usagef("method %q is not known; choose one of %s", c.Method, nearest.Some(c.Method, rank.Methods()))
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

// rankResult is what rank prints (cli.md).
type rankResult struct {
	Graph      string       `json:"graph"`
	Method     string       `json:"method"`
	Nodes      int          `json:"nodes"`
	Edges      int64        `json:"edges"`
	Damping    *float64     `json:"damping"` // null for hits
	Epsilon    float64      `json:"epsilon"`
	Iterations int          `json:"iterations"` // over all edges; those of hits visit them twice
	Residual   float64      `json:"residual"`
	Seconds    float64      `json:"seconds"`     // turning the graph round included, reading it not
	Processor  *float64     `json:"cpu_seconds"` // of all processors; null where the system does not tell
	InMemory   bool         `json:"in_memory"`
	Blocks     *int         `json:"blocks"`            // null without
	Before     *int64       `json:"iterations_before"` // what local ranks and block rank cost, in iterations; null where they are no start
	Begin      *float64     `json:"residual_before"`   // of local ranks times block rank
	Pages      *uint64      `json:"pages"`             // of a store that were given a rank; null when it is no store
	Top        []rankedNode `json:"top"`               // of a store's, pages only
	File       *string      `json:"file"`

	// Of several graphs:
	Agents int    `json:"agents,omitempty"`
	Rounds int    `json:"rounds,omitempty"`
	Sent   uint64 `json:"bytes_exchanged,omitempty"`
}

// rankedNode is one of the highest.
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
		a.say("surfers start anew on %d of %d nodes", n, g.Nodes())
	}
	if rank.ByBlocks(c.Method) {
		if opt.Blocks, err = source.Blocks(a.ctx, g, c.Block); err != nil {
			return err
		}
	}
	defer a.step("ranking " + c.Graphs[0])()
	began, used := time.Now(), process.Worked()
	ranked, err := rank.Of(a.ctx, g, opt)
	if err != nil {
		return err
	}
	r := c.result(g, ranked)
	r.Seconds = time.Since(began).Seconds()
	if used != nil {
		cpu := (*process.Worked() - *used).Seconds()
		r.Processor = &cpu
	}
	if err := c.keep(a, g, ranked, r); err != nil {
		return err
	}
	return a.emit(r, r.print)
}

// result says how the ranks were found.
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

// keep writes the scores where they are wanted and picks the highest.
func (c *rankCmd) keep(a *app, g *graph.Graph, ranked *rank.Result, r *rankResult) (err error) {
	var pages []bool // nodes that are stored pages; nil when it is no store
	if store.Exists(c.Graphs[0]) {
		if pages, err = c.toStore(a, c.Graphs[0], g, ranked, r); err != nil {
			return err
		}
	}
	if c.Output != "" {
		r.File = &c.Output
		if err := wholefile.Page(c.Output, func(w io.Writer) error { return ranked.Write(w, g) }); err != nil {
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

// toStore gives the store's pages their ranks, and says which nodes they are.
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
	pages, n, err := sources.PutRanks(a.ctx, g, s, ranking, ranked.Score, ranked.Hub)
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
	printable.Fprintf(w, "%s: %d nodes, %d edges; %s in %d iterations, residual %.2g, %.3f s", r.Graph, r.Nodes, r.Edges, r.Method, r.Iterations, r.Residual, r.Seconds)
	if !r.InMemory {
		io.WriteString(w, ", over the compressed graph")
	}
	io.WriteString(w, "\n")
	switch {
	case r.Agents > 0:
		printable.Fprintf(w, "%d agents, %d rounds, %d bytes exchanged\n", r.Agents, r.Rounds, r.Sent)
	case r.Before != nil:
		printable.Fprintf(w, "%d blocks; ranks within and between blocks cost as much as %d iterations and have the residual %.2g\n", *r.Blocks, *r.Before, *r.Begin)
	case r.Blocks != nil:
		printable.Fprintf(w, "%d blocks\n", *r.Blocks)
	}
	if len(r.Top) > 0 {
		io.WriteString(w, "\n")
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(r.Top) > 0 && r.Top[0].Hub != nil {
		io.WriteString(t, "  authority\thub\tnode\n")
	}
	for _, n := range r.Top {
		printable.Fprintf(t, "  %.6f\t", n.Score)
		if n.Hub != nil {
			printable.Fprintf(t, "%.6f\t", *n.Hub)
		}
		printable.Fprintln(t, printable.Cut(n.Node, 100))
	}
	_ = t.Flush() // its only errors are w's
	if r.Pages != nil {
		printable.Fprintf(w, "\n%d pages of the store have their rank; fossick eval %s uses it\n", *r.Pages, r.Graph)
	}
	if r.File != nil {
		printable.Fprintf(w, "\nscores: %s\n", *r.File)
	}
}
