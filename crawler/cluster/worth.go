package cluster

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"fossick/crawler"
	"fossick/crawler/frontier"
)

// pace measures the time of a fetch, over about the last paceOver requests.
type pace struct {
	busy     float64 // in seconds, summed over workers
	requests float64
}

const paceOver = 1000

func (p *pace) saw(before, after *crawler.Load, d time.Duration) {
	p.busy += float64(before.Busy+after.Busy) / 2 * d.Seconds()
	p.requests += float64(after.Counts.Requests - before.Counts.Requests)
	if p.requests > paceOver {
		p.busy, p.requests = p.busy/2, p.requests/2
	}
}

// perSecond returns the requests a second of so many busy workers; 0 while not known.
func (p *pace) perSecond(workers int) float64 {
	if p.requests < 1 || p.busy <= 0 {
		return 0
	}
	return float64(workers) * p.requests / p.busy
}

const (
	leastAhead = 64 // bounds of the links examined for one lease
	mostAhead  = 8192
	aheadEvery = time.Second
	aheadShare = 4 // links examined for each link wanted, as some parties must rest

	bestLinks = 1024 // examined for Best, by one member and by the coordinator
)

// ahead holds the best links that can be fetched within a lease, and a survey of all.
type ahead struct {
	links  []float64
	best   []surveyPoint
	looked time.Time
}

// look surveys the queue if due. It counts no more links of a party than its rests allow in a
// lease.
func (a ahead) look(ctx context.Context, agent *crawler.Agent, perSecond float64, lease, rest time.Duration) (seen ahead, err error) {
	if time.Since(a.looked) < aheadEvery {
		return a, nil
	}
	seen.looked = time.Now()
	n := int(max(leastAhead, min(mostAhead, 2*perSecond*lease.Seconds())))
	best, err := agent.Best(ctx, nil, aheadShare*n, lease)
	if err != nil {
		return seen, err
	}
	each := 1 + int(lease/max(rest, time.Millisecond))
	of := map[frontier.Host]int{}
	for _, w := range best {
		if of[w.Party]++; of[w.Party] <= each && len(seen.links) < n {
			seen.links = append(seen.links, w.Priority)
		}
	}
	links, err := agent.Best(ctx, nil, bestLinks, crawler.LongestWait)
	seen.best = survey(links)
	return seen, err
}

// survey samples waiting links, best first: the best 1, 2, 4, 8 and so on, and all.
func survey(links []frontier.Waiting) (best []surveyPoint) {
	parties := map[frontier.Host]struct{}{}
	for i, w := range links {
		parties[w.Party] = struct{}{}
		if n := i + 1; n&i == 0 || n == len(links) {
			best = append(best, surveyPoint{Links: n, Parties: len(parties), Priority: w.Priority})
		}
	}
	return best
}

// head returns an even sample of the links, and how many links each stands for.
func (a *ahead) head() (head []float64, each float64) {
	step := max(1, (len(a.links)+mostHead-1)/mostHead)
	for i := step - 1; i < len(a.links); i += step {
		head = append(head, a.links[i])
	}
	if len(head) == 0 && len(a.links) > 0 {
		head, step = a.links[:1], len(a.links)
	}
	return head, float64(step)
}

// worth finds the price below which no member takes a link, as one crawl with all links would
// (docs/frontier.md).
type worth struct {
	keeper *crawler.Keeper
	most   int64 // page limit of the crawl; 0: none
	pages  int64
	moved  time.Time // when the number of pages last changed
}

func (w *worth) price(all []report) float64 {
	var pages, relevant int64
	var links []frontier.Waiting
	for i, r := range all {
		pages, relevant = pages+r.Pages, relevant+r.Relevant
		links = unfold(links, r.Best, frontier.Host(i)<<32)
	}
	now := time.Now()
	if pages != w.pages || w.moved.IsZero() {
		w.pages, w.moved = pages, now
	}
	if now.Sub(w.moved) >= crawler.LongestWait {
		return math.Inf(-1) // waiting gains nothing
	}
	slices.SortStableFunc(links, func(a, b frontier.Waiting) int { return cmp.Compare(b.Priority, a.Priority) })
	b := crawler.Budget{Pages: math.MaxInt32, Harvest: float64(relevant) / float64(max(1, pages))}
	if w.most > 0 {
		b.Pages = int(max(0, min(w.most-pages, math.MaxInt32)))
	}
	return w.keeper.Price(b, func(dst []frontier.Waiting, n int) []frontier.Waiting {
		return append(dst, links[:min(n, len(links))]...)
	})
}

// unfold appends the links that a survey describes, with interpolated priorities.
func unfold(dst []frontier.Waiting, best []surveyPoint, first frontier.Host) []frontier.Waiting {
	had := surveyPoint{}
	for _, b := range best {
		n := b.Links - had.Links
		if n <= 0 || b.Links > bestLinks || b.Parties < had.Parties {
			continue
		}
		if had.Links == 0 {
			had.Priority = b.Priority
		}
		for i := 1; i <= n; i++ {
			party := min(had.Parties+i, max(1, b.Parties))
			dst = append(dst, frontier.Waiting{Priority: between(had.Priority, b.Priority, float64(i)/float64(n)), Party: first + frontier.Host(party)})
		}
		had = b
	}
	return dst
}

func between(from, to, share float64) float64 {
	if x := (1-share)*from + share*to; !math.IsNaN(x) {
		return x
	}
	return to // infinite priorities cannot be interpolated
}
