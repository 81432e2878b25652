package rank

import (
	"context"
	"errors"
	"fmt"
	"fossick/graph"
	"math"
	"sync"
)

// PowerIteration computes PageRank (paper B3)
//
//	R(p) = (1−d)·v(p) + d · (Σ_{q→p} R(q)/C(q) + D·v(p))
//
// by power iteration. v is the personal vector, 1/N by default, C(q) the out-degree of q, and D the rank of all
// pages without links, whose surfers teleport. It ends when the L1 norm of the change is at most ε; the
// result is then at most ε·d/(1−d) from the fixed point. in is the transposed graph, degree the out-degrees.
// Sums are made in a fixed order, so the result does not depend on the number of workers.
func PowerIteration(ctx context.Context, in graph.Lists, degree []uint32, opt Options) (*Result, error) {
	opt, err := opt.filled(in.Nodes())
	if err != nil {
		return nil, err
	}
	n := in.Nodes()
	if len(degree) != n {
		return nil, fmt.Errorf("PageRank of %d nodes with %d out-degrees", n, len(degree))
	}
	p := &power{in: in, degree: degree, opt: opt, share: make([]float64, n)}
	r := &Result{Score: make([]float64, n)}
	next := make([]float64, n)
	for v := range r.Score {
		r.Score[v] = opt.personal(v, n)
	}
	if opt.start != nil {
		copy(r.Score, opt.start)
	}
	for n > 0 {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		if r.Residual, err = p.step(next, r.Score); err != nil {
			return r, err
		}
		r.Score, next = next, r.Score
		if r.Iterations++; r.Residual <= opt.Epsilon {
			break
		}
		if r.Iterations == opt.MaxIterations {
			return r, tooFew(r.Residual, r.Iterations, opt)
		}
	}
	return r, nil
}

type power struct {
	in     graph.Lists
	degree []uint32
	opt    Options
	share  []float64 // what each page gives per link
}

// rankBlock is how many nodes one worker sums at once.
const rankBlock = 1 << 14

func (p *power) step(next, old []float64) (float64, error) {
	n := len(old)
	dangling, err := blocks(n, p.opt.Workers, func(from, to int) (float64, error) {
		sum := 0.0
		for v := from; v < to; v++ {
			if d := p.degree[v]; d > 0 {
				p.share[v] = p.opt.Damping * old[v] / float64(d)
			} else {
				sum += old[v]
			}
		}
		return sum, nil
	})
	if err != nil {
		return 0, err
	}
	anew := 1 - p.opt.Damping + p.opt.Damping*dangling
	return blocks(n, p.opt.Workers, func(from, to int) (float64, error) {
		change := 0.0
		err := p.in.Scan(from, to, func(v uint32, from []uint32) error {
			sum := anew * p.opt.personal(int(v), n)
			for _, q := range from {
				sum += p.share[q]
			}
			next[v] = sum
			change += math.Abs(sum - old[v])
			return nil
		})
		return change, err
	})
}

// blocks calls do with ranges of n nodes, by count workers, and adds the results in range order.
func blocks(n, count int, do func(from, to int) (float64, error)) (float64, error) {
	sums := make([]float64, (n+rankBlock-1)/rankBlock)
	errs := make([]error, len(sums))
	var workers sync.WaitGroup
	for w := range min(count, len(sums)) {
		workers.Go(func() {
			for i := w; i < len(sums); i += count {
				sums[i], errs[i] = do(i*rankBlock, min(n, (i+1)*rankBlock))
			}
		})
	}
	workers.Wait()
	all := 0.0
	for _, s := range sums {
		all += s
	}
	return all, errors.Join(errs...)
}
