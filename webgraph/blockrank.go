package webgraph

import (
	"context"
	"fmt"
)

// BlockOptions say how BlockRank is computed.
type BlockOptions struct {
	RankOptions
	// Short ends with the product of local ranks and block rank, as paper C4 does it;
	// the residual says how far from PageRank that is.
	Short bool
	// Kamvar makes the steps one after the other, and then a power iteration, as in the
	// original. Without it, pages are swept through as GaussSeidel does, and a block whose
	// turn comes in a sweep is ranked among the blocks first (see blockCore.sweep).
	Kamvar bool
}

// Blocked is a BlockRank.
type Blocked struct {
	Rank
	Blocks int
	// Of Short and Kamvar:
	Begin  float64 // residual of the product that the global iteration began with
	Visits int64   // of edges, before the global iteration, in place of Iterations
}

// BlockRank computes PageRank by way of blocks of pages, hosts for example (Kamvar,
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
// would be too. block says of each page to which block it belongs, numbers below
// its length; pages of None are a block each. l and b are computed to the
// residual ε when Short, for Kamvar to one that is as good as a start needs.
//
// A start alone saves little where ε is small. So by default the steps are not made one
// after the other but all in each sweep of the global iteration, block by block: the
// block's rank among the blocks, by the ranks within them as they are by then; the
// product; ranks within the block, by its inner links and what the other blocks give.
// Memory beside in: 4 bytes a link of the core, about 120 a node and at most 56 a block.
func BlockRank(ctx context.Context, in *CSR, degree, block []uint32, opt BlockOptions) (*Blocked, error) {
	var err error
	if opt.RankOptions, err = opt.filled(in.Nodes()); err != nil {
		return nil, err
	}
	n := in.Nodes()
	if len(degree) != n || len(block) != n {
		return nil, fmt.Errorf("BlockRank of %d nodes with %d out-degrees and %d blocks", n, len(degree), len(block))
	}
	r := &Blocked{}
	if n == 0 {
		return r, nil
	}
	groups, err := groupsOf(block)
	if err != nil {
		return nil, err
	}
	r.Blocks = groups.Len()
	if !opt.Short && !opt.Kamvar {
		err := r.global(gaussSeidel(ctx, in, degree, trimmed, groups, opt.RankOptions))
		return r, err
	}
	b := &blockRank{in: in, degree: degree, opt: opt.RankOptions, groups: groups, epsilon: startEpsilon, score: make([]float64, n)}
	if opt.Short || opt.Epsilon > b.epsilon {
		b.epsilon = opt.Epsilon
	}
	if err := b.locals(ctx); err != nil {
		return nil, err
	}
	if err := b.spread(ctx); err != nil {
		return nil, err
	}
	r.Visits = b.visits.Load()
	p := &power{in: in, degree: degree, opt: opt.RankOptions, share: make([]float64, n)}
	r.Score = make([]float64, n)
	if r.Begin, err = p.step(r.Score, b.score); err != nil {
		return nil, err
	}
	if opt.Short {
		r.Score, r.Residual = b.score, r.Begin
		return r, nil
	}
	next := opt.RankOptions
	next.Start = b.score
	return r, r.global(PageRank(ctx, in, degree, next))
}

func (r *Blocked) global(rank *Rank, err error) error {
	if rank != nil {
		r.Rank = *rank
	}
	return err
}

// startEpsilon is the residual of ranks within blocks and of the block rank that a
// start vector needs: on a synthetic web the global iteration took no more steps from
// this than from one of 1e-4.
const startEpsilon = 1e-1

// groupsOf lists the nodes of each block.
func groupsOf(block []uint32) (*Components, error) {
	n := len(block)
	number, count := make([]uint32, n), uint32(0) // of each block that there is, from 1
	of := make([]uint32, n)
	for v, b := range block {
		switch {
		case b == None:
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
