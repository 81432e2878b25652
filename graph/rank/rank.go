package rank

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fossick/graph"
	"fossick/internal/nearest"
)

// methods are the ways to scores. The first is the default.
var methods = []string{"pagerank", "power", "gauss-seidel", "components", "blockrank", "blockrank-kamvar", "blockrank-short", "hits"}

// Methods returns the names of the ways to scores.
func Methods() []string { return slices.Clone(methods) }

// ByBlocks says whether a method is told blocks.
func ByBlocks(method string) bool { return strings.HasPrefix(method, "blockrank") }

// Of ranks the nodes of a graph by one of Methods:
//
//	pagerank          the fastest of these: blockrank by hosts where there are some, else gauss-seidel
//	power             PageRank by power iteration
//	gauss-seidel      PageRank by sweeps through what is neither source nor leaf
//	components        the same, one strongly connected component after another
//	blockrank         PageRank by sweeps in which blocks are ranked too
//	blockrank-kamvar  ranks within blocks, rank of the blocks, then power iteration
//	blockrank-short   the product of the first two alone
//	hits              hubs and authorities
//
// A graph that would take more than opt.Memory as arrays is ranked over a compressed
// transposed graph, by power iteration alone.
func Of(ctx context.Context, g *graph.Graph, opt Options) (*Result, error) {
	if opt.Method == "" {
		opt.Method = methods[0]
	}
	if !slices.Contains(methods, opt.Method) {
		return nil, fmt.Errorf("method %q is not known; choose one of %s", opt.Method, nearest.Some(opt.Method, methods))
	}
	if opt.Memory > 0 && arrayBytes(g) > opt.Memory {
		return compressed(ctx, g, opt)
	}
	in, degree, err := graph.Transposed(g)
	if err != nil {
		return nil, err
	}
	if opt.Method == "pagerank" {
		if opt.Method = "gauss-seidel"; g.Hosts().Count() > 0 {
			opt.Method = "blockrank"
		}
	}
	if ByBlocks(opt.Method) && opt.Blocks == nil {
		opt.Blocks = g.Hosts().Array(g.Nodes())
	}
	r, err := arrays(ctx, g, in, degree, opt)
	if err != nil {
		return nil, err
	}
	r.InMemory = true
	return r, nil
}

// arrays ranks a graph of which the transposed one is in memory.
func arrays(ctx context.Context, out graph.Lists, in *graph.CSR, degree []uint32, opt Options) (*Result, error) {
	switch opt.Method {
	case "hits":
		return hits(ctx, out, in, opt)
	case "blockrank", "blockrank-kamvar", "blockrank-short":
		return byBlocks(ctx, in, degree, opt)
	case "components":
		return byComponents(ctx, in, degree, opt)
	case "power":
		return PowerIteration(ctx, in, degree, opt)
	}
	return gaussSeidel(ctx, in, degree, opt)
}

// arrayBytes is what arrays take: the transposed graph, the core once more, and the
// vectors and blocks.
func arrayBytes(g *graph.Graph) int64 { return 8*g.Edges() + 200*int64(g.Nodes()) }

// compressed computes PageRank over the compressed transposed graph, a scratch file, in
// 32 bytes a node beside it.
func compressed(ctx context.Context, g *graph.Graph, opt Options) (r *Result, err error) {
	if opt.Method != "pagerank" && opt.Method != "power" {
		return nil, fmt.Errorf("%s needs about %d MiB for the graph as arrays; allow them with --memory, or take --method power", opt.Method, arrayBytes(g)>>20+1)
	}
	dir, err := os.MkdirTemp("", "fossick-graph-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "transposed")
	if err := g.Transpose(ctx, path, 0); err != nil {
		return nil, err
	}
	in, err := graph.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	degree := make([]uint32, g.Nodes())
	if err := g.Scan(0, g.Nodes(), func(v uint32, links []uint32) error {
		degree[v] = uint32(len(links))
		return nil
	}); err != nil {
		return nil, err
	}
	return PowerIteration(ctx, in, degree, opt)
}
