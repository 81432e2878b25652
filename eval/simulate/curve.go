package simulate

import (
	"context"
	"math"
	"time"

	"fossick/graph"
	"fossick/graph/rank"
	"fossick/internal/stats"
)

// Point is a point of a crawl's curve.
type Point struct {
	Pages    int     // crawled till now
	PageRank float64 // sum of the whole graph's PageRank over these
	Sites    int     // that they are of
	// Tau is Kendall's τ_b of the PageRank of what was crawled alone, links
	// within it, with the whole graph's on the same pages. What adds up much
	// PageRank need not rank it well (Boldi, Santini and Vigna 2004). NaN when
	// there is nothing to rank.
	Tau float64
	// Harvest is the share of the pages that are on topic; NaN without a topic.
	Harvest float64
	// Time is when the crawl had so many pages, of the time that Manners simulate.
	Time time.Duration
}

// tauDigits of log₁₀ of a PageRank count, so pages whose ranks differ by less
// than about 0.02 % are tied. That is well above what is left of an iteration
// to ε = 1e-10 on graphs of some million pages.
const tauDigits = 4

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
				now.PageRank += s.whole[v]
				if s.sites != nil && s.sites[v] != graph.None && !seen[s.sites[v]] {
					seen[s.sites[v]] = true
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
	in, degree, err := graph.Transposed(&induced{s.Graph.Reader(), pages, place})
	if err != nil {
		return 0, err
	}
	r, err := rank.PowerIteration(ctx, in, degree, rank.Options{Damping: s.Damping})
	if err != nil {
		return 0, err
	}
	whole := make([]float64, len(pages))
	for i, v := range pages {
		whole[i] = s.whole[v]
	}
	return rank.Kendall(rank.Rounded(r.Score, tauDigits), rank.Rounded(whole, tauDigits)), nil
}

// induced is the graph of some pages and the links between them; node i is
// pages[i]. Successors do not grow. Not safe for concurrent use.
type induced struct {
	r     *graph.Reader
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

// MeanPoint is a point of the mean curve of several crawls.
type MeanPoint struct {
	Pages                         int
	PageRank, Sites, Tau, Harvest stats.Mean // see Point
	Hours                         stats.Mean // of the time simulated
}

// MeanCurve returns the mean of the curves of crawls, point by point, with intervals that
// end where values do. What is not known of a crawl is left out.
func (s *Simulation) MeanCurve(crawls []*Crawled) []MeanPoint {
	points := make([]MeanPoint, len(crawls[0].Curve))
	for i := range points {
		mean := func(least, most float64, of func(Point) float64) stats.Mean {
			var x []float64
			for _, c := range crawls {
				if y := of(c.Curve[i]); !math.IsNaN(y) {
					x = append(x, y)
				}
			}
			return stats.MeanOf(x).Within(least, most)
		}
		points[i] = MeanPoint{
			Pages:    crawls[0].Curve[i].Pages,
			PageRank: mean(0, 1, func(p Point) float64 { return p.PageRank }),
			Sites:    stats.MeanOf(nil),
			Tau:      mean(-1, 1, func(p Point) float64 { return p.Tau }),
			Harvest:  mean(0, 1, func(p Point) float64 { return p.Harvest }),
			Hours:    mean(0, math.Inf(1), func(p Point) float64 { return p.Time.Hours() }),
		}
		if n := s.Graph.Sites().Count(); n > 0 { // else they are not known
			points[i].Sites = mean(1, float64(n), func(p Point) float64 { return float64(p.Sites) })
		}
	}
	return points
}
