package rank

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"fossick/graph"
	"fossick/internal/cli"
)

// methods are the ranking methods; the first is the default.
var methods = []string{"pagerank", "power", "gauss-seidel", "blockrank", "blockrank-kamvar", "blockrank-short", "hits"}

func Methods() []string { return slices.Clone(methods) }

// ByBlocks reports whether a method uses blocks.
func ByBlocks(method string) bool { return strings.HasPrefix(method, "blockrank") }

// Of ranks the nodes of a graph by one of Methods:
//
//	pagerank          the fastest of these: blockrank by hosts if there are some, else gauss-seidel
//	power             PageRank by power iteration
//	gauss-seidel      PageRank by sweeps through all but sources and leaves
//	blockrank         PageRank by sweeps that also rank blocks
//	blockrank-kamvar  ranks within blocks, rank of the blocks, then power iteration
//	blockrank-short   the product of the first two alone
//	hits              hubs and authorities
//
// If the graph as arrays would exceed opt.Memory, only power iteration is available, over a compressed
// transposed graph.
func Of(ctx context.Context, g *graph.Graph, opt Options) (*Result, error) {
	if opt.Method == "" {
		opt.Method = methods[0]
	}
	if !slices.Contains(methods, opt.Method) {
		return nil, fmt.Errorf("method %q is not known; choose one of %s", opt.Method, cli.SomeNames(opt.Method, methods))
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

func arrays(ctx context.Context, out graph.Lists, in *graph.CSR, degree []uint32, opt Options) (*Result, error) {
	switch opt.Method {
	case "hits":
		return hits(ctx, out, in, opt)
	case "blockrank", "blockrank-kamvar", "blockrank-short":
		return byBlocks(ctx, in, degree, opt)
	case "power":
		return PowerIteration(ctx, in, degree, opt)
	}
	return gaussSeidel(ctx, in, degree, oneBlock(in.Nodes()), opt)
}

// arrayBytes estimates the memory of the transposed graph, the core, and the vectors and blocks.
func arrayBytes(g *graph.Graph) int64 { return 8*g.Edges() + 200*int64(g.Nodes()) }

// compressed computes PageRank over a compressed transposed scratch file, in 32 bytes per node.
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

// Options configure a ranking; the zero value works.
type Options struct {
	Method        string  // one of Methods [pagerank]
	Damping       float64 // d, in (0,1) [0.85]
	Epsilon       float64 // residual at which to stop [1e-10]
	MaxIterations int     // [1000]
	Workers       int     // goroutines [number of processors]
	Memory        int64   // bytes allowed for the graph as arrays [no bound]

	// Personal is the teleport vector by node, as in topic-sensitive PageRank (Haveliwala, WWW 2002); it is
	// scaled to sum to 1, and also receives the rank of pages without links. Nil is uniform.
	Personal []float64

	// Blocks has the block of each node, below the number of nodes; each node with graph.None is its own
	// block. Nil means hosts.
	Blocks []uint32

	// start is PageRank's initial vector; nil is Personal. It affects only the time taken.
	start []float64
}

type Result struct {
	Score      []float64 // by node; they sum to 1
	Hub        []float64 // likewise; only for hits
	Iterations int       // each visits every edge once, for hits twice
	Residual   float64   // L1 norm of the last step's change
	InMemory   bool      // the graph was ranked as arrays
	Blocks     int       // 0 without blocks

	// For blockrank-short and blockrank-kamvar, before the global iteration:
	StartResidual float64 // of the product of local ranks and block rank
	StartVisits   int64   // edges visited
}

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

func (o *Options) personal(v, n int) float64 {
	if o.Personal == nil {
		return 1 / float64(n)
	}
	return o.Personal[v]
}

func tooFew(residual float64, iterations int, o Options) error {
	return fmt.Errorf("PageRank: the residual is %.2g after %d iterations; allow more iterations, or a residual larger than %g", residual, iterations, o.Epsilon)
}

// Highest returns the n nodes with the largest scores, ties by node; only nodes with in set, unless in is nil.
func Highest(score []float64, in []bool, n int) []uint32 {
	var top []uint32
	for v := range score {
		if in != nil && !in[v] || len(top) == n && (n == 0 || score[v] <= score[top[n-1]]) {
			continue
		}
		at, _ := slices.BinarySearchFunc(top, score[v], func(w uint32, x float64) int { return cmp.Or(cmp.Compare(x, score[w]), -1) })
		top = slices.Insert(top, at, uint32(v))
		top = top[:min(n, len(top))]
	}
	return top
}

// Write writes a line per node: name TAB score, and TAB hub for hits.
func (r *Result) Write(w io.Writer, g *graph.Graph) error {
	b := bufio.NewWriter(w)
	for v, x := range r.Score {
		name, err := g.Name(uint32(v))
		if err != nil {
			return err
		}
		line := fmt.Appendf(b.AvailableBuffer(), "%s\t%.17g", name, x)
		if r.Hub != nil {
			line = fmt.Appendf(line, "\t%.17g", r.Hub[v])
		}
		if _, err := b.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return b.Flush()
}

// Kendall returns Kendall's τ_b of two scores of the same nodes: 1 if they rank all pairs alike, −1 if in
// opposite order:
//
//	τ_b = (concordant − discordant) / √((P − ties in a) · (P − ties in b)),  P = n(n−1)/2
//
// It is NaN if one of them ties all nodes. Knight's algorithm (1966), O(n log n). a and b are not changed.
func Kendall(a, b []float64) float64 {
	n := len(a)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(a[i], a[j]), cmp.Compare(b[i], b[j])) })
	var tiesA, tiesBoth float64
	runA, runBoth := 1.0, 1.0
	for k := 1; k < n; k++ {
		i, j := order[k-1], order[k]
		if a[i] != a[j] {
			runA, runBoth = 1, 1
			continue
		}
		tiesA += runA // the new one ties with each before it
		runA++
		if b[i] == b[j] {
			tiesBoth += runBoth
			runBoth++
		} else {
			runBoth = 1
		}
	}
	ys := make([]float64, n)
	for k, i := range order {
		ys[k] = b[i]
	}
	discordant := inversions(ys, make([]float64, n)) // sorts ys
	tiesB, run := 0.0, 1.0
	for k := 1; k < n; k++ {
		if ys[k] != ys[k-1] {
			run = 1
			continue
		}
		tiesB += run
		run++
	}
	pairs := float64(n) * float64(n-1) / 2
	return (pairs - tiesA - tiesB + tiesBoth - 2*discordant) / math.Sqrt((pairs-tiesA)*(pairs-tiesB))
}

func inversions(xs, spare []float64) float64 {
	if len(xs) < 2 {
		return 0
	}
	mid := len(xs) / 2
	left, right := xs[:mid], xs[mid:]
	n := inversions(left, spare) + inversions(right, spare)
	merged := spare[:0]
	for len(left) > 0 && len(right) > 0 {
		if right[0] < left[0] {
			n += float64(len(left))
			merged, right = append(merged, right[0]), right[1:]
		} else {
			merged, left = append(merged, left[0]), left[1:]
		}
	}
	merged = append(append(merged, left...), right...)
	copy(xs, merged)
	return n
}

// Rounded returns the decimal logarithms of scores rounded to digits, as integers, so that scores that differ
// only by an iteration's error are tied.
func Rounded(scores []float64, digits int) []float64 {
	scale := math.Pow(10, float64(digits))
	out := make([]float64, len(scores))
	for i, s := range scores {
		out[i] = math.Round(math.Log10(s) * scale)
	}
	return out
}
