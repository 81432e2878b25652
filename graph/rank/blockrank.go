package rank

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"fossick/graph"
)

// byBlocks computes PageRank through blocks of pages, such as hosts (Kamvar, Haveliwala, Manning and Golub,
// Exploiting the Block Structure of the Web for Computing PageRank, 2003; paper C4):
//
//  1. l, the PageRank within each block J, from its inner links alone;
//  2. the block graph, B(I,J) = Σ l(i)/C(i) over the links from i in I to j in J,
//     including I = J;
//  3. b, the PageRank of the block graph;
//  4. l(j)·b(J), the start of the global iteration.
//
// C counts all links of a page. Teleporting surfers, including those on pages without links, choose a block
// by the sum of its personal shares; Kamvar's choose blocks uniformly. blockrank-short ends with the product,
// as paper C4 does; its residual is the distance from PageRank. blockrank-kamvar continues with a power
// iteration.
//
// A good start vector saves little if ε is small. Therefore blockrank makes all steps in each global sweep,
// block by block: first the block's rank, then ranks within it. Memory besides in: 4 bytes per core link,
// about 120 per node, at most 56 per block.
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
		r, err := gaussSeidel(ctx, in, degree, groups, opt)
		if err == nil {
			r.Blocks = groups.len()
		}
		return r, err
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

// startEpsilon is the residual of local ranks and block rank for a start vector; a smaller one saves nothing.
const startEpsilon = 1e-1

func groupsOf(block []uint32) (*partition, error) {
	n := len(block)
	number, count := make([]uint32, n), uint32(0) // of each non-empty block, from 1
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
	p := &partition{nodes: make([]uint32, n), first: make([]uint32, count+1)}
	for _, b := range of {
		p.first[b]++
	}
	for b := range count {
		p.first[b+1] += p.first[b]
	}
	at := append(number[:0], p.first[:count]...)
	for v, b := range of {
		p.nodes[at[b-1]] = uint32(v)
		at[b-1]++
	}
	return p, nil
}

// oneBlock has all nodes in one block.
func oneBlock(nodes int) *partition {
	p := &partition{nodes: make([]uint32, nodes), first: []uint32{0, uint32(nodes)}}
	for v := range p.nodes {
		p.nodes[v] = uint32(v)
	}
	return p
}

type blockRank struct {
	in      *graph.CSR
	degree  []uint32
	opt     Options
	groups  *partition
	epsilon float64   // residual of local ranks and of the block rank
	score   []float64 // by node: within its block; after spread, global
	of      []uint32  // group of each node
	visits  atomic.Int64
}

// locals ranks the pages within each block. Blocks are independent, so the result does not depend on the number
// of workers.
func (b *blockRank) locals(ctx context.Context) error {
	n := len(b.score)
	b.of = make([]uint32, n)
	for i := range b.groups.len() {
		for _, v := range b.groups.of(i) {
			b.of[v] = uint32(i)
		}
	}
	const batch = 64 // blocks per batch
	var next atomic.Int64
	var workers sync.WaitGroup
	place := make([]uint32, n) // shared by workers, as blocks do not share nodes
	for range b.opt.Workers {
		workers.Go(func() {
			visits := int64(0)
			for ctx.Err() == nil {
				from := int(next.Add(batch)) - batch
				if from >= b.groups.len() {
					break
				}
				for i := from; i < min(from+batch, b.groups.len()); i++ {
					visits += b.local(b.groups.of(i), uint32(i), place)
				}
			}
			b.visits.Add(visits)
		})
	}
	workers.Wait()
	return ctx.Err()
}

// local ranks the pages of one block by sweeps over its inner links, and returns the number of edges visited.
// place is scratch space by node.
func (b *blockRank) local(nodes []uint32, group uint32, place []uint32) int64 {
	n := len(nodes)
	if n == 1 {
		b.score[nodes[0]] = 1
		return 0
	}
	start, base, give, back := make([]int, 1, n+1), make([]float64, n), make([]float64, n), make([]float64, n)
	anew, visits := 0.0, int64(0)
	for i, v := range nodes {
		place[v] = uint32(i)
		base[i] = b.opt.personal(int(v), len(b.score))
		anew += base[i]
	}
	var from []uint32
	for _, v := range nodes {
		visits += int64(len(b.in.Successors(v)))
		for _, q := range b.in.Successors(v) {
			if b.of[q] == group {
				from = append(from, place[q])
				give[place[q]]++ // count of inner links; the share per link follows below
			}
		}
		start = append(start, len(from))
	}
	for i := range nodes {
		if give[i] > 0 {
			give[i] = b.opt.Damping / give[i]
		}
		if base[i] /= anew; anew == 0 { // no teleport leads here: uniform
			base[i] = 1 / float64(n)
		}
	}
	for i := range nodes {
		for _, j := range from[start[i]:start[i+1]] {
			if int(j) >= i {
				back[j] += give[j] // seen only in the next sweep
			}
		}
	}
	y, share, held := make([]float64, n), make([]float64, n), 0.0
	for range b.opt.MaxIterations {
		left := 0.0 // bounds the L1 residual: from 0, ranks only grow
		held = 0
		for i := range nodes {
			sum := base[i]
			for _, j := range from[start[i]:start[i+1]] {
				sum += share[j]
			}
			left += math.Abs(sum-y[i]) * back[i]
			held += sum
			y[i], share[i] = sum, sum*give[i]
		}
		if visits += int64(len(from)); left <= b.epsilon/2*held {
			break
		}
	}
	for i, v := range nodes {
		b.score[v] = y[i] / held
	}
	return visits
}

type blockGraph struct {
	start  []int
	from   []uint32
	weight []float64 // share of from's rank that leads here; inner links are in self
	self   []float64
	anew   []float64 // share of teleports that lead to the block
}

func (b *blockRank) graph() *blockGraph {
	k := b.groups.len()
	g := &blockGraph{start: make([]int, 1, k+1), self: make([]float64, k), anew: make([]float64, k)}
	sum, seen := make([]float64, k), make([]bool, k)
	var met []uint32
	for j := range k {
		met = met[:0]
		for _, v := range b.groups.of(j) {
			g.anew[j] += b.opt.personal(int(v), len(b.score))
			for _, q := range b.in.Successors(v) {
				i := b.of[q]
				if !seen[i] {
					seen[i] = true
					met = append(met, i)
				}
				sum[i] += b.score[q] / float64(b.degree[q])
			}
		}
		for _, i := range met {
			if int(i) == j {
				g.self[j] = sum[i]
			} else {
				g.from, g.weight = append(g.from, i), append(g.weight, sum[i])
			}
			sum[i], seen[i] = 0, false
		}
		g.start = append(g.start, len(g.from))
	}
	b.visits.Add(int64(len(b.in.To)))
	return g
}

// spread ranks the blocks by Gauss–Seidel and multiplies each page's score by its block's rank.
func (b *blockRank) spread(ctx context.Context) error {
	g := b.graph()
	k := len(g.self)
	z := make([]float64, k)
	d := b.opt.Damping
	for range b.opt.MaxIterations {
		if err := ctx.Err(); err != nil {
			return err
		}
		change, all := 0.0, 0.0
		for j := range k {
			sum := g.anew[j]
			for e := g.start[j]; e < g.start[j+1]; e++ {
				sum += d * g.weight[e] * z[g.from[e]]
			}
			sum /= 1 - d*g.self[j]
			change += math.Abs(sum - z[j])
			all += sum
			z[j] = sum
		}
		b.visits.Add(int64(len(g.from)))
		if change <= b.epsilon*all*(1-d) {
			break
		}
	}
	all := 0.0
	for _, x := range z {
		all += x
	}
	for v := range b.score {
		b.score[v] *= z[b.of[v]] / all
	}
	return nil
}
