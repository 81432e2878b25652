package main

import (
	"io"
	"os"
	"path/filepath"
	"time"

	"fossick/datasets"
	"fossick/export"
	"fossick/graph"
	"fossick/internal/cli"
	"fossick/internal/fileio"
)

type graphCmd struct {
	Source    string   `arg:"" name:"GRAPH" help:"A graph file, an edge list, a corpus with links, a store, demo, or synthetic:N." predictor:"sets"`
	Output    string   `short:"o" name:"output" placeholder:"FILE" help:"Graph file to write; without it the graph is only described, and a graph file verified."`
	Edges     string   `placeholder:"FILE" help:"Also write the links as text: source TAB target a line, by the numbers of the nodes in URL order."`
	Transpose bool     `help:"Reverse all links."`
	Memory    byteSize `default:"256MiB" placeholder:"SIZE" help:"Memory for sorting; the rest goes to scratch files beside the graph [256MiB]."`
}

func (graphCmd) Help() string {
	return `Builds a compressed graph file, which simulate reads without building it again. Reads ` + export.GraphKinds + `. A graph may be larger than memory. A graph file without -o is verified from beginning to end.

Examples:
  fossick graph links.tsv -o links.graph
  fossick graph synthetic:10k -o web.graph`
}

type graphResult struct {
	Graph     string   `json:"graph"`
	File      *string  `json:"file"` // null without -o
	Nodes     int      `json:"nodes"`
	Edges     int64    `json:"edges"`
	Hosts     int      `json:"hosts"`
	Sites     int      `json:"sites"`
	SelfLoops *int64   `json:"self_loops"` // dropped; null if no graph was built
	Repeated  *int64   `json:"repeated"`   // likewise
	Dangling  *int64   `json:"dangling"`   // numbers without a name, if others have one
	Bits      *float64 `json:"bits_per_edge"`
	AllBits   *float64 `json:"bits_per_edge_with_offsets"`
	Bytes     int64    `json:"bytes"` // of the file, names included
	Seconds   float64  `json:"seconds"`
	EdgesPerS *float64 `json:"edges_per_second"`
	Verified  bool     `json:"verified"`
}

func (c *graphCmd) Run(a *app) error {
	if c.Memory < 1<<20 || c.Memory > 1<<40 {
		return usagef("--memory %d bytes: want a size from 1MiB to 1TiB, such as 500MB", c.Memory)
	}
	source, err := sourceOf(a, c.Source)
	if err != nil {
		return err
	}
	began := time.Now()
	path, stats, err := c.build(a, source)
	if err != nil {
		return err
	}
	g, err := graph.Open(path)
	if err != nil {
		return err
	}
	a.onClose(g.Close)
	seconds := time.Since(began).Seconds()
	verified := source.IsGraph() && c.Output == ""
	if verified {
		a.say("reading the whole graph")
		defer a.step("reading " + c.Source)()
		if err := g.Verify(a.ctx); err != nil {
			return err
		}
	}
	if c.Edges != "" {
		defer a.step("writing " + c.Edges)()
		if err := fileio.WritePage(c.Edges, func(w io.Writer) error { return g.WriteEdges(a.ctx, w) }); err != nil {
			return err
		}
	}
	r := c.result(g, stats, seconds, source)
	r.Verified = verified
	return a.emit(r, r.print)
}

// build returns the path of the graph file and the counts of its links, nil if the file existed.
func (c *graphCmd) build(a *app, source export.GraphSource) (path string, stats *graph.Stats, err error) {
	switch {
	case c.Transpose && c.Output == "":
		return "", nil, usagef("--transpose needs -o FILE, the graph to write")
	case c.Transpose:
		g, stats, err := openGraph(a, source, int(c.Memory))
		if err != nil {
			return "", nil, err
		}
		defer a.step("reversing the links of " + c.Source)()
		return c.Output, stats, g.Transpose(a.ctx, c.Output, int(c.Memory))
	case source.IsGraph() && c.Output != "":
		return "", nil, usagef("%s is a graph file already; leave -o out to verify it, or add --transpose", c.Source)
	case source.IsGraph():
		return c.Source, nil, nil
	}
	return buildGraph(a, source, c.Output, int(c.Memory))
}

func (c *graphCmd) result(g *graph.Graph, stats *graph.Stats, seconds float64, source export.GraphSource) *graphResult {
	successors, offsets, file := g.Bytes()
	r := &graphResult{
		Graph: c.Source, Nodes: g.Nodes(), Edges: g.Edges(), Hosts: g.Hosts().Count(), Sites: g.Sites().Count(),
		Bytes: file, Seconds: seconds,
	}
	if c.Output != "" {
		r.File = &c.Output
	}
	if stats != nil {
		r.SelfLoops, r.Repeated, r.Dangling = &stats.SelfLoops, &stats.Repeated, &stats.Dangling
	}
	if g.Edges() > 0 {
		bits, all := 8*float64(successors)/float64(g.Edges()), 8*float64(successors+offsets)/float64(g.Edges())
		r.Bits, r.AllBits = &bits, &all
		if seconds > 0 && !source.IsGraph() {
			speed := float64(g.Edges()) / seconds
			r.EdgesPerS = &speed
		}
	}
	return r
}

func (r *graphResult) print(w io.Writer) {
	cli.Fprintf(w, "%s: %d nodes, %d edges, %d hosts, %d sites\n", r.Graph, r.Nodes, r.Edges, r.Hosts, r.Sites)
	if r.SelfLoops != nil {
		cli.Fprintf(w, "dropped: %d self-loops, %d repeated edges\n", *r.SelfLoops, *r.Repeated)
		if *r.Dangling > 0 {
			cli.Fprintf(w, "%d nodes have no name\n", *r.Dangling)
		}
	}
	if r.Bits != nil {
		cli.Fprintf(w, "%.2f bits an edge, %.2f with the index of the lists; %d bytes with names\n", *r.Bits, *r.AllBits, r.Bytes)
	}
	if r.File != nil {
		cli.Fprintf(w, "graph: %s, built in %.1f s\n", *r.File, r.Seconds)
	}
	if r.Verified {
		io.WriteString(w, "verified: the whole file can be read, and its checksums are right\n")
	}
}

func sourceOf(a *app, name string) (export.GraphSource, error) {
	s, err := export.NamedGraph(name, uint64(a.seed))
	s.OpenStore = a.openToRead
	s.OpenSet = func(name string) (*datasets.Set, error) { return a.openSet(name, datasets.Options{}) }
	return s, err
}

func graphOf(a *app, name string) (s export.GraphSource, g *graph.Graph, err error) {
	if s, err = sourceOf(a, name); err == nil {
		g, _, err = openGraph(a, s, 0)
	}
	return s, g, err
}

// openGraph opens a graph file, or builds one in a scratch folder; then stats is not nil.
func openGraph(a *app, s export.GraphSource, memory int) (g *graph.Graph, stats *graph.Stats, err error) {
	path := s.Name
	if !s.IsGraph() {
		a.say("building the graph of %s", s.Name)
		if path, stats, err = buildGraph(a, s, "", memory); err != nil {
			return nil, nil, err
		}
	}
	if g, err = graph.Open(path); err != nil {
		return nil, nil, err
	}
	a.onClose(g.Close)
	return g, stats, nil
}

// buildGraph builds a graph file; without a path, in a folder that is removed when the verb ends.
func buildGraph(a *app, s export.GraphSource, path string, memory int) (string, *graph.Stats, error) {
	if path == "" {
		dir, err := os.MkdirTemp("", "fossick-graph-")
		if err != nil {
			return "", nil, err
		}
		a.onClose(func() error { return os.RemoveAll(dir) })
		path = filepath.Join(dir, "graph")
	}
	defer a.step("building the graph of " + s.Name)()
	stats, err := s.Build(a.ctx, path, memory)
	return path, stats, err
}
