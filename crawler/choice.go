package crawler

import (
	"context"
	"fmt"
	"math"
	"time"

	"fossick/crawler/frontier"
	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/store"
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

// choice picks the next URL of the queue: the best one whose host is free, if it is worth a
// page.
type choice struct {
	opt      *Options
	frontier *frontier.Frontier
	totals   *running
	flight   *flight
	queue    *queue
	keeper   *Keeper  // nil: the crawl takes the best free URL
	look     rescorer // nil: priorities are taken as they are; see nextFrom
	waits    *waits
	turns    *orders.Turns // whose turn it is in a mix; nil for one ordering

	allowed Allowance // only where several agents crawl

	price  float64
	priced time.Time     // when the price was set
	asked  uint64        // requests at that time
	taken  int           // URLs taken since then
	often  int           // requests and URLs until the next price
	latest time.Time     // when the last URL was taken
	tried  uint64        // pages asked for in this session
	cycle  time.Duration // recent mean of an exchange and the rest after it
	took   time.Duration // recent mean of the exchange alone
}

// Patience tells how a crawl waits for better links.
type Patience struct {
	Waits bool          // a free worker waits now
	Price float64       // least priority of a link that is taken
	Best  float64       // priority of the best waiting link
	Free  float64       // priority of the best link whose host was free
	Hosts int           // hosts with links worth the price; hosts at one address count once
	Held  time.Duration // total wait of free workers in this session
}

// progress tells how the crawl waits, nil if it never does.
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

// next returns the URL to fetch next, or until when to wait.
func (c *choice) next() (it frontier.Item, wait time.Time, ok bool) {
	now := c.opt.Now()
	if c.turns != nil { // counts pages stored or under way, so that neither a failure nor a kill takes a turn
		c.frontier.Turn(c.turns.At(c.totals.lastPage() + c.flight.pages))
	}
	if c.keeper == nil {
		if it, ok = c.nextFrom(now, c.least()); !ok && it.ID != 0 {
			wait = now.Add(LongestWait) // for another price
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
			return frontier.Item{}, now.Add(LongestWait), false
		}
	}
	c.waits.taken(now, it)
	if ok {
		c.taken++
		c.latest = now
	}
	return it, time.Time{}, ok
}

// need is the least priority of a link that is taken now.
func (c *choice) need() float64 { return max(c.price, c.least()) }

// least is the priority below which other agents have better links. A mix has none, because
// its orderings have priorities of different kinds.
func (c *choice) least() float64 {
	if c.opt.Sites == nil || c.turns != nil {
		return math.Inf(-1)
	}
	return c.allowed.Price
}

// cycleWeight is the number of exchanges that the means cycle and took go by.
const cycleWeight = 16

// rests records how long an exchange took, and how long its address rests.
func (c *choice) rests(took, rest time.Duration) {
	if c.cycle == 0 {
		c.cycle, c.took = took+rest, took
	}
	c.cycle += (took + rest - c.cycle) / cycleWeight
	c.took += (took - c.took) / cycleWeight
}

// wait returns until when to wait; zero if waiting cannot help.
func (c *choice) wait(now time.Time) time.Time {
	end := c.latest.Add(LongestWait)
	rest, resting := c.frontier.NextRest()
	switch {
	case !end.After(now), !resting && c.flight.busy == 0:
		return time.Time{}
	case resting && rest.Before(end):
		return rest
	}
	return end
}

// ask sets the price.
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
		return c.frontier.Survey(dst, n, now.Add(LongestWait))
	})
	c.often = int(max(fewPrice, min(manyPrice, priceShare*float64(b.Pages)))) * c.keeper.holds()
}

// promiser is a Rescorer that can state the probability that a waiting URL is on topic. The
// URL's priority may have other reasons: exploration, or marks.
type promiser interface {
	Rescorer
	// Promise returns the probability that the URL with this page.Key is on topic; false
	// when the scorer knows nothing of it.
	Promise(key uint64) (probability float64, known bool)
}

// promises reports whether the priorities of waiting URLs are probabilities.
func (q *queue) promises() bool {
	_, promises := q.opt.Scorer.(promiser)
	return promises && orders.ByScore(q.opt.Ordering)
}

// Promise returns the probability that a waiting URL is on topic; false for a start page, and
// where the scorer does not tell.
func (q *queue) Promise(discovery store.Discovery) (float64, bool) {
	scorer, promises := q.opt.Scorer.(promiser)
	if !promises || discovery.Via == store.ViaSeed {
		return 0, false
	}
	return scorer.Promise(page.Key(discovery.URL))
}

const (
	// mostSettled bounds the URLs that settle reads. A scorer remembers only a small part of
	// a longer queue.
	mostSettled = 1 << 20
	// settle ignores changes of less than settledOdds in log-odds; scores below leastSettled
	// count as equal.
	settledOdds  = 0.1
	leastSettled = 1e-4
)

// settle writes the scorer's final scores of waiting URLs to the journal, which was told only
// of large changes. The commands why and eval read them there.
func (q *queue) settle() error {
	if _, promises := q.opt.Scorer.(promiser); q.opt.Store == nil || !promises || q.frontier.Len() > mostSettled {
		return nil
	}
	b := q.journal.Batch()
	defer func() { b.Cancel() }()
	for w, err := range q.journal.Waiters() {
		if err != nil {
			return fmt.Errorf("waiting URLs: %w", err)
		}
		score, known := q.Promise(w.Discovery)
		if !known || math.Abs(logOdds(score)-logOdds(w.Score)) < settledOdds {
			continue
		}
		place := w.Queued
		place.Score = score
		if orders.ByScore(q.opt.Ordering) {
			place.Priority = q.opt.Ordering.Priority(orders.Link{Score: place.Score})
		}
		if err := b.Queue(w.ID, place); err != nil {
			return err
		}
		if b.Full() {
			if err := b.Commit(nil); err != nil {
				return err
			}
			b = q.journal.Batch()
		}
	}
	return b.Commit(nil)
}

func logOdds(score float64) float64 {
	p := max(leastSettled, min(1-leastSettled, score))
	return math.Log(p / (1 - p))
}

const (
	// readTimeLimit bounds the time to read, score and compare a page.
	readTimeLimit = 10 * time.Second
	// readTimeStep bounds what counts between two looks at the clock, because no page is read
	// while the process is stopped or the machine sleeps.
	readTimeStep = time.Second
)

// errTooCostly reports a page that took longer than readTimeLimit.
var errTooCostly = fmt.Errorf("page_too_costly: reading the page took more than %v; the server may send such pages on purpose", readTimeLimit)

// budget returns a function that the steps of reading a page call. It returns an error when
// ctx has ended or readTimeLimit is spent.
func budget(ctx context.Context, now func() time.Time) (spent func() error) {
	last, used := now(), time.Duration(0)
	return func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		at := now()
		used += min(at.Sub(last), readTimeStep)
		last = at
		if used > readTimeLimit {
			return errTooCostly
		}
		return nil
	}
}
