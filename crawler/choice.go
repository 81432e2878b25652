package crawler

import (
	"math"
	"time"

	"fossick/crawler/frontier"
	"fossick/graph/orders"
)

// LongestWait is how long all workers wait for better links at most.
const LongestWait = time.Minute

const (
	// defaultPatience is how many times as long a crawl may take for better pages.
	defaultPatience = 3
	// longestWait bounds how long all workers wait for better links; nobody waits for those
	// of hosts that rest longer.
	longestWait = LongestWait
	// A price is found out anew after as many requests and links taken as priceShare of
	// the pages left, fewPrice to manyPrice, or after priceHolds. A page is two of them.
	priceShare = 0.01
	fewPrice   = 4
	manyPrice  = 8
	priceHolds = time.Second
)

// choice chooses the next URL of the queue: the best that is free, if it is worth its page.
type choice struct {
	opt      *Options
	frontier *frontier.Frontier
	totals   *running
	flight   *flight
	queue    *queue
	keeper   *Keeper // nil: whatever is free
	look     look    // nil: what comes up is taken by its priority; see nextFrom
	waits    *waits
	turns    *orders.Turns // whose page is the next one, of a mix; nil of one ordering

	allowed Allowance // of a crawl that several agents make

	price  float64
	priced time.Time     // when it was found out
	asked  uint64        // requests then
	taken  int           // URLs since
	often  int           // so many of both until the next one
	latest time.Time     // when a URL was taken last
	tried  uint64        // pages, in this session
	cycle  time.Duration // of an exchange and the rest after it, in the mean of the latest
	took   time.Duration // of the exchange alone
}

// Patience tells how a crawl waits for better links.
type Patience struct {
	Waits bool          // a free worker does now
	Price float64       // the priority that a link needs to be taken
	Best  float64       // of the best that wait
	Free  float64       // of the best that was free
	Hosts int           // that have links worth the price, those at an address as one
	Held  time.Duration // that a free worker waited so, in this session
}

// progress tells how the crawl waits; nil when it does not.
func (c *choice) progress() *Patience {
	if c.keeper == nil {
		return nil
	}
	p := &Patience{Price: c.need()}
	p.Waits, p.Free, p.Held = c.waits.now(c.opt.Now())
	p.Best, p.Hosts = c.keeper.Best(p.Price)
	return p
}

func newChoice(opt *Options, f *frontier.Frontier, t *running, under *flight, q *queue) *choice {
	c := &choice{opt: opt, frontier: f, totals: t, flight: under, queue: q, waits: newWaits(), look: secondLook(opt), price: math.Inf(-1)}
	if factor := opt.WaitsUpTo(); factor > 1 {
		c.keeper = NewPatience(PatienceOptions{Factor: factor, Chances: q.promises()})
	}
	if m, mixed := opt.Ordering.(*orders.Mix); mixed {
		c.turns = m.Turns()
	}
	return c
}

// WaitsUpTo is how many times as long a crawl may take for better pages: Patience or its
// default. It is 1 where waiting brings nothing: where no host rests, or the order says nothing
// of what pages are worth.
func (o *Options) WaitsUpTo() float64 {
	noRests := o.Delay.Off || o.Delay.Fixed && o.Delay.Rest == 0
	switch {
	case noRests || o.Revisits != nil || !orders.ByScore(o.Ordering):
		return 1
	case o.Patience > 0:
		return o.Patience
	case o.MaxPages == 0:
		return 1
	}
	return defaultPatience
}

// next returns the URL to be fetched next. Where it is better to wait it says until when.
func (c *choice) next() (it frontier.Item, wait time.Time, ok bool) {
	now := c.opt.Now()
	if c.turns != nil { // by what is stored or under way, so that a failure takes no turn, nor a kill
		c.frontier.Turn(c.turns.At(c.totals.lastPage() + c.flight.pages))
	}
	if c.keeper == nil {
		if it, ok = c.nextFrom(now, c.least()); !ok && it.ID != 0 {
			wait = now.Add(longestWait) // for another price
		}
		return it, wait, ok
	}
	if c.taken+int(c.totals.Counts().Requests-c.asked) >= c.often || now.Sub(c.priced) >= priceHolds {
		c.ask(now)
	}
	it, ok = c.nextFrom(now, c.need())
	if !ok && it.ID != 0 {
		if wait = c.wait(now); !wait.IsZero() {
			c.waits.refused(now, it, c.need(), c.keeper.Best)
			return frontier.Item{}, wait, false
		}
		if it, ok = c.nextFrom(now, c.least()); !ok && it.ID != 0 {
			c.waits.refused(now, it, c.least(), c.keeper.Best)
			return frontier.Item{}, now.Add(longestWait), false
		}
	}
	c.waits.taken(now, it)
	if ok {
		c.taken++
		c.latest = now
	}
	return it, time.Time{}, ok
}

// need is the priority that a link needs to be taken.
func (c *choice) need() float64 { return max(c.price, c.least()) }

// least is the priority below which no link is taken: other agents have better ones. The
// priorities of a mix are of several kinds, and none is a price for the others.
func (c *choice) least() float64 {
	if c.opt.Sites == nil || c.turns != nil {
		return math.Inf(-1)
	}
	return c.allowed.Price
}

// cycleShare is how much the latest exchange counts for the time that one takes.
const cycleShare = 16

// rests takes note of how long an exchange took, and how long its host rests for load.
func (c *choice) rests(took, rest time.Duration) {
	if c.cycle == 0 {
		c.cycle, c.took = took+rest, took
	}
	c.cycle += (took + rest - c.cycle) / cycleShare
	c.took += (took - c.took) / cycleShare
}

// wait returns until when to wait; zero when waiting brings nothing.
func (c *choice) wait(now time.Time) time.Time {
	end := c.latest.Add(longestWait)
	rest, resting := c.frontier.NextRest()
	switch {
	case !end.After(now), !resting && c.flight.busy == 0:
		return time.Time{}
	case resting && rest.Before(end):
		return rest
	}
	return end
}

// ask finds the price out anew.
func (c *choice) ask(now time.Time) {
	t := c.totals.Counts()
	c.priced, c.asked, c.taken = now, t.Requests, 0
	elapsed, fetched := c.totals.session()
	b := Budget{
		Pages: math.MaxInt32, Harvest: float64(t.Relevant) / float64(max(1, t.Pages)),
		Requests: float64(1+c.tried-c.flight.pages) / float64(1+fetched),
		Cycle:    c.cycle, Took: c.took, Workers: c.opt.Workers,
		Limited: c.opt.MaxTime > 0, Time: c.opt.MaxTime - elapsed,
	}
	if most := c.opt.MaxPages; most > 0 && c.opt.Sites == nil {
		b.Pages = int(most - min(most, t.Pages+c.flight.pages))
	}
	c.price = c.keeper.Price(b, func(dst []frontier.Waiting, n int) []frontier.Waiting {
		return c.frontier.Survey(dst, n, now.Add(longestWait))
	})
	c.often = int(max(fewPrice, min(manyPrice, priceShare*float64(b.Pages)))) * c.keeper.holds()
}
