package webgraph

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
)

// RankOptions say how PageRank is computed; the zero value works.
type RankOptions struct {
	Damping float64 // d, in (0,1) [0.85]
	Epsilon float64 // the residual at which it ends [1e-10]
	Most    int     // iterations at most [1000]
	Workers int     // goroutines [the processors]
}

// Rank is a PageRank.
type Rank struct {
	Score      []float64 // by node; they sum to 1
	Iterations int
	Residual   float64 // L1 norm of the last step's change
}

// PageRank computes (paper B3)
//
//	R(p) = (1−d)/N + d · (Σ_{q→p} R(q)/C(q) + D/N)
//
// by power iteration, where C(q) is the out-degree of q and D the rank of all pages
// without links, which are taken to link to all pages, as random surfers do who
// start anew. It ends when the L1 norm of the change is at most ε; of the fixed point the
// result is then at most ε·d/(1−d) away. in is the transposed graph, degree the
// out-degrees. The sums are made in an order that does not depend on the number of
// workers, so that the result does not either.
func PageRank(ctx context.Context, in Lists, degree []uint32, opt RankOptions) (*Rank, error) {
	opt, err := opt.filled()
	if err != nil {
		return nil, err
	}
	n := in.Nodes()
	if len(degree) != n {
		return nil, fmt.Errorf("PageRank of %d nodes with %d out-degrees", n, len(degree))
	}
	p := &power{in: in, degree: degree, opt: opt, share: make([]float64, n)}
	r := &Rank{Score: make([]float64, n)}
	next := make([]float64, n)
	for v := range r.Score {
		r.Score[v] = 1 / float64(n)
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
		if r.Iterations == opt.Most {
			return r, fmt.Errorf("PageRank: the residual is %.2g after %d iterations; ask for a larger one than %g", r.Residual, opt.Most, opt.Epsilon)
		}
	}
	return r, nil
}

func (o RankOptions) filled() (RankOptions, error) {
	if o.Damping == 0 {
		o.Damping = 0.85
	}
	if o.Epsilon == 0 {
		o.Epsilon = 1e-10
	}
	if o.Most == 0 {
		o.Most = 1000
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if !(o.Damping > 0 && o.Damping < 1) || !(o.Epsilon > 0) || o.Most < 0 {
		return o, fmt.Errorf("PageRank: damping %g, epsilon %g, %d iterations; want damping between 0 and 1, and more than 0 of the others", o.Damping, o.Epsilon, o.Most)
	}
	return o, nil
}

// power is the state of a power iteration.
type power struct {
	in     Lists
	degree []uint32
	opt    RankOptions
	share  []float64 // what each page gives to each of its links
}

// rankBlock is how many nodes are summed on their own, by one worker.
const rankBlock = 1 << 14

// step makes one iteration from old to next and returns the L1 norm of the change.
func (p *power) step(next, old []float64) (float64, error) {
	n := len(old)
	dangling, err := p.blocks(func(from, to int) (float64, error) {
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
	base := (1 - p.opt.Damping + p.opt.Damping*dangling) / float64(n)
	return p.blocks(func(from, to int) (float64, error) {
		change := 0.0
		err := p.in.Scan(from, to, func(v uint32, from []uint32) error {
			sum := base
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

// blocks calls do with ranges of nodes, by several workers, and adds what it
// returns in the order of the ranges.
func (p *power) blocks(do func(from, to int) (float64, error)) (float64, error) {
	n := p.in.Nodes()
	sums := make([]float64, (n+rankBlock-1)/rankBlock)
	errs := make([]error, len(sums))
	var workers sync.WaitGroup
	for w := range min(p.opt.Workers, len(sums)) {
		workers.Go(func() {
			for i := w; i < len(sums); i += p.opt.Workers {
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
