package webgraph

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"fossick/frontier"
)

// Simulation measures virtual crawls of a graph (paper B3).
type Simulation struct {
	Graph    *Graph
	Sites    []uint32  // of each page, see Crawl.Sites; nil when the graph has none
	Rank     []float64 // PageRank of the whole graph
	MaxPages int       // of a crawl
	Alike    bool      // see Crawl
	Points   int       // of a curve, evenly over MaxPages
	RankOpt  RankOptions

	Manners *Manners // of the crawls; nil when every page is there at once

	Relevant func(v uint32) bool // says whether a page is on topic; nil without a topic
}

// Point is a point of a crawl's curve.
type Point struct {
	Pages    int     // crawled till now
	PageRank float64 // sum of the whole graph's PageRank over these
	Sites    int     // that they are of
	// Tau is Kendall's τ_b of the PageRank of what was crawled alone, links within it,
	// with the whole graph's on the same pages (Boldi, Santini and Vigna 2004: what
	// adds up much PageRank need not rank it well). NaN when there is nothing to rank.
	Tau float64
	// Harvest is the share of the pages that are on topic; NaN without a topic.
	Harvest float64
	// Time is when the crawl had so many pages, of the time that Manners simulate.
	Time time.Duration
}

// Simulated is one crawl.
type Simulated struct {
	CrawlResult
	Curve   []Point // one that ended early keeps its last values
	Seconds float64 // of the crawl, without measuring
}

// tauDigits of log₁₀ of a PageRank count: pages whose ranks differ by less than
// about 0.02 % are tied, well above what is left of an iteration to ε = 1e-10 on graphs
// of some million pages.
const tauDigits = 4

// Run crawls from start pages and measures.
func (s *Simulation) Run(ctx context.Context, order frontier.Sequence, starts []uint32) (*Simulated, error) {
	if s.MaxPages < 1 || s.Points < 1 {
		return nil, fmt.Errorf("simulation of %d pages and %d points; want 1 at least", s.MaxPages, s.Points)
	}
	c := Crawl{Graph: s.Graph, Order: order, Starts: starts, MaxPages: s.MaxPages, Alike: s.Alike, Sites: s.Sites, Manners: s.Manners}
	var pages []uint32
	var times []time.Duration
	began := time.Now()
	done, err := c.Run(ctx, func(_ int, v uint32) error {
		pages = append(pages, v)
		if s.Manners != nil {
			times = append(times, c.now)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := &Simulated{CrawlResult: done, Seconds: time.Since(began).Seconds()}
	out.Curve, err = s.curve(ctx, pages, times)
	return out, err
}

// curve measures the pages of a crawl, in its order; times are nil without manners.
func (s *Simulation) curve(ctx context.Context, pages []uint32, times []time.Duration) ([]Point, error) {
	place := make([]uint32, s.Graph.Nodes()) // of each page in the crawl, from 1
	for i, v := range pages {
		place[v] = uint32(i) + 1
	}
	seen := make([]bool, s.Graph.Sites().Count())
	var curve []Point
	var now Point
	relevant := 0
	for i := 1; i <= s.Points; i++ {
		at := int(int64(s.MaxPages) * int64(i) / int64(s.Points))
		if at < 1 || len(curve) > 0 && at == curve[len(curve)-1].Pages {
			continue
		}
		if now.Pages < len(pages) {
			for ; now.Pages < min(at, len(pages)); now.Pages++ {
				v := pages[now.Pages]
				now.PageRank += s.Rank[v]
				if s.Sites != nil && s.Sites[v] != None && !seen[s.Sites[v]] {
					seen[s.Sites[v]] = true
					now.Sites++
				}
				if s.Relevant != nil && s.Relevant(v) {
					relevant++
				}
			}
			if times != nil {
				now.Time = times[now.Pages-1]
			}
			if now.Harvest = math.NaN(); s.Relevant != nil {
				now.Harvest = float64(relevant) / float64(now.Pages)
			}
			var err error
			if now.Tau, err = s.tau(ctx, pages[:now.Pages], place); err != nil {
				return nil, err
			}
		}
		p := now
		p.Pages = at
		curve = append(curve, p)
	}
	return curve, nil
}

// tau compares the PageRank of some pages alone with the whole's.
func (s *Simulation) tau(ctx context.Context, pages, place []uint32) (float64, error) {
	in, degree, err := Transposed(&induced{s.Graph.Reader(), pages, place})
	if err != nil {
		return 0, err
	}
	r, err := PageRank(ctx, in, degree, s.RankOpt)
	if err != nil {
		return 0, err
	}
	whole := make([]float64, len(pages))
	for i, v := range pages {
		whole[i] = s.Rank[v]
	}
	return Kendall(Rounded(r.Score, tauDigits), Rounded(whole, tauDigits)), nil
}

// induced is the graph of some pages and the links between them; node i is
// pages[i]. Successors do not grow. Not safe for concurrent use.
type induced struct {
	r     *Reader
	pages []uint32
	place []uint32 // of each page of the whole graph, from 1; 0 for none
}

func (g *induced) Nodes() int { return len(g.pages) }

func (g *induced) Scan(from, to int, do func(v uint32, successors []uint32) error) error {
	var list []uint32
	for i := from; i < to; i++ {
		all, err := g.r.Successors(g.pages[i])
		if err != nil {
			return err
		}
		list = list[:0]
		for _, w := range all {
			if p := g.place[w]; p > 0 && int(p) <= len(g.pages) {
				list = append(list, p-1)
			}
		}
		if err := do(uint32(i), list); err != nil {
			return err
		}
	}
	return nil
}

// Mean is a mean over crawls, with its 95 % interval by Student's t; nil for a
// single one, and where all gave the same. NaN values are left out.
type Mean struct {
	Value float64
	CI    *[2]float64
}

// MeanOf returns the mean of values.
func MeanOf(values []float64) Mean {
	var x []float64
	for _, v := range values {
		if !math.IsNaN(v) {
			x = append(x, v)
		}
	}
	if len(x) == 0 {
		return Mean{Value: math.NaN()}
	}
	m := Mean{Value: stat.Mean(x, nil)}
	if n := float64(len(x)); slices.Max(x)-slices.Min(x) > 1e-12 { // equal draws do not tell how far others would lie apart
		half := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.975) * stat.StdDev(x, nil) / math.Sqrt(n)
		m.CI = &[2]float64{m.Value - half, m.Value + half}
	}
	return m
}

// DrawStarts draws start pages at random among those that link to others, each
// once. It is an error when there are fewer.
func DrawStarts(g *Graph, n int, below func(int) int) ([]uint32, error) {
	if n < 1 {
		return nil, errors.New("no start page is asked for")
	}
	r := g.Reader()
	drawn := map[uint32]bool{}
	var starts []uint32
	for len(starts) < n {
		if len(drawn) == g.Nodes() {
			return nil, fmt.Errorf("%d start pages are asked for, and there are not that many with links; ask for fewer", n)
		}
		v := uint32(below(g.Nodes()))
		if drawn[v] {
			continue
		}
		links, err := r.Successors(v)
		if err != nil {
			return nil, err
		}
		if drawn[v] = true; len(links) > 0 {
			starts = append(starts, v)
		}
	}
	return starts, nil
}
