package simulate

import (
	"context"
	"errors"
	"fmt"
	"fossick/graph"
	"fossick/graph/orders"
	"time"
)

// Crawl is a virtual crawl of a graph by an ordering (paper B3): every page is
// there, and a step is one page. Links are of the paper's three kinds. External
// ones lead to another site, initial ones stay on a site that holds a start
// page, and both move a URL's priority. All other internal ones only discover
// new URLs. A page without a site, as its name is no URL, has external links only.
// Orderings that are not paper B's count all links.
type Crawl struct {
	Graph    *graph.Graph
	Order    orders.Sequence
	Starts   []uint32
	MaxPages int  // 0 for all that can be reached
	Alike    bool // all links count alike

	// Sites is Graph.Sites().Array; when several crawls share it, each takes 4
	// bytes a page less. Run makes it when it is nil and there are sites.
	Sites []uint32

	// Manners are those of the crawl; nil when every page is there at once.
	Manners *Manners
	now     time.Duration // simulated, when visit is called
}

// Result says what a crawl did.
type Result struct {
	Pages int
	Edges int64 // links of the pages crawled

	Time time.Duration // that a crawl with manners took, of the time simulated
}

// Run crawls, and calls visit with each page in turn; from 0. It ends with visit's
// error.
func (c *Crawl) Run(ctx context.Context, visit func(step int, v uint32) error) (Result, error) {
	var done Result
	if len(c.Starts) == 0 {
		return done, errors.New("a virtual crawl needs a start page")
	}
	n := c.Graph.Nodes()
	for _, v := range c.Starts {
		if int(v) >= n {
			return done, fmt.Errorf("start page %d of a graph of %d pages", v, n)
		}
	}
	r := &crawling{Crawl: c, kinds: c.kinds(), links: c.Graph.Reader(), visit: visit}
	c.Order.Visit(orders.Starts(c.Starts))
	if c.Manners != nil {
		return r.politely(ctx)
	}
	return r.atOnce(ctx)
}

// crawling is a crawl that runs.
type crawling struct {
	*Crawl
	kinds     linkKinds
	links     *graph.Reader
	visit     func(step int, v uint32) error
	done      Result
	discovers []bool
}

// atOnce visits page after page.
func (r *crawling) atOnce(ctx context.Context) (Result, error) {
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

// page visits one page.
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

// linkKinds tells the kinds of links apart.
type linkKinds struct {
	sites   []uint32 // of each page; nil when all links count
	initial []bool   // by site: it holds a start page
}

func (c *Crawl) kinds() linkKinds {
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

// all says whether all links of a page count.
func (k linkKinds) all(v uint32) bool {
	return k.sites == nil || k.sites[v] == graph.None || k.initial[k.sites[v]]
}

// discover appends of each link of page v whether it only discovers its target.
func (k linkKinds) discover(dst []bool, v uint32, links []uint32) []bool {
	site := k.sites[v]
	for _, w := range links {
		dst = append(dst, k.sites[w] == site)
	}
	return dst
}
