package member

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"fossick/crawler"
	"fossick/crawler/cluster"
	"fossick/crawler/frontier"
)

// bestLinks is how many links are looked at for what waits, at one member and at all.
const bestLinks = 1024

// survey says what waits at a member: the best link, the two best, the four best and so on.
func survey(ctx context.Context, agent *crawler.Agent) (best []cluster.Best, err error) {
	links, err := agent.Best(ctx, nil, bestLinks, crawler.LongestWait)
	parties := map[frontier.Host]struct{}{}
	for i, w := range links {
		parties[w.Party] = struct{}{}
		if n := i + 1; n&i == 0 || n == len(links) {
			best = append(best, cluster.Best{Links: n, Parties: len(parties), Priority: w.Priority})
		}
	}
	return best, err
}

// worth finds the price below which no member takes a link, as one crawl does that has all
// that waits (docs/frontier.md). The coordinator asks.
type worth struct {
	keeper *crawler.Keeper
	most   int64     // pages of the crawl; 0: no end
	pages  int64     // the last time
	moved  time.Time // when these became more
}

// price is cluster.Options.Price.
func (w *worth) price(all []cluster.Report) float64 {
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

// unfold appends links such as a survey has seen: priorities between two that it names lie
// evenly between them. Parties are numbered from first.
func unfold(dst []frontier.Waiting, best []cluster.Best, first frontier.Host) []frontier.Waiting {
	had := cluster.Best{}
	for _, b := range best {
		if n := b.Links - had.Links; n > 0 && b.Links <= bestLinks && b.Parties >= had.Parties {
			if had.Links == 0 {
				had.Priority = b.Priority
			}
			for i := 1; i <= n; i++ {
				party := min(had.Parties+i, max(1, b.Parties))
				dst = append(dst, frontier.Waiting{Priority: between(had.Priority, b.Priority, float64(i)/float64(n)), Party: first + frontier.Host(party)})
			}
			had = b
		}
	}
	return dst
}

// between is the priority at a share of the way from one to another, both of any size.
func between(from, to, share float64) float64 {
	if x := (1-share)*from + share*to; !math.IsNaN(x) {
		return x
	}
	return to // of infinite ones no part can be told
}
