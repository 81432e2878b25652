package main

import (
	"fmt"
	"fossick/graph"
	"fossick/graph/rank"
	"fossick/graph/sources"
	"fossick/internal/process"
	"fossick/internal/values"
	"math"
	"slices"
	"strings"
	"time"
)

// rankCmd ranks the nodes of a graph.
type rankCmd struct {
	Graph    string           `arg:"" name:"GRAPH" help:"A graph file, an edge list, a corpus with links, a store, demo, or synthetic:N." complete:"sets"`
	Method   string           `default:"pagerank" placeholder:"M" help:"pagerank, hits, blockrank, or one way to them: power, gauss-seidel, components, blockrank-kamvar, blockrank-short [pagerank]." complete:"rankings"`
	Block    string           `placeholder:"B" help:"Blocks of blockrank: host, site, label, or a file (node TAB block) [host]." complete:"host,site,label,files"`
	Topic    string           `placeholder:"LABEL" xor:"personal" help:"Surfers start anew on pages with this label only: what is important to the topic."`
	Personal string           `placeholder:"FILE" xor:"personal" help:"Surfers start anew on these nodes only: one a line, a TAB and a weight if they differ."`
	Damping  float64          `default:"0.85" placeholder:"D" help:"Share of surfers that follow a link [0.85]."`
	Epsilon  float64          `default:"1e-10" placeholder:"E" help:"Residual at which it ends: what a further step would change, in the L1 norm [1e-10]."`
	Most     int              `name:"max-iterations" default:"1000" placeholder:"N" help:"Iterations at most [1000]."`
	Top      int              `default:"10" placeholder:"N" help:"Nodes to print [10]."`
	Output   string           `short:"o" placeholder:"FILE" help:"Write node TAB score of all nodes (hits: authority TAB hub)."`
	Memory   values.Mebibytes `default:"4GiB" placeholder:"SIZE" help:"When the graph as arrays would take more, PageRank is computed by power iteration over the compressed graph, some five times slower [4GiB]."`
}

func (rankCmd) Help() string {
	return `Ranks pages by their links. Of a crawl's store the ranks are also kept with the pages: eval and its report use them.

  pagerank          the fastest of those below: blockrank by hosts where nodes are URLs,
                    else gauss-seidel; power where the graph is too large for memory
  power             PageRank by power iteration
  gauss-seidel      PageRank by Gauss-Seidel: sources and leaves at once, the core between in sweeps
  components        the same by strongly connected components
  blockrank         PageRank from ranks within blocks and a rank of the blocks, a step of
                    both in each sweep
  blockrank-kamvar  the same, but one after the other, and then a power iteration, as
                    first published
  blockrank-short   ranks within blocks times the rank of the blocks: not PageRank, but near
  hits              hubs and authorities

Pages without links are taken to lead where surfers start anew. Reads ` + sources.Kinds + `.

Examples:
  fossick rank fossick-banking
  fossick rank links.tsv --method blockrank --block host -o ranks.tsv
  fossick rank fossick-banking --topic banking`
}

func (c *rankCmd) check() error {
	switch {
	case !slices.Contains(rank.Methods(), c.Method):
		return usagef("method %q is not known; choose of %s", c.Method, strings.Join(rank.Methods(), ", "))
	case !(c.Damping > 0 && c.Damping < 1) || !(c.Epsilon > 0) || math.IsInf(c.Epsilon, 0) || c.Most < 1 || c.Top < 0 || c.Memory < 1<<20:
		return usagef("--damping %g, --epsilon %g, --max-iterations %d, --top %d, --memory %d: want damping between 0 and 1, more than 0 of the others, and no negative --top", c.Damping, c.Epsilon, c.Most, c.Top, c.Memory)
	case c.Block != "" && !rank.ByBlocks(c.Method):
		return usagef("--block is for --method blockrank")
	case c.Method == "hits" && (c.Topic != "" || c.Personal != ""):
		return usagef("hits has no surfers; leave --topic and --personal out, or choose another method")
	}
	return nil
}

func (c *rankCmd) Run(a *app) error {
	if err := c.check(); err != nil {
		return err
	}
	source, err := sourceOf(a, c.Graph)
	if err != nil {
		return err
	}
	g, _, err := openGraph(a, source, 0)
	if err != nil {
		return err
	}
	if g.Nodes() == 0 {
		return fmt.Errorf("%s: an empty graph; there is nothing to rank", c.Graph)
	}
	r := &rankRun{rankCmd: c, app: a, source: source, g: g}
	opt := rank.Options{Method: c.Method, Damping: c.Damping, Epsilon: c.Epsilon, MaxIterations: c.Most, Memory: int64(c.Memory)}
	if opt.Personal, err = r.personal(); err != nil {
		return err
	}
	if rank.ByBlocks(c.Method) {
		if opt.Blocks, err = r.blockOf(); err != nil {
			return err
		}
	}
	defer a.step("ranking " + c.Graph)()
	began, used := time.Now(), process.Worked()
	if r.ranked, err = rank.Of(a.ctx, g, opt); err != nil {
		return err
	}
	r.describe()
	r.result.Seconds = time.Since(began).Seconds()
	if used != nil {
		cpu := (*process.Worked() - *used).Seconds()
		r.result.Processor = &cpu
	}
	if err := r.keep(); err != nil {
		return err
	}
	return a.emit(&r.result, r.result.print)
}

// rankRun is one run of the verb.
type rankRun struct {
	*rankCmd
	app    *app
	source sources.Source
	g      *graph.Graph
	ranked *rank.Result
	result rankResult
}

// describe says how the ranks were found.
func (r *rankRun) describe() {
	ranked := r.ranked
	r.result = rankResult{
		Graph: r.Graph, Method: r.Method, Nodes: r.g.Nodes(), Edges: r.g.Edges(), Epsilon: r.Epsilon,
		Iterations: ranked.Iterations, Residual: ranked.Residual, InMemory: ranked.InMemory,
	}
	if r.Method != "hits" {
		r.result.Damping = &r.Damping
	}
	if ranked.Blocks > 0 {
		r.result.Blocks = &ranked.Blocks
	}
	if ranked.StartVisits > 0 || ranked.StartResidual > 0 {
		before := (ranked.StartVisits + max(1, r.g.Edges()) - 1) / max(1, r.g.Edges())
		r.result.Before, r.result.Begin = &before, &ranked.StartResidual
	}
}
