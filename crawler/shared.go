package crawler

import (
	"math"
	"slices"
	"time"

	"fossick/crawler/frontier"
	"fossick/graph/orders"
)

// tellPaid tells a scorer of several topics what each has paid; it keeps no count of its
// own, so that after a kill the store's holds.
func (a *arrivals) tellPaid() {
	if s, shares := a.opt.Scorer.(sharer); shares {
		s.Paid(slices.Clone(a.totals.Counts().Topics))
	}
}

// A look is asked again what URLs are worth that come up.
type look interface {
	Rescore(key uint64) (score float64, known bool)
}

// secondLook is the look of a crawl that several topics share, nil of another.
func secondLook(opt *Options) look {
	if _, shares := opt.Scorer.(sharer); !shares || !orders.ByScore(opt.Ordering) {
		return nil
	}
	s, _ := opt.Scorer.(Rescorer)
	return s
}

const (
	// secondLooks bounds how many URLs are put back for one that is taken.
	secondLooks = 256
	// staleBelow is by what part a priority may be too high without being put back.
	staleBelow = 0.02
)

// nextFrom is the frontier's, with a second look where several topics share the crawl.
// What a topic has paid changes the worth of all its links with each page, and the queue
// hears of that a hundred pages later: until then its links would go before all others. So
// one that comes up by a priority of the past is put back with that of now.
func (c *choice) nextFrom(now time.Time, least float64) (it frontier.Item, ok bool) {
	for looks := 0; ; looks++ {
		it, ok = c.frontier.NextFrom(now, least)
		if !ok || c.look == nil || looks == secondLooks {
			return it, ok
		}
		score, known := c.look.Rescore(it.Key)
		priority := c.queue.Lowered(it.Key, c.opt.Ordering.Priority(orders.Link{Score: score}))
		if !known || it.Priority-priority <= staleBelow*math.Abs(it.Priority) {
			return it, ok
		}
		c.frontier.Done(it.Host, time.Time{})
		it.Priority = priority
		c.frontier.Push(it)
	}
}
