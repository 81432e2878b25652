package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"fossick/webgraph"
)

// rankCmd ranks the nodes of a graph.
type rankCmd struct {
	Graph    string    `arg:"" name:"GRAPH" help:"A graph file, an edge list, a corpus with links, a store, demo, or synthetic:N." complete:"sets"`
	Method   string    `default:"pagerank" placeholder:"M" help:"pagerank, hits, blockrank, or one way to them: power, gauss-seidel, components, blockrank-kamvar, blockrank-short [pagerank]." complete:"rankings"`
	Block    string    `placeholder:"B" help:"Blocks of blockrank: host, site, label, or a file (node TAB block) [host]." complete:"host,site,label,files"`
	Topic    string    `placeholder:"LABEL" xor:"personal" help:"Surfers start anew on pages with this label only: what is important to the topic."`
	Personal string    `placeholder:"FILE" xor:"personal" help:"Surfers start anew on these nodes only: one a line, a TAB and a weight if they differ."`
	Damping  float64   `default:"0.85" placeholder:"D" help:"Share of surfers that follow a link [0.85]."`
	Epsilon  float64   `default:"1e-10" placeholder:"E" help:"Residual at which it ends: what a further step would change, in the L1 norm [1e-10]."`
	Most     int       `name:"max-iterations" default:"1000" placeholder:"N" help:"Iterations at most [1000]."`
	Top      int       `default:"10" placeholder:"N" help:"Nodes to print [10]."`
	Output   string    `short:"o" placeholder:"FILE" help:"Write node TAB score of all nodes (hits: authority TAB hub)."`
	Memory   mebibytes `default:"4GiB" placeholder:"SIZE" help:"When the graph as arrays would take more, PageRank is computed by power iteration over the compressed graph, some five times slower [4GiB]."`
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

Pages without links are taken to lead where surfers start anew. Reads ` + graphSources + `.

Examples:
  fossick rank fossick-banking
  fossick rank links.tsv --method blockrank --block host -o ranks.tsv
  fossick rank fossick-banking --topic banking`
}

// rankWays are the methods.
var rankWays = []string{"pagerank", "power", "gauss-seidel", "components", "blockrank", "blockrank-kamvar", "blockrank-short", "hits"}

func (c *rankCmd) check() error {
	switch {
	case !slices.Contains(rankWays, c.Method):
		return usagef("method %q is not known; choose of %s", c.Method, strings.Join(rankWays, ", "))
	case !(c.Damping > 0 && c.Damping < 1) || !(c.Epsilon > 0) || math.IsInf(c.Epsilon, 0) || c.Most < 1 || c.Top < 0 || c.Memory < 1<<20:
		return usagef("--damping %g, --epsilon %g, --max-iterations %d, --top %d, --memory %d: want damping between 0 and 1, more than 0 of the others, and no negative --top", c.Damping, c.Epsilon, c.Most, c.Top, c.Memory)
	case c.Block != "" && !c.blocks():
		return usagef("--block is for --method blockrank")
	case c.Method == "hits" && (c.Topic != "" || c.Personal != ""):
		return usagef("hits has no surfers; leave --topic and --personal out, or choose another method")
	}
	return nil
}

// blocks says whether the method needs blocks.
func (c *rankCmd) blocks() bool { return strings.HasPrefix(c.Method, "blockrank") }

func (c *rankCmd) Run(a *app) error {
	if err := c.check(); err != nil {
		return err
	}
	g, _, err := openGraph(a, c.Graph, 0)
	if err != nil {
		return err
	}
	if g.Nodes() == 0 {
		return fmt.Errorf("%s: an empty graph; there is nothing to rank", c.Graph)
	}
	r := &rankRun{rankCmd: c, app: a, g: g, opt: webgraph.RankOptions{Damping: c.Damping, Epsilon: c.Epsilon, Most: c.Most}}
	if r.opt.Personal, err = r.personal(); err != nil {
		return err
	}
	defer a.step("ranking " + c.Graph)()
	began, used := time.Now(), workedFor()
	if err := r.rank(); err != nil {
		return err
	}
	r.result.Seconds = time.Since(began).Seconds()
	if used != nil {
		cpu := (*workedFor() - *used).Seconds()
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
	g      *webgraph.Graph
	opt    webgraph.RankOptions
	score  []float64
	hub    []float64 // of hits
	result rankResult
}

// rank computes the scores.
func (r *rankRun) rank() error {
	r.result = rankResult{Graph: r.Graph, Method: r.Method, Nodes: r.g.Nodes(), Edges: r.g.Edges(), Epsilon: r.Epsilon, InMemory: r.fits()}
	if !r.result.InMemory {
		return r.compressed()
	}
	in, degree, err := webgraph.Transposed(r.g)
	if err != nil {
		return err
	}
	switch {
	case r.Method == "hits":
		h, err := webgraph.HITS(r.app.ctx, r.g, in, r.opt)
		if h != nil {
			r.score, r.hub = h.Authority, h.Hub
			r.result.Iterations, r.result.Residual = h.Iterations, h.Residual
		}
		return err
	case r.blocks(), r.Method == "pagerank" && r.g.Hosts().Count() > 0:
		return r.byBlocks(in, degree)
	}
	r.result.Damping = &r.Damping
	switch r.Method {
	case "components":
		return r.done(webgraph.ComponentRank(r.app.ctx, in, degree, r.opt))
	case "power":
		return r.done(webgraph.PageRank(r.app.ctx, in, degree, r.opt))
	}
	return r.done(webgraph.GaussSeidel(r.app.ctx, in, degree, r.opt))
}

func (r *rankRun) done(rank *webgraph.Rank, err error) error {
	if err != nil {
		return err
	}
	r.score, r.result.Iterations, r.result.Residual = rank.Score, rank.Iterations, rank.Residual
	return nil
}

// byBlocks computes the blockranks.
func (r *rankRun) byBlocks(in *webgraph.CSR, degree []uint32) error {
	block, err := r.blockOf()
	if err != nil {
		return err
	}
	b, err := webgraph.BlockRank(r.app.ctx, in, degree, block, webgraph.BlockOptions{
		RankOptions: r.opt, Short: r.Method == "blockrank-short", Kamvar: r.Method == "blockrank-kamvar",
	})
	if err != nil {
		return err
	}
	r.result.Damping, r.result.Blocks = &r.Damping, &b.Blocks
	if b.Visits > 0 || b.Begin > 0 {
		before := (b.Visits + max(1, r.g.Edges()) - 1) / max(1, r.g.Edges())
		r.result.Before, r.result.Begin = &before, &b.Begin
	}
	return r.done(&b.Rank, nil)
}

// fits says whether the graph may lie in memory as arrays.
func (r *rankRun) fits() bool { return r.arrayBytes() <= int64(r.Memory) }

// arrayBytes is what arrays take: the transposed graph, the core once more, and the
// vectors and blocks.
func (r *rankRun) arrayBytes() int64 { return 8*r.g.Edges() + 200*int64(r.g.Nodes()) }

// compressed computes PageRank over the compressed transposed graph, in 32 bytes a
// node beside it.
func (r *rankRun) compressed() error {
	if r.Method != "pagerank" && r.Method != "power" {
		return fmt.Errorf("%s needs about %d MiB for the graph as arrays; allow them with --memory, or take --method power", r.Method, r.arrayBytes()>>20+1)
	}
	path, err := scratchPath(r.app, "transposed")
	if err != nil {
		return err
	}
	if err := r.g.Transpose(r.app.ctx, path, 0); err != nil {
		return err
	}
	in, err := webgraph.Open(path)
	if err != nil {
		return err
	}
	r.app.onClose(in.Close)
	degree := make([]uint32, r.g.Nodes())
	if err := r.g.Scan(0, r.g.Nodes(), func(v uint32, links []uint32) error {
		degree[v] = uint32(len(links))
		return nil
	}); err != nil {
		return err
	}
	r.result.Damping = &r.Damping
	return r.done(webgraph.PageRank(r.app.ctx, in, degree, r.opt))
}
