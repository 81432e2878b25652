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

// A promiser is a Rescorer that can tell what it expects of a URL that waits,
// as a probability. The place that it gives the URL may have other reasons: to
// explore, or what people say.
type promiser interface {
	Rescorer
	// Promise returns the probability that the URL with this page.Key is on topic; false
	// when the scorer knows nothing of it.
	Promise(key uint64) (probability float64, known bool)
}

// promises says whether the priorities of what waits are probabilities.
func (q *queue) promises() bool {
	_, promises := q.opt.Scorer.(promiser)
	return promises && orders.ByScore(q.opt.Ordering)
}

// Promise is what the scorer expects of a URL that waits; false when it does not say, and
// of a start page, which the user wants.
func (q *queue) Promise(birth store.Birth) (float64, bool) {
	scorer, promises := q.opt.Scorer.(promiser)
	if !promises || birth.Via == store.ViaSeed {
		return 0, false
	}
	return scorer.Promise(page.Key(birth.URL))
}

const (
	// mostSettled bounds the URLs that settle reads, some seconds of work: of a longer
	// queue a scorer remembers a small part.
	mostSettled = 1 << 20
	// settledOdds is the change in log-odds that it leaves alone, and no score below
	// leastSettled is told from another.
	settledOdds  = 0.1
	leastSettled = 1e-4
)

// settle journals what the scorer says in the end of the URLs that wait, as the
// journal was told of their places only when they had moved far. It is for
// those who read the store: why, and eval, which asks how many of them are on
// topic.
func (q *queue) settle() error {
	if _, promises := q.opt.Scorer.(promiser); q.opt.Store == nil || !promises || q.frontier.Len() > mostSettled {
		return nil
	}
	b := q.journal.Batch()
	defer func() { b.Cancel() }()
	for w, err := range q.journal.Waiters() {
		if err != nil {
			return fmt.Errorf("places of waiting URLs: %w", err)
		}
		score, known := q.Promise(w.Birth)
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
	// readingTime is what a page may take to be read, scored and compared. The worst that
	// is known takes a second and a half on one core, for 4 MiB of links to long names.
	readingTime = 10 * time.Second
	// readingStep is what counts at most between two looks at the clock: while the
	// process is stopped or the machine sleeps, no page is being read.
	readingStep = time.Second
)

// errTooCostly is why a page ends that takes longer than readingTime.
var errTooCostly = fmt.Errorf("page_too_costly: reading the page took more than %v; the server may send such pages on purpose", readingTime)

// budget returns what is asked between the steps of reading a page: it says why the
// reading must end, by ctx or by readingTime, nil while it may go on.
func budget(ctx context.Context, now func() time.Time) (spent func() error) {
	last, used := now(), time.Duration(0)
	return func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		at := now()
		used += min(at.Sub(last), readingStep)
		last = at
		if used > readingTime {
			return errTooCostly
		}
		return nil
	}
}
