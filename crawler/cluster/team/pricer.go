package team

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"fossick/crawler"
	"fossick/crawler/frontier"
)

// pricer finds out below which price no agent takes a link, since better ones of any of them
// are worth a wait: as one crawl does that has all of these (docs/frontier.md).
type pricer struct {
	keeper *crawler.Keeper // nil: whatever is free is taken
	limit  time.Duration   // of the crawl; 0: none
	work   int             // exchanges at a time, of all agents
	began  time.Time

	price float64
	asked time.Time // when it was found out
	spent uint64    // pages then
	had   uint64    // pages, the last time
	moved time.Time // when these became more
	links []frontier.Waiting

	since time.Time     // when a free worker began to wait; zero: none does
	held  time.Duration // before that
}

// A price is found out anew after so many pages, or after so long.
const (
	pricePages = 4
	priceHolds = time.Second
)

// bestLinks is how many links all agents together are asked for.
const bestLinks = 1024

func newPricer(whole *crawler.Options, promises bool) pricer {
	p := pricer{limit: whole.MaxTime, work: whole.Workers, price: math.Inf(-1)}
	if factor := whole.WaitsUpTo(); factor > 1 {
		p.keeper = crawler.NewPatience(crawler.PatienceOptions{Factor: factor, Chances: promises})
	}
	return p
}

// least returns the price, with so many pages left of the budget.
func (p *pricer) least(ctx context.Context, agents []*agent, left uint64) (float64, error) {
	if p.keeper == nil {
		return p.price, nil
	}
	var sum crawler.Load
	for _, a := range agents {
		sum.Counts = sum.Counts.Plus(a.load.Counts)
		sum.Spent += a.load.Spent
		sum.Busy += a.load.Busy
		sum.Resting = sum.Resting || a.load.Resting
		sum.Cycle += a.load.Cycle / time.Duration(len(agents))
		sum.Took += a.load.Took / time.Duration(len(agents))
	}
	now := time.Now()
	if sum.Spent != p.had || p.moved.IsZero() {
		p.had, p.moved = sum.Spent, now
	}
	switch {
	case sum.Busy == 0 && !sum.Resting, now.Sub(p.moved) >= crawler.LongestWait:
		return math.Inf(-1), nil // waiting brings nothing
	case sum.Spent < p.spent+pricePages && now.Sub(p.asked) < priceHolds:
		return p.price, nil
	}
	p.asked, p.spent = now, sum.Spent
	if err := p.survey(ctx, agents); err != nil {
		return 0, err
	}
	n := &sum.Counts
	p.price = p.keeper.Price(crawler.Budget{
		Pages: int(min(left, math.MaxInt32)), Harvest: float64(n.Relevant) / float64(max(1, n.Pages)),
		Requests: float64(1+n.Requests) / float64(1+n.Pages),
		Cycle:    sum.Cycle, Took: sum.Took, Workers: p.work, Limited: p.limit > 0, Time: p.limit - now.Sub(p.began),
	}, func(dst []frontier.Waiting, most int) []frontier.Waiting {
		return append(dst, p.links[:min(most, len(p.links))]...)
	})
	return p.price, nil
}

// waits notes whether a free worker waits now, and the best that it leaves, and tells of all
// waits; nil where there are none.
func (p *pricer) waits(now bool, free float64) *crawler.Patience {
	if p.keeper == nil {
		return nil
	}
	w := &crawler.Patience{Waits: now, Price: p.price, Free: free, Held: p.held}
	w.Best, w.Hosts = p.keeper.Best(p.price)
	switch {
	case now && p.since.IsZero():
		p.since = time.Now()
	case now:
		w.Held += time.Since(p.since)
	case !p.since.IsZero():
		p.held += time.Since(p.since)
		w.Held, p.since = p.held, time.Time{}
	}
	return w
}

// survey finds the best links of all agents, the best first.
func (p *pricer) survey(ctx context.Context, agents []*agent) (err error) {
	p.links = p.links[:0]
	for i, a := range agents {
		from := len(p.links)
		if p.links, err = a.Best(ctx, p.links, bestLinks, crawler.LongestWait); err != nil {
			return err
		}
		for k := range p.links[from:] { // a party is one agent's
			w := &p.links[from+k]
			w.Party = w.Party*frontier.Host(len(agents)) + frontier.Host(i)
		}
	}
	slices.SortStableFunc(p.links, func(a, b frontier.Waiting) int { return cmp.Compare(b.Priority, a.Priority) })
	return nil
}
