package crawler

import (
	"math"
	"slices"
	"time"

	"fossick/crawler/frontier"
	"fossick/graph/orders"
)

// LongestWait bounds how long all workers wait for better links. Links of hosts that rest
// longer are not waited for.
const LongestWait = time.Minute

const (
	// defaultPatience is the default of Options.Patience where MaxPages is a limit.
	defaultPatience = 3
	// The price is updated after priceHolds, or after as many requests and taken links as
	// priceShare of the pages left, between fewPrice and manyPrice.
	priceShare = 0.01
	fewPrice   = 4
	manyPrice  = 8
	priceHolds = time.Second
)

// Patience tells how a crawl waits for better links.
type Patience struct {
	Waits bool          // a free worker waits now
	Price float64       // least priority of a link that is taken
	Best  float64       // priority of the best waiting link
	Free  float64       // priority of the best link whose host was free
	Hosts int           // hosts with links worth the price; hosts at one address count once
	Held  time.Duration // total wait of free workers in this session
}

// waitProgress tells how the crawl waits, nil if it never does.
func (c *Crawler) waitProgress() *Patience {
	if c.keeper == nil {
		return nil
	}
	p := &Patience{Price: c.leastPriority()}
	p.Waits, p.Free, p.Held = c.waits.now(c.opt.Now())
	p.Best, p.Hosts = c.keeper.Best(p.Price)
	return p
}

// WaitsUpTo is how many times as long a crawl may take for better pages: Patience or its
// default. It is 1 where waiting cannot help: no host rests, or the ordering does not go by
// scores.
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

// nextBest returns the URL to fetch next, or until when to wait.
func (c *Crawler) nextBest() (it frontier.Item, wait time.Time, ok bool) {
	now := c.opt.Now()
	if c.mix != nil { // counts pages stored or under way, so that neither a failure nor a kill takes a turn
		c.frontier.Turn(c.mix.At(c.totals.LastPage() + c.fetching))
	}
	if c.keeper == nil {
		if it, ok = c.nextFrom(now, c.othersPrice()); !ok && it.ID != 0 {
			wait = now.Add(LongestWait) // for another price
		}
		return it, wait, ok
	}
	if c.pricedTaken+int(c.totals.Requests-c.pricedRequests) >= c.priceFor || now.Sub(c.pricedAt) >= priceHolds {
		c.setPrice(now)
	}
	c.before = taking{}
	it, ok = c.nextFrom(now, c.leastPriority())
	if !ok && it.ID != 0 {
		if wait = c.waitForBetter(now); !wait.IsZero() {
			c.waits.refused(now, it, c.leastPriority(), c.keeper.Best)
			return frontier.Item{}, wait, false
		}
		if it, ok = c.nextFrom(now, c.othersPrice()); !ok && it.ID != 0 {
			c.waits.refused(now, it, c.othersPrice(), c.keeper.Best)
			return frontier.Item{}, now.Add(LongestWait), false
		}
	}
	c.before = taking{it.ID, c.pricedTaken, c.lastTaken, c.waits.since, c.waits.held}
	c.waits.taken(now, it)
	if ok {
		c.pricedTaken++
		c.lastTaken = now
	}
	return it, time.Time{}, ok
}

// taking is what the crawl counted before it took a URL.
type taking struct {
	id    frontier.ID
	count int
	last  time.Time
	since time.Time // of waits
	held  time.Duration
}

// untake forgets that a URL was taken, because it goes back to the queue at once.
func (c *Crawler) untake(it frontier.Item) {
	b := c.before
	if c.keeper == nil || b.id != it.ID {
		return
	}
	c.pricedTaken, c.lastTaken, c.waits.since, c.waits.held = b.count, b.last, b.since, b.held
	if wait, known := c.waits.links.Peek(it.Key); known && !wait.Refused {
		c.waits.links.Remove(it.Key)
	}
}

// leastPriority is the least priority of a link that is taken now.
func (c *Crawler) leastPriority() float64 { return max(c.price, c.othersPrice()) }

// othersPrice is the priority below which other agents have better links. A mix has none, because
// its orderings have priorities of different kinds.
func (c *Crawler) othersPrice() float64 {
	if c.mix != nil {
		return math.Inf(-1)
	}
	return c.allowed.Price
}

// cycleWeight is the number of exchanges that the means cycle and took go by.
const cycleWeight = 16

// observeCycle records how long an exchange took, and how long its address rests.
func (c *Crawler) observeCycle(took, rest time.Duration) {
	if c.cycle == 0 {
		c.cycle, c.exchangeTook = took+rest, took
	}
	c.cycle += (took + rest - c.cycle) / cycleWeight
	c.exchangeTook += (took - c.exchangeTook) / cycleWeight
}

// waitForBetter returns until when to wait; zero if waiting cannot help.
func (c *Crawler) waitForBetter(now time.Time) time.Time {
	end := c.lastTaken.Add(LongestWait)
	rest, resting := c.frontier.NextRest()
	switch {
	case !end.After(now), !resting && len(c.jobs) == 0:
		return time.Time{}
	case resting && rest.Before(end):
		return rest
	}
	return end
}

// setPrice sets the price.
func (c *Crawler) setPrice(now time.Time) {
	t := &c.totals.Counts
	c.pricedAt, c.pricedRequests, c.pricedTaken = now, t.Requests, 0
	elapsed, fetched := c.totals.session()
	b := Budget{
		Pages: math.MaxInt32, Harvest: float64(t.Relevant) / float64(max(1, t.Pages)),
		Requests: float64(1+c.pagesTried-c.fetching) / float64(1+fetched),
		Cycle:    c.cycle, Took: c.exchangeTook, Workers: c.opt.Workers,
		Limited: c.opt.MaxTime > 0, Time: c.opt.MaxTime - elapsed,
	}
	if most := c.opt.MaxPages; most > 0 {
		b.Pages = int(most - min(most, t.Pages+c.fetching))
	}
	c.price = c.keeper.Price(b, func(dst []frontier.Waiting, n int) []frontier.Waiting {
		return c.frontier.Survey(dst, n, now.Add(LongestWait))
	})
	c.priceFor = int(max(fewPrice, min(manyPrice, priceShare*float64(b.Pages)))) * c.keeper.holds()
}

// reportSpending tells a scorer of several topics what each has paid. The scorer keeps no
// count of its own, so that the store's count holds after a kill.
func (c *Crawler) reportSpending() {
	if s, shares := c.opt.Scorer.(sharer); shares {
		s.Paid(slices.Clone(c.totals.Topics))
	}
}

// secondLook returns the scorer that nextFrom asks, nil unless several topics share the crawl.
func secondLook(opt *Options) rescorer {
	if _, shares := opt.Scorer.(sharer); !shares || !orders.ByScore(opt.Ordering) {
		return nil
	}
	s, _ := opt.Scorer.(Rescorer)
	return s
}

const (
	// secondLooks bounds how many URLs nextFrom puts back.
	secondLooks = 256
	// staleBelow is the relative fall of a priority that nextFrom ignores.
	staleBelow = 0.02
)

// nextFrom is Frontier.NextFrom with fresh priorities where several topics share the crawl.
// Each page changes the worth of all links of the topic that pays for it, but the queue is
// rescored only a hundred pages later. So a URL whose priority has fallen meanwhile is put
// back with the new one.
func (c *Crawler) nextFrom(now time.Time, least float64) (it frontier.Item, ok bool) {
	for looks := 0; ; looks++ {
		it, ok = c.frontier.NextFrom(now, least)
		if !ok || c.fresh == nil || looks == secondLooks {
			return it, ok
		}
		score, known := c.fresh.Rescore(it.Key)
		priority := c.lowered(0, it.Key, c.opt.Ordering.Priority(orders.Link{Score: score}))
		if !known || it.Priority-priority <= staleBelow*math.Abs(it.Priority) {
			return it, ok
		}
		c.frontier.Done(it.Host, time.Time{})
		it.Priority = priority
		c.frontier.Push(it)
	}
}
