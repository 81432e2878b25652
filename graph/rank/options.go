package rank

import (
	"fmt"
	"math"
	"runtime"
)

// Options say how ranks are computed; the zero value works.
type Options struct {
	Method        string  // one of Methods [pagerank]
	Damping       float64 // d, in (0,1) [0.85]
	Epsilon       float64 // the residual at which it ends [1e-10]
	MaxIterations int     // [1000]
	Workers       int     // goroutines [the processors]
	Memory        int64   // bytes that the graph as arrays may take [no bound]

	// Personal says where surfers start anew, by node, as in topic-sensitive PageRank
	// (Haveliwala, WWW 2002). Its shares are scaled to sum to 1. Pages without links
	// are taken to lead there too. Nil is all pages alike.
	Personal []float64

	// Blocks says of each node to which block it belongs, numbers below their length;
	// nodes of graph.None are a block each. Nil is hosts.
	Blocks []uint32

	// start is the vector that PageRank begins with, by node; nil is Personal.
	// It changes how long it takes, not the result.
	start []float64
}

// Result is a PageRank, or the authorities and hubs of HITS.
type Result struct {
	Score      []float64 // by node; they sum to 1
	Hub        []float64 // likewise; nil but of hits
	Iterations int       // each visits every edge once, those of hits twice
	Residual   float64   // L1 norm of the last step's change
	InMemory   bool      // the graph was ranked as arrays
	Blocks     int       // 0 without

	// Of blockrank-short and blockrank-kamvar, before the global iteration:
	StartResidual float64 // of ranks within blocks times rank of the blocks
	StartVisits   int64   // of edges
}

// filled returns the options for n nodes with the defaults put in.
func (o Options) filled(n int) (Options, error) {
	if o.Damping == 0 {
		o.Damping = 0.85
	}
	if o.Epsilon == 0 {
		o.Epsilon = 1e-10
	}
	if o.MaxIterations == 0 {
		o.MaxIterations = 1000
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if !(o.Damping > 0 && o.Damping < 1) || !(o.Epsilon > 0) || o.MaxIterations < 0 {
		return o, fmt.Errorf("PageRank: damping %g, epsilon %g, %d iterations; want a damping between 0 and 1, and more than 0 for the others", o.Damping, o.Epsilon, o.MaxIterations)
	}
	var err error
	if o.Personal, err = shares("personal", o.Personal, n); err == nil {
		o.start, err = shares("start", o.start, n)
	}
	return o, err
}

// shares returns a vector scaled to sum to 1.
func shares(what string, x []float64, n int) ([]float64, error) {
	if x == nil {
		return nil, nil
	}
	if len(x) != n {
		return nil, fmt.Errorf("PageRank of %d nodes with a %s vector of %d", n, what, len(x))
	}
	sum := 0.0
	for v, share := range x {
		if !(share >= 0) || math.IsInf(share, 1) {
			return nil, fmt.Errorf("PageRank: the %s vector has %g at node %d; want no negative numbers", what, share, v)
		}
		sum += share
	}
	if n > 0 && (sum == 0 || math.IsInf(sum, 1)) {
		return nil, fmt.Errorf("PageRank: the %s vector sums to %g; give at least one page", what, sum)
	}
	scaled := make([]float64, n)
	for v, share := range x {
		scaled[v] = share / sum
	}
	return scaled, nil
}

// personal returns the share of surfers that start anew at v.
func (o *Options) personal(v, n int) float64 {
	if o.Personal == nil {
		return 1 / float64(n)
	}
	return o.Personal[v]
}

func tooFew(residual float64, iterations int, o Options) error {
	return fmt.Errorf("PageRank: the residual is %.2g after %d iterations; allow more iterations, or a residual larger than %g", residual, iterations, o.Epsilon)
}
