package lab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"fossick/crawler/frontier"
	"fossick/graph"
	"fossick/graph/orders"
	"fossick/graph/rank"
	"fossick/internal/stats"
)

// GraphCrawl is a virtual crawl of a graph by an ordering (paper B3); each step fetches one page.
// Paper B has three kinds of links. External links (to another site) and initial links (within a
// site that holds a start page) change a URL's priority; other internal links only discover URLs.
// All links of a page without a site, whose name is no URL, are external. Orderings that are not
// paper B's count all links.
type GraphCrawl struct {
	Graph    *graph.Graph
	Order    orders.Sequence
	Starts   []uint32
	MaxPages int  // 0 for all reachable pages
	Alike    bool // count all links, whatever their kind

	// Sites is Graph.Sites().Array. Crawls that share it save 4 bytes a page each; Run computes it
	// when it is nil and the graph has sites.
	Sites []uint32

	// Manners are the politeness limits; nil fetches one page a step without waiting.
	Manners *GraphManners
	now     time.Duration // simulated time of the current visit
}

// graphCrawled sums up a crawl.
type graphCrawled struct {
	Pages int
	Edges int64 // links of the crawled pages

	Time time.Duration // simulated; 0 without manners
}

// Run crawls and calls visit with each page, steps counted from 0. An error of visit ends it.
func (c *GraphCrawl) Run(ctx context.Context, visit func(step int, v uint32) error) (graphCrawled, error) {
	var done graphCrawled
	if len(c.Starts) == 0 {
		return done, errors.New("a virtual crawl needs a start page")
	}
	n := c.Graph.Nodes()
	for _, v := range c.Starts {
		if int(v) >= n {
			return done, fmt.Errorf("start page %d of a graph of %d pages", v, n)
		}
	}
	r := &crawling{GraphCrawl: c, kinds: c.kinds(), links: c.Graph.Reader(), visit: visit}
	c.Order.Visit(orders.Starts(c.Starts))
	if c.Manners != nil {
		return r.politely(ctx)
	}
	return r.atOnce(ctx)
}

type crawling struct {
	*GraphCrawl
	kinds     linkKinds
	links     *graph.Reader
	visit     func(step int, v uint32) error
	done      graphCrawled
	discovers []bool
}

func (r *crawling) atOnce(ctx context.Context) (graphCrawled, error) {
	for r.MaxPages == 0 || r.done.Pages < r.MaxPages {
		if r.done.Pages%1024 == 0 && ctx.Err() != nil {
			return r.done, ctx.Err()
		}
		v, ok := r.Order.Next()
		if !ok {
			return r.done, r.Order.Err()
		}
		if err := r.page(v); err != nil {
			return r.done, err
		}
	}
	return r.done, nil
}

func (r *crawling) page(v uint32) error {
	links, err := r.links.Successors(v)
	if err != nil {
		return err
	}
	if err := r.visit(r.done.Pages, v); err != nil {
		return err
	}
	r.done.Pages++
	r.done.Edges += int64(len(links))
	if r.kinds.all(v) {
		r.Order.Visit(orders.Alike(v, links))
		return nil
	}
	r.discovers = r.kinds.discover(r.discovers[:0], v, links)
	r.Order.Visit(orders.Links{Page: v, All: links, OnlyDiscovers: r.discovers})
	return nil
}

type linkKinds struct {
	sites   []uint32 // by page; nil when all links count
	initial []bool   // by site: holds a start page
}

func (c *GraphCrawl) kinds() linkKinds {
	if c.Alike || c.Graph.Sites().Count() == 0 {
		return linkKinds{}
	}
	k := linkKinds{sites: c.Sites, initial: make([]bool, c.Graph.Sites().Count())}
	if k.sites == nil {
		k.sites = c.Graph.Sites().Array(c.Graph.Nodes())
	}
	for _, v := range c.Starts {
		if site := k.sites[v]; site != graph.None {
			k.initial[site] = true
		}
	}
	return k
}

func (k linkKinds) all(v uint32) bool {
	return k.sites == nil || k.sites[v] == graph.None || k.initial[k.sites[v]]
}

func (k linkKinds) discover(dst []bool, v uint32, links []uint32) []bool {
	site := k.sites[v]
	for _, w := range links {
		dst = append(dst, k.sites[w] == site)
	}
	return dst
}

// GraphManners are the politeness limits of a virtual crawl, in simulated time. No host serves two
// fetches at once (paper D2), and it rests for Rest after each (paper E2). A page's links are known
// when its fetch ends. A page without a host has one of its own. Up to Workers pages whose hosts are
// busy are set aside; once their host is free they go first, in order.
type GraphManners struct {
	Workers int // parallel fetches
	Fetch   time.Duration
	Rest    time.Duration
	// Hosts is Graph.Hosts().Array; Run computes it when it is nil.
	Hosts []uint32
}

// polite is the state of a crawl with manners; the production frontier holds only the pages set
// aside and says when each may be fetched.
type polite struct {
	GraphManners
	now     time.Duration
	fetches []fetching // in flight, by end
	aside   *frontier.Frontier
	taken   frontier.ID // pages taken from the ordering
}

type fetching struct {
	page uint32
	end  time.Duration
}

func (r *crawling) politely(ctx context.Context) (graphCrawled, error) {
	p := &polite{GraphManners: *r.Manners}
	if p.Workers < 1 || p.Fetch < 0 || p.Rest < 0 {
		return r.done, fmt.Errorf("a crawl with %d workers, fetches of %s, rests of %s; want at least 1 worker, and nothing negative", p.Workers, p.Fetch, p.Rest)
	}
	if p.Hosts == nil {
		p.Hosts = r.Graph.Hosts().Array(r.Graph.Nodes())
	}
	var err error
	if p.aside, err = frontier.New(frontier.Options{}); err != nil {
		return r.done, err
	}
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return r.done, ctx.Err()
		}
		for len(p.fetches) > 0 && p.fetches[0].end <= p.now {
			r.done.Time, r.now = p.now, p.now
			v := p.fetches[0].page
			p.fetches = p.fetches[1:]
			if err := r.page(v); err != nil {
				return r.done, err
			}
		}
		begins := len(p.fetches) < p.Workers && (r.MaxPages == 0 || r.done.Pages+len(p.fetches) < r.MaxPages)
		if begins && p.begin(r.Order) {
			continue
		}
		if !p.wait(begins) {
			return r.done, r.Order.Err()
		}
	}
}

// begin starts the next fetch and blocks its host until the rest is over; false when no page may
// be fetched now.
func (p *polite) begin(order orders.Sequence) bool {
	now := simulatedEpoch.Add(p.now)
	it, ok := p.aside.Next(now)
	for !ok && p.aside.Len() < p.Workers {
		v, more := order.Next()
		if !more {
			return false
		}
		p.taken++
		p.aside.Push(frontier.Item{ID: p.taken, Host: p.host(v), Key: uint64(v)})
		it, ok = p.aside.Next(now)
	}
	if !ok {
		return false
	}
	v := uint32(it.Key)
	p.fetches = append(p.fetches, fetching{v, p.now + p.Fetch})
	var until time.Time
	if it.Host != ownHost(v) {
		until = now.Add(p.Fetch + p.Rest)
	}
	p.aside.Done(it.Host, until)
	return true
}

// simulatedEpoch is when crawls begin; any time would do.
var simulatedEpoch = time.Unix(0, 0)

func (p *polite) host(v uint32) frontier.Host {
	if int(v) < len(p.Hosts) && p.Hosts[v] != graph.None {
		return frontier.Host(p.Hosts[v])
	}
	return ownHost(v)
}

// ownHost is the host of a page without one; it needs no rest, as it is fetched once.
func ownHost(v uint32) frontier.Host { return 1<<32 + frontier.Host(v) }

// wait advances the clock to the next event: the end of a fetch or, if a fetch may begin, of a
// rest. It returns false when no event is left.
func (p *polite) wait(begins bool) bool {
	next, some := time.Duration(0), false
	if begins {
		var rested time.Time
		rested, some = p.aside.Wake()
		next = rested.Sub(simulatedEpoch)
	}
	if len(p.fetches) > 0 && (!some || p.fetches[0].end < next) {
		next, some = p.fetches[0].end, true
	}
	p.now = max(p.now, next)
	return some
}

// Simulation measures virtual crawls of a graph (paper B3) by several orderings from the same start
// sets. Start with Prepare, then Crawls.
type Simulation struct {
	Graph    *graph.Graph
	Starts   [][]uint32    // start sets; each ordering crawls from each
	MaxPages int           // per crawl; 0 for all reachable pages
	Points   int           // per curve, evenly over MaxPages
	Alike    bool          // see GraphCrawl
	Damping  float64       // of PageRank [0.85]
	Manners  *GraphManners // see GraphCrawl

	Rand     func(set int) *rand.Rand // for the randomised orderings
	Score    func(v uint32) float64   // see orders.SequenceOptions; nil without a topic
	Relevant func(v uint32) bool      // whether a page is on topic; nil without a topic

	whole []float64 // PageRank of the whole graph
	sites []uint32  // by page; nil when the graph has none
}

// Prepare ranks the whole graph and lowers MaxPages to the most pages reachable from a start set.
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
		c := GraphCrawl{Graph: s.Graph, Order: order, Starts: set, MaxPages: s.MaxPages, Alike: true}
		done, err := c.Run(ctx, func(int, uint32) error { return nil })
		if err != nil {
			return nil, err
		}
		most = max(most, done.Pages)
	}
	s.MaxPages = most
	return whole, nil
}

// GraphCurve is the result of one crawl.
type GraphCurve struct {
	graphCrawled
	Curve   []graphPoint // a crawl that ended early keeps its last values
	Seconds float64      // real time of the crawl, without measuring
}

// Crawls crawls by one ordering or mix from each start set, and calls each after every crawl.
func (s *Simulation) Crawls(ctx context.Context, name string, each func(set int, c *GraphCurve)) ([]*GraphCurve, error) {
	var all []*GraphCurve
	for i, starts := range s.Starts {
		order, err := orders.NewSequence(name, orders.SequenceOptions{
			Vertices: s.Graph.Nodes(), Rand: s.Rand(i), Sites: s.sites, Links: s.Graph.Reader().Successors,
			Damping: s.Damping, Score: s.Score,
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

func (s *Simulation) crawl(ctx context.Context, order orders.Sequence, starts []uint32) (*GraphCurve, error) {
	if s.MaxPages < 1 || s.Points < 1 {
		return nil, fmt.Errorf("simulation of %d pages and %d points; want at least 1 of each", s.MaxPages, s.Points)
	}
	c := GraphCrawl{Graph: s.Graph, Order: order, Starts: starts, MaxPages: s.MaxPages, Alike: s.Alike, Sites: s.sites, Manners: s.Manners}
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
	out := &GraphCurve{graphCrawled: done, Seconds: time.Since(began).Seconds()}
	out.Curve, err = s.curve(ctx, pages, times)
	return out, err
}

// DrawStarts draws n distinct random start pages that have links; fewer such pages are an error.
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

type graphPoint struct {
	Pages    int     // crawled so far
	PageRank float64 // sum of the whole graph's PageRank over them
	Sites    int     // distinct sites of them
	// Tau is Kendall's τ_b between the PageRank of the crawled subgraph and the whole graph's, on the crawled
	// pages (Boldi, Santini and Vigna 2004). NaN when there is nothing to rank.
	Tau float64
	// Harvest is the harvest ratio; NaN without a topic.
	Harvest float64
	// Time is the simulated time; 0 without manners.
	Time time.Duration
}

// tauDigits is the number of decimals of log₁₀ PageRank that count: ranks closer than about 0.02 %, well above
// the error of an iteration to ε = 1e-10, are tied.
const tauDigits = 4

// curve measures the crawled pages, in crawl order; times is nil without manners.
func (s *Simulation) curve(ctx context.Context, pages []uint32, times []time.Duration) ([]graphPoint, error) {
	place := make([]uint32, s.Graph.Nodes()) // position of each page in the crawl, from 1
	for i, v := range pages {
		place[v] = uint32(i) + 1
	}
	seen := make([]bool, s.Graph.Sites().Count())
	var curve []graphPoint
	var now graphPoint
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

// induced is the subgraph of pages, whose node i is pages[i]. Not safe for concurrent use.
type induced struct {
	r     *graph.Reader
	pages []uint32
	place []uint32 // by node of the whole graph: position in pages, from 1; 0 for none
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

type graphMean struct {
	Pages                         int
	PageRank, Sites, Tau, Harvest stats.Mean // see graphPoint
	Hours                         stats.Mean // simulated
}

// MeanCurve averages the curves point by point, without unknown values; intervals are clipped to the range.
func (s *Simulation) MeanCurve(crawls []*GraphCurve) []graphMean {
	points := make([]graphMean, len(crawls[0].Curve))
	for i := range points {
		mean := func(least, most float64, of func(graphPoint) float64) stats.Mean {
			var x []float64
			for _, c := range crawls {
				if y := of(c.Curve[i]); !math.IsNaN(y) {
					x = append(x, y)
				}
			}
			return stats.MeanOf(x).Within(least, most)
		}
		points[i] = graphMean{
			Pages:    crawls[0].Curve[i].Pages,
			PageRank: mean(0, 1, func(p graphPoint) float64 { return p.PageRank }),
			Sites:    stats.MeanOf(nil),
			Tau:      mean(-1, 1, func(p graphPoint) float64 { return p.Tau }),
			Harvest:  mean(0, 1, func(p graphPoint) float64 { return p.Harvest }),
			Hours:    mean(0, math.Inf(1), func(p graphPoint) float64 { return p.Time.Hours() }),
		}
		if n := s.Graph.Sites().Count(); n > 0 { // else sites are unknown
			points[i].Sites = mean(1, float64(n), func(p graphPoint) float64 { return float64(p.Sites) })
		}
	}
	return points
}
