package patience

import (
	"math"
	"time"

	"fossick/frontier"
)

// Options say how a crawl waits.
type Options struct {
	// Factor is how many times as long a crawl may take for better pages, where many hosts
	// have good links.
	Factor float64
	// Chances says that priorities are probabilities. Else only their order counts.
	Chances bool
}

// Budget is what is left to spend, and what was got for what is spent.
type Budget struct {
	Pages    int           // left
	Harvest  float64       // of all pages so far
	Requests float64       // for a page, so far
	Cycle    time.Duration // of a party: an exchange and the rest after it
	Limited  bool          // in time
	Time     time.Duration // left, where that is limited
}

// What was tried: docs/patience.md.
const (
	// windowShare is the share of the pages left that the best links of today will surely
	// be bought with. The others will go to links that are not found yet.
	windowShare = 1. / 16
	// knownShare bounds the same by the links that are known: those of a crawl that has just
	// begun are few, and the best of them lead to better ones.
	knownShare = 1. / 64
	// alike is the loss of a page, as a share of the harvest, that is not worth a wait.
	alike = 0.1
	// worthy is the share of the price from which on a link counts as good.
	worthy = 0.5
	// leastWindow is the window of the last pages: for the very best, all would wait in turn.
	leastWindow = 4
	// poor is the share of the harvest below which the best link is not worth a wait.
	poor = 0.35
	// surveyed is how many of the best links are looked at.
	surveyed = 1024
)

// Keeper finds out prices. It belongs to one goroutine.
type Keeper struct {
	opt     Options
	best    []frontier.Waiting
	parties map[frontier.Host]struct{}
}

// New returns a keeper of prices.
func New(opt Options) *Keeper { return &Keeper{opt: opt, parties: map[frontier.Host]struct{}{}} }

// Price returns the priority that a link needs to be taken now. survey appends the n best
// links that wait, the best first. It is the bid price of revenue management (Talluri and
// van Ryzin 2004, 2.1): what the last page will buy that the budget has for today's links.
func (k *Keeper) Price(b Budget, survey func(dst []frontier.Waiting, n int) []frontier.Waiting) float64 {
	k.best = survey(k.best[:0], surveyed)
	window := int(max(leastWindow, min(windowShare*float64(b.Pages), knownShare*float64(len(k.best)))))
	if len(k.best) <= window {
		return math.Inf(-1)
	}
	price, good := k.best[window].Priority, math.Inf(-1)
	if k.opt.Chances {
		// A forager leaves a patch when it brings less than others do in the mean (Charnov
		// 1976): what nobody knows yet is worth more than the rest of what is known.
		if k.best[0].Priority < poor*b.Harvest {
			return math.Inf(-1)
		}
		good = worthy * price
		price -= alike * b.Harvest
	}
	return min(price, k.pace(good), k.inTime(&b))
}

// Best is the priority of the best link that waited at the last price, and how many parties
// had one that was worth it.
func (k *Keeper) Best(price float64) (best float64, parties int) {
	clear(k.parties)
	for _, w := range k.best {
		if w.Priority < price {
			break
		}
		k.parties[w.Party] = struct{}{}
		best = k.best[0].Priority
	}
	return best, len(k.parties)
}

// pace is the price at which one in Factor of the parties that have good links has one to
// take. As all rest alike, a crawl is then about so many times slower than one that takes
// whatever is free, and not more.
func (k *Keeper) pace(good float64) float64 {
	clear(k.parties)
	for _, w := range k.best {
		if w.Priority < good {
			break
		}
		k.parties[w.Party] = struct{}{}
	}
	return k.busy(float64(len(k.parties)) / k.opt.Factor)
}

// inTime is the price at which enough parties have a link to take. So many must be busy for
// all pages to be fetched in the time that is left.
func (k *Keeper) inTime(b *Budget) float64 {
	switch {
	case !b.Limited:
		return math.Inf(1)
	case b.Time <= 0:
		return math.Inf(-1)
	}
	return k.busy(float64(b.Pages) * b.Requests * float64(b.Cycle) / float64(b.Time))
}

// busy is the price at which so many parties have a link to take; any, where there are not so
// many.
func (k *Keeper) busy(parties float64) float64 {
	clear(k.parties)
	for _, w := range k.best {
		k.parties[w.Party] = struct{}{}
		if float64(len(k.parties)) >= parties {
			return w.Priority
		}
	}
	return math.Inf(-1)
}
