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
	Pages   int           // left
	Fetched int           // in this session
	Harvest float64       // of all pages so far
	Elapsed time.Duration // of this session
	Whole   time.Duration // of this session; 0 for no limit
}

// What was tried: docs/patience.md. The first two on Biology in wikispeedia and on webkb,
// leastWindow on Birds, a sub-topic of Biology.
const (
	// windowShare is the share of the pages left that the best links of today will surely
	// be bought with. The others will go to links that are not found yet.
	windowShare = 1. / 16
	// alike is the loss of a page, as a share of the harvest, that is not worth a wait.
	alike = 0.1
	// worthy is the share of the price from which on a link counts as good.
	worthy = 0.5
	// leastWindow is the window of the last pages: for the very best, all would wait in turn.
	leastWindow = 4
	// haste is how often the window is doubled where nothing of what is due is fetched.
	haste = 16
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
	window := b.window()
	if float64(len(k.best)) <= window {
		return math.Inf(-1)
	}
	price, good := k.best[int(window)].Priority, math.Inf(-1)
	if k.opt.Chances {
		good = worthy * price
		price -= alike * b.Harvest
	}
	return min(price, k.pace(good))
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

// window is how many of the best links may be taken in any order. A crawl whose time will
// be over before its pages are fetched is late, and has a wider one.
func (b *Budget) window() float64 {
	window := max(leastWindow, windowShare*float64(b.Pages))
	if b.Whole <= 0 {
		return window
	}
	due := float64(b.Fetched+b.Pages) * float64(b.Elapsed) / float64(b.Whole)
	if due < 1 {
		return window
	}
	return window * math.Exp2(haste*max(0, 1-float64(b.Fetched)/due))
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
	left := int(math.Ceil(float64(len(k.parties)) / k.opt.Factor))
	for _, w := range k.best {
		if _, first := k.parties[w.Party]; !first {
			continue
		}
		delete(k.parties, w.Party)
		if left--; left <= 0 {
			return w.Priority
		}
	}
	return k.best[0].Priority
}
