package member

import (
	"context"
	"math"
	"time"

	"fossick/crawler"
	"fossick/crawler/cluster"
	"fossick/crawler/frontier"
)

// pace is how long an exchange takes.
type pace struct {
	busy     float64 // seconds of workers
	requests float64
}

// paceOver is about over how many requests the pace is told.
const paceOver = 1000

// saw takes in how the crawl stood for a while.
func (p *pace) saw(before, after *crawler.Load, d time.Duration) {
	p.busy += float64(before.Busy+after.Busy) / 2 * d.Seconds()
	p.requests += float64(after.Counts.Requests - before.Counts.Requests)
	if p.requests > paceOver {
		p.busy, p.requests = p.busy/2, p.requests/2
	}
}

// perSecond returns how many requests a second so many workers make that have something to
// do; 0 while nobody knows.
func (p *pace) perSecond(workers int) float64 {
	if p.requests < 1 || p.busy <= 0 {
		return 0
	}
	return float64(workers) * p.requests / p.busy
}

// Of the links that may be taken within a lease: how many are looked at, and how often.
const (
	leastAhead = 64
	mostAhead  = 8192
	aheadEvery = time.Second
	aheadShare = 4 // as many for one that its party's rests allow
)

// ahead is the links that may be taken within a lease, the best first, and what waits besides.
type ahead struct {
	links  []float64
	best   []cluster.Best
	looked time.Time
}

// look looks at the queue anew when it was not looked at for a while. Of a party it counts no
// more links than its rests, of some length, allow.
func (a ahead) look(ctx context.Context, agent *crawler.Agent, perSecond float64, lease, rest time.Duration) (seen ahead, err error) {
	if time.Since(a.looked) < aheadEvery {
		return a, nil
	}
	seen.looked = time.Now()
	n := int(max(leastAhead, min(mostAhead, 2*perSecond*lease.Seconds())))
	best, err := agent.Best(ctx, nil, aheadShare*n, lease)
	each := 1 + int(lease/max(rest, time.Millisecond))
	of := map[frontier.Host]int{}
	for _, w := range best {
		if of[w.Party]++; of[w.Party] <= each && len(seen.links) < n {
			seen.links = append(seen.links, w.Priority)
		}
	}
	if err == nil {
		seen.best, err = survey(ctx, agent)
	}
	return seen, err
}

// head returns some of the links, evenly, and how many each of them stands for.
func (a *ahead) head() (head []float64, each float64) {
	step := max(1, (len(a.links)+headLinks-1)/headLinks)
	for i := step - 1; i < len(a.links); i += step {
		head = append(head, a.links[i])
	}
	if len(head) == 0 && len(a.links) > 0 {
		head, step = a.links[:1], len(a.links)
	}
	return head, math.Max(1, float64(step))
}
