package simulate

import (
	"context"
	"fmt"
	"time"

	"fossick/crawler/frontier"
	"fossick/graph"
	"fossick/graph/orders"
)

// Manners are those of a virtual crawl, in simulated time. A fetch takes Fetch,
// no host is fetched twice at once (paper D2), and after a fetch it rests for
// Rest (paper E2). A page's links are known when its fetch ends. Pages that
// have no host are each on one of their own.
type Manners struct {
	Workers int // fetches at a time
	Fetch   time.Duration
	Rest    time.Duration
	// Ahead is how many pages may be put aside as their hosts are busy [one a worker].
	// They go before all others once their host is free, in the order in which they
	// were put aside. What is found about them meanwhile changes nothing. So with many
	// the order is that of the hosts and not the ordering's; with few, workers wait.
	Ahead int
	// Hosts is Graph.Hosts().Array; Crawl makes it when it is nil.
	Hosts []uint32
}

// polite is the state of a crawl with manners. The frontier of a real crawl says which
// page may be fetched when; it holds no more than what is put aside.
type polite struct {
	Manners
	now     time.Duration
	fetches []fetching // in flight, by their ends
	aside   *frontier.Frontier
	taken   frontier.ID // pages that the ordering gave
}

// fetching is a page in flight.
type fetching struct {
	page uint32
	end  time.Duration
}

// politely crawls in simulated time.
func (r *crawling) politely(ctx context.Context) (Result, error) {
	p := &polite{Manners: *r.Manners}
	if p.Workers < 1 || p.Fetch < 0 || p.Rest < 0 || p.Ahead < 0 {
		return r.done, fmt.Errorf("a crawl with %d workers, fetches of %s, rests of %s, %d pages ahead; want at least 1 worker, and nothing negative", p.Workers, p.Fetch, p.Rest, p.Ahead)
	}
	if p.Ahead == 0 {
		p.Ahead = p.Workers
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

// begin begins the next fetch; false when there can be none now. Its host is free again
// after the rest.
func (p *polite) begin(order orders.Sequence) bool {
	now := simulatedEpoch.Add(p.now)
	it, ok := p.aside.Next(now)
	for !ok && p.aside.Len() < p.Ahead {
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

// simulatedEpoch is when crawls begin: any time.
var simulatedEpoch = time.Unix(0, 0)

// host names the host of a page.
func (p *polite) host(v uint32) frontier.Host {
	if int(v) < len(p.Hosts) && p.Hosts[v] != graph.None {
		return frontier.Host(p.Hosts[v])
	}
	return ownHost(v)
}

// ownHost names that of a page that has none: it is not asked twice.
func ownHost(v uint32) frontier.Host { return 1<<32 + frontier.Host(v) }

// wait lets time pass until something happens: a fetch ends or, where one may begin, a
// rest. False when nothing will.
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
