package crawler

import (
	"math"
	"time"

	"fossick/crawler/frontier"
	"fossick/internal/page"
	"fossick/store"
)

// PatienceOptions say how a crawl waits.
type PatienceOptions struct {
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
	Took     time.Duration // the exchange alone; 0: not known
	Workers  int
	Limited  bool          // in time
	Time     time.Duration // left, where that is limited
}

// What was rejected: docs/frontier.md.
const (
	// windowShare is the share of the pages left that the best links of today will surely
	// be bought with. The others will go to links that are not found yet.
	windowShare = 1. / 16
	// knownShare bounds the same by the links that are known: those of a crawl that has just
	// begun are few, and the best of them lead to better ones.
	knownShare = 1. / 64
	// patienceAlike is the loss of a page, as a share of the harvest, that is not worth a wait.
	patienceAlike = 0.1
	// worthy is the share of the price from which on a link counts as good.
	worthy = 0.5
	// leastWindow is the window of the last pages: for the very best, all would wait in turn.
	leastWindow = 4
	// poor is the share of the harvest below which the best link is not worth a wait.
	poor = 0.35
	// surveyed is how many of the best links are looked at, and surveyedMost where these are
	// all good and at fewer parties than the workers can keep busy.
	surveyed     = 1024
	surveyedMost = 16 * surveyed
)

// Keeper finds out prices. It belongs to one goroutine.
type Keeper struct {
	opt     PatienceOptions
	wide    int // links that the last survey looked at
	best    []frontier.Waiting
	parties map[frontier.Host]struct{}
}

// NewPatience returns a keeper of prices.
func NewPatience(opt PatienceOptions) *Keeper {
	return &Keeper{opt: opt, wide: surveyed, parties: map[frontier.Host]struct{}{}}
}

// holds is for how many times as many requests as usual the last price is good. It is more
// where more links were looked at: these are of many parties, and looking takes its time.
func (k *Keeper) holds() int {
	if k.wide == surveyed {
		return 1
	}
	return 2 * k.wide / surveyed
}

// Price returns the priority that a link needs to be taken now. survey appends the n best
// links that wait, the best first. It is the bid price of revenue management (Talluri and
// van Ryzin 2004, 2.1): what the last page will buy that the budget has for today's links.
func (k *Keeper) Price(b Budget, survey func(dst []frontier.Waiting, n int) []frontier.Waiting) float64 {
	k.best = survey(k.best[:0], k.wide)
	known := min(len(k.best), surveyed)
	window := int(max(leastWindow, min(windowShare*float64(b.Pages), knownShare*float64(known))))
	if len(k.best) <= window {
		return math.Inf(-1)
	}
	price, good, able := k.best[window].Priority, math.Inf(-1), 0.
	if k.opt.Chances {
		// A forager leaves a patch when it brings less than others do in the mean (Charnov
		// 1976): what nobody knows yet is worth more than the rest of what is known.
		if k.best[0].Priority < poor*b.Harvest {
			return math.Inf(-1)
		}
		good, able = worthy*price, b.able() // else the last link of all would be good
		price -= patienceAlike * b.Harvest
	}
	return min(price, k.pace(good, able, survey), k.inTime(&b))
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

// able is how many parties the workers can keep busy; 0 where that is not known.
func (b *Budget) able() float64 {
	if b.Took <= 0 {
		return 0
	}
	return float64(b.Workers) * float64(b.Cycle) / float64(b.Took)
}

// pace is the price at which one in Factor of the parties that have good links, and that the
// workers are able to keep busy, has one to take. As all rest alike, a crawl is then about so
// many times slower than one that takes whatever is free, and not more. Where the links that
// were looked at are good to the last, and of too few parties, it looks at more.
func (k *Keeper) pace(good, able float64, survey func(dst []frontier.Waiting, n int) []frontier.Waiting) float64 {
	parties, links := k.good(good, able)
	for links == k.wide && float64(parties) < able && k.wide < surveyedMost {
		k.wide *= 2
		k.best = survey(k.best[:0], k.wide)
		parties, links = k.good(good, able)
	}
	if links < k.wide/4 {
		k.wide = max(surveyed, k.wide/2)
	}
	return k.busy(float64(parties) / k.opt.Factor)
}

// good counts the parties of good links, the best links first, and these links; until there
// are as many parties as the workers are able to keep busy, if that is known.
func (k *Keeper) good(least, able float64) (parties, links int) {
	clear(k.parties)
	for _, w := range k.best {
		if w.Priority < least || able > 0 && float64(len(k.parties)) >= able {
			break
		}
		k.parties[w.Party] = struct{}{}
		links++
	}
	return len(k.parties), links
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

// remembered is how many links Waits remembers at least, in half a megabyte.
const remembered = 1 << 12

// noticed is the shortest wait that is told of: a host that is free in a moment delays nobody.
const noticed = 100 * time.Millisecond

// waits remembers how a crawl waits, and which links had part in it. It belongs to one
// goroutine.
type waits struct {
	since time.Time     // a free worker waits; zero while none does
	price float64       // that it found too high
	free  float64       // what the best link that was free then promised
	held  time.Duration // waited before
	links page.Recent[store.Wait]
}

// newWaits returns those of a crawl that has not waited yet.
func newWaits() *waits { return &waits{links: page.NewRecent[store.Wait](remembered)} }

// refused takes note that a link is free, the best of those, and that a worker waits all the
// same. best says for what, and is asked at a link's first refusal.
func (w *waits) refused(now time.Time, it frontier.Item, price float64, best func(price float64) (float64, int)) {
	if w.since.IsZero() {
		w.since = now
	}
	w.price, w.free = price, it.Priority
	if _, again := w.links.Get(it.Key); again {
		return
	}
	wait := store.Wait{Since: now.UnixMilli(), Refused: true, Price: price, Free: it.Priority}
	wait.Best, wait.Hosts = best(price)
	w.links.Put(it.Key, wait)
}

// taken takes note that no worker waits now, since this link was taken. One that is below
// the price is not what was waited for.
func (w *waits) taken(now time.Time, it frontier.Item) {
	since := w.since
	if since.IsZero() {
		return
	}
	w.held += now.Sub(since)
	w.since = time.Time{}
	if _, refused := w.links.Peek(it.Key); !refused && it.ID != 0 && it.Priority >= w.price {
		w.links.Put(it.Key, store.Wait{
			Since: since.UnixMilli(), Millis: now.Sub(since).Milliseconds(), Price: w.price, Best: it.Priority, Free: w.free,
		})
	}
}

// of tells what part a link has had in waits by now; nil is none, or none any more.
func (w *waits) of(key uint64, now time.Time) *store.Wait {
	wait, ok := w.links.Peek(key)
	if !ok {
		return nil
	}
	if wait.Refused {
		wait.Millis = now.UnixMilli() - wait.Since
	}
	if wait.Millis < noticed.Milliseconds() {
		return nil
	}
	return &wait
}

// End is Of for a link that is being asked for, and forgets it.
func (w *waits) End(key uint64, now time.Time) *store.Wait {
	wait := w.of(key, now)
	w.links.Remove(key)
	return wait
}

// now says whether a free worker waits, the priority of what it might have, and how long
// workers have waited in all.
func (w *waits) now(now time.Time) (waits bool, free float64, held time.Duration) {
	if w.since.IsZero() {
		return false, w.free, w.held
	}
	return true, w.free, w.held + now.Sub(w.since)
}
