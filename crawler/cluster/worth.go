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

// pace measures how long a fetch takes, over about the last paceOver requests.
type pace struct {
	busy     float64 // seconds of workers
	requests float64
}

const paceOver = 1000

// saw takes in two states of the crawl, a time apart.
func (p *pace) saw(before, after *crawler.Load, d time.Duration) {
	p.busy += float64(before.Busy+after.Busy) / 2 * d.Seconds()
	p.requests += float64(after.Counts.Requests - before.Counts.Requests)
	if p.requests > paceOver {
		p.busy, p.requests = p.busy/2, p.requests/2
	}
}

// perSecond returns how many requests a second so many workers make that always have something
// to do; 0 while it is not known.
func (p *pace) perSecond(workers int) float64 {
	if p.requests < 1 || p.busy <= 0 {
		return 0
	}
	return float64(workers) * p.requests / p.busy
}

const (
	leastAhead = 64 // links that are looked at for a lease
	mostAhead  = 8192
	aheadEvery = time.Second
	aheadShare = 4 // links looked at for each link that its party's rests allow

	bestLinks = 1024 // looked at for all that waits, at one member and at all together
)

// ahead is the links that may be taken within a lease, the best first, and a survey of all.
type ahead struct {
	links  []float64
	best   []Best
	looked time.Time
}

// look looks at the queue again if the last look is too old. Of a party it counts no more links
// than its rests, of some length, allow.
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

// survey describes waiting links: the best link, the two best, the four best and so on.
func survey(links []frontier.Waiting) (best []Best) {
	parties := map[frontier.Host]struct{}{}
	for i, w := range links {
		parties[w.Party] = struct{}{}
		if n := i + 1; n&i == 0 || n == len(links) {
			best = append(best, Best{Links: n, Parties: len(parties), Priority: w.Priority})
		}
	}
	return best
}

// head returns some of the links, evenly, and how many each of them stands for.
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

// worth finds the price below which no member takes a link, as one crawl does that has all
// waiting links (docs/frontier.md). The coordinator asks.
type worth struct {
	keeper *crawler.Keeper
	most   int64     // pages of the crawl; 0: no end
	pages  int64     // the last time
	moved  time.Time // when their number last rose
}

// price is Protocol.price.
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
		return math.Inf(-1) // waiting brings nothing
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

// unfold appends links such as a survey describes: priorities between two that it names lie
// evenly between them. Parties are numbered from first.
func unfold(dst []frontier.Waiting, best []Best, first frontier.Host) []frontier.Waiting {
	had := Best{}
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

// between returns the priority at a share of the way from one to another.
func between(from, to, share float64) float64 {
	if x := (1-share)*from + share*to; !math.IsNaN(x) {
		return x
	}
	return to // there is no share of infinite priorities
}
