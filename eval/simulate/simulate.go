package simulate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"fossick/graph"
	"fossick/graph/orders"
	"fossick/graph/rank"
)

// Simulation measures virtual crawls of a graph (paper B3): by several orderings, each
// from the same sets of start pages. Start with Prepare, then Crawls.
type Simulation struct {
	Graph     *graph.Graph
	Starts    [][]uint32 // a crawl of each ordering from each
	MaxPages  int        // of a crawl; 0 for as many as can be reached
	Points    int        // of a curve, evenly over MaxPages
	Alike     bool       // see Crawl
	Damping   float64    // of PageRank [0.85]
	Recompute int        // see orders.SequenceOptions.Every
	Manners   *Manners   // nil when every page is there at once

	Rand     func(set int) *rand.Rand // of the orderings that draw
	Score    func(v uint32) float64   // see orders.SequenceOptions; nil without a topic
	Relevant func(v uint32) bool      // says whether a page is on topic; likewise

	whole []float64 // PageRank of the whole graph
	sites []uint32  // of each page; nil when the graph has none
}

// Prepare ranks the whole graph, and lowers MaxPages to what can be reached from the start
// set that reaches most, whatever the ordering.
func (s *Simulation) Prepare(ctx context.Context) (*rank.Result, error) {
	in, degree, err := graph.Transposed(s.Graph)
	if err != nil {
		return nil, err
	}
	whole, err := rank.PowerIteration(ctx, in, degree, rank.Options{Damping: s.Damping})
	if err != nil {
		return nil, err
	}
	s.whole = whole.Score
	if s.Graph.Sites().Count() > 0 {
		s.sites = s.Graph.Sites().Array(s.Graph.Nodes())
	}
	most := 0
	for _, set := range s.Starts {
		order, err := orders.NewSequence("bfs", orders.SequenceOptions{Vertices: s.Graph.Nodes()})
		if err != nil {
			return nil, err
		}
		c := Crawl{Graph: s.Graph, Order: order, Starts: set, MaxPages: s.MaxPages, Alike: true}
		done, err := c.Run(ctx, func(int, uint32) error { return nil })
		if err != nil {
			return nil, err
		}
		most = max(most, done.Pages)
	}
	s.MaxPages = most
	return whole, nil
}

// Crawled is one crawl.
type Crawled struct {
	Result
	Curve   []Point // one that ended early keeps its last values
	Seconds float64 // of the crawl, without measuring
}

// Crawls crawls by one ordering, or a mix, from each start set, and calls each after each.
func (s *Simulation) Crawls(ctx context.Context, name string, each func(set int, c *Crawled)) ([]*Crawled, error) {
	var all []*Crawled
	for i, starts := range s.Starts {
		order, err := orders.NewSequence(name, orders.SequenceOptions{
			Vertices: s.Graph.Nodes(), Rand: s.Rand(i), Sites: s.sites, Links: s.Graph.Reader().Successors,
			Every: s.Recompute, Damping: s.Damping, Score: s.Score,
		})
		if err != nil {
			return nil, err
		}
		c, err := s.crawl(ctx, order, starts)
		if err != nil {
			return nil, err
		}
		each(i, c)
		all = append(all, c)
	}
	return all, nil
}

// crawl crawls from start pages and measures.
func (s *Simulation) crawl(ctx context.Context, order orders.Sequence, starts []uint32) (*Crawled, error) {
	if s.MaxPages < 1 || s.Points < 1 {
		return nil, fmt.Errorf("simulation of %d pages and %d points; want at least 1 of each", s.MaxPages, s.Points)
	}
	c := Crawl{Graph: s.Graph, Order: order, Starts: starts, MaxPages: s.MaxPages, Alike: s.Alike, Sites: s.sites, Manners: s.Manners}
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
	out := &Crawled{Result: done, Seconds: time.Since(began).Seconds()}
	out.Curve, err = s.curve(ctx, pages, times)
	return out, err
}

// DrawStarts draws start pages at random among those that link to others, each
// once. It is an error when there are fewer.
func DrawStarts(g *graph.Graph, n int, below func(int) int) ([]uint32, error) {
	if n < 1 {
		return nil, errors.New("no start page is requested; ask for at least 1")
	}
	r := g.Reader()
	drawn := map[uint32]bool{}
	var starts []uint32
	for len(starts) < n {
		if len(drawn) == g.Nodes() {
			return nil, fmt.Errorf("%d start pages are requested, but fewer pages have links; ask for fewer", n)
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
