package rank

import (
	"context"
	"fmt"
	"fossick/graph"
)

// byBlocks computes PageRank by way of blocks of pages, hosts for example (Kamvar,
// Haveliwala, Manning and Golub, Exploiting the Block Structure of the Web for
// Computing PageRank, 2003; paper C4):
//
//  1. l, the PageRank within each block J, from its inner links alone;
//  2. the block graph, B(I,J) = Σ l(i)/C(i) over the links from i in I to j in J,
//     those with I = J among them;
//  3. b, the PageRank of the block graph;
//  4. l(j)·b(J), with which the global iteration begins.
//
// C counts all links of a page. Surfers start anew in a block by the sum of its
// pages' personal shares, and within it by those shares; so do those on pages without links.
// (Kamvar's start in all blocks alike.) Where all ranks within blocks were right, b
// would be too. blockrank-short ends with the product, as paper C4 does it; its residual
// says how far from PageRank that is. blockrank-kamvar goes on with a power iteration,
// from l and b of a residual as good as a start needs.
//
// A start alone saves little where ε is small. So in blockrank the steps are
// not made one after the other but all in each sweep of the global iteration,
// block by block. First comes the block's rank among the blocks, by the ranks
// within them as they are by then, and the product. Then come ranks within the
// block, by its inner links and what the other blocks give. Memory beside in: 4
// bytes a link of the core, about 120 a node and at most 56 a block.
func byBlocks(ctx context.Context, in *graph.CSR, degree []uint32, opt Options) (*Result, error) {
	opt, err := opt.filled(in.Nodes())
	if err != nil {
		return nil, err
	}
	n := in.Nodes()
	if len(degree) != n || len(opt.Blocks) != n {
		return nil, fmt.Errorf("BlockRank of %d nodes with %d out-degrees and %d blocks", n, len(degree), len(opt.Blocks))
	}
	if n == 0 {
		return &Result{}, nil
	}
	groups, err := groupsOf(opt.Blocks)
	if err != nil {
		return nil, err
	}
	short, kamvar := opt.Method == "blockrank-short", opt.Method == "blockrank-kamvar"
	if !short && !kamvar {
		r, err := solve(ctx, in, degree, trimmed, groups, opt)
		if err != nil {
			return nil, err
		}
		r.Blocks = groups.len()
		return r, nil
	}
	b := &blockRank{in: in, degree: degree, opt: opt, groups: groups, epsilon: startEpsilon, score: make([]float64, n)}
	if short || opt.Epsilon > b.epsilon {
		b.epsilon = opt.Epsilon
	}
	if err := b.locals(ctx); err != nil {
		return nil, err
	}
	if err := b.spread(ctx); err != nil {
		return nil, err
	}
	p := &power{in: in, degree: degree, opt: opt, share: make([]float64, n)}
	residual, err := p.step(make([]float64, n), b.score)
	if err != nil {
		return nil, err
	}
	r := &Result{Score: b.score, Residual: residual}
	if kamvar {
		opt.start = b.score
		if r, err = PowerIteration(ctx, in, degree, opt); err != nil {
			return nil, err
		}
	}
	r.Blocks, r.StartResidual, r.StartVisits = groups.len(), residual, b.visits.Load()
	return r, nil
}

// startEpsilon is the residual of ranks within blocks and of the block rank
// that a start vector needs. A smaller one saved the global iteration no step.
const startEpsilon = 1e-1

// groupsOf lists the nodes of each block.
func groupsOf(block []uint32) (*partition, error) {
	n := len(block)
	number, count := make([]uint32, n), uint32(0) // of each block that there is, from 1
	of := make([]uint32, n)
	for v, b := range block {
		switch {
		case b == graph.None:
			count++
			of[v] = count
			continue
		case int64(b) >= int64(n):
			return nil, fmt.Errorf("block %d of node %d, in a graph of %d nodes; number blocks from 0", b, v, n)
		case number[b] == 0:
			count++
			number[b] = count
		}
		of[v] = number[b]
	}
	t := tarjan{of: of, index: number, found: count}
	return t.sorted(), nil
}
