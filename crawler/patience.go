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
	// Factor is how many times as long a crawl may take for better pages.
	Factor float64
	// Chances says that priorities are probabilities; otherwise only their order counts.
	Chances bool
}

// Budget is what a crawl has left to spend, and its yield so far.
type Budget struct {
	Pages    int           // pages left
	Harvest  float64       // harvest so far
	Requests float64       // requests per page so far
	Cycle    time.Duration // an exchange and the rest after it
	Took     time.Duration // the exchange alone; 0: not known
	Workers  int
	Limited  bool          // the time is limited
	Time     time.Duration // time left, if limited
}

// Rejected alternatives: docs/frontier.md.
const (
	// windowShare is the share of the remaining pages that goes to today's best links; the
	// others go to links not found yet.
	windowShare = 1. / 16
	// knownShare bounds the window by the known links. A new crawl knows few, and the best of
	// them lead to better ones.
	knownShare = 1. / 64
	// negligibleLoss is the loss, as a share of the harvest, that is not worth a wait.
	negligibleLoss = 0.1
	// worthy is the share of the price from which a link counts as good.
	worthy = 0.5
	// leastWindow is the smallest window; with a smaller one all workers would wait for one
	// host after another.
	leastWindow = 4
	// poor is the share of the harvest below which the best link is not worth a wait.
	poor = 0.35
	// surveyed is how many of the best links are surveyed, up to surveyedMost if these are
	// all good and at fewer parties than the workers can keep busy.
	surveyed     = 1024
	surveyedMost = 16 * surveyed
)

// Keeper sets prices. It belongs to one goroutine.
type Keeper struct {
	opt     PatienceOptions
	wide    int // links in the last survey
	best    []frontier.Waiting
	parties map[frontier.Host]struct{}
}

func NewPatience(opt PatienceOptions) *Keeper {
	return &Keeper{opt: opt, wide: surveyed, parties: map[frontier.Host]struct{}{}}
}

// holds is how many times as long as usual a price is valid; longer after a large survey,
// which takes longer.
func (k *Keeper) holds() int {
	if k.wide == surveyed {
		return 1
	}
	return 2 * k.wide / surveyed
}

// Price returns the least priority of a link that is taken now. survey appends the n best
// waiting links, best first. It is the bid price of revenue management (Talluri and van Ryzin
// 2004, 2.1): the priority of the last of today's links that the budget will buy.
func (k *Keeper) Price(b Budget, survey func(dst []frontier.Waiting, n int) []frontier.Waiting) float64 {
	k.best = survey(k.best[:0], k.wide)
	known := min(len(k.best), surveyed)
	window := int(max(leastWindow, min(windowShare*float64(b.Pages), knownShare*float64(known))))
	if len(k.best) <= window {
		return math.Inf(-1)
	}
	price, good, able := k.best[window].Priority, math.Inf(-1), 0.
	if k.opt.Chances {
		// A forager leaves a patch that yields less than the mean of all (Charnov 1976):
		// links not found yet are worth more than the known ones.
		if k.best[0].Priority < poor*b.Harvest {
			return math.Inf(-1)
		}
		good, able = worthy*price, b.able() // without chances even the last link counts as good
		price -= negligibleLoss * b.Harvest
	}
	return min(price, k.pace(good, able, survey), k.inTime(&b))
}

// Best returns the priority of the best waiting link at the last price, and how many parties
// had a link worth the price.
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

// able is how many parties the workers can keep busy; 0 if unknown.
func (b *Budget) able() float64 {
	if b.Took <= 0 {
		return 0
	}
	return float64(b.Workers) * float64(b.Cycle) / float64(b.Took)
}

// pace is the price at which one in Factor of the parties with good links, as far as the
// workers can keep them busy, has a link to take. As all rest alike, the crawl is then at most
// about Factor times slower than one that takes any free link. If all surveyed links are good
// and their parties too few, it surveys more.
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

// good counts the parties of good links and these links, until the workers cannot keep more
// parties busy.
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

// inTime is the price at which enough parties have a link to take for all pages to be fetched
// in the time left.
func (k *Keeper) inTime(b *Budget) float64 {
	switch {
	case !b.Limited:
		return math.Inf(1)
	case b.Time <= 0:
		return math.Inf(-1)
	}
	return k.busy(float64(b.Pages) * b.Requests * float64(b.Cycle) / float64(b.Time))
}

// busy is the price at which so many parties have a link to take; any link if there are too
// few.
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

// remembered is how many links waits remembers at least, in half a megabyte.
const remembered = 1 << 12

// noticed is the shortest wait that is reported.
const noticed = 100 * time.Millisecond

// waits records how a crawl waits, and which links were involved. It belongs to one goroutine.
type waits struct {
	since time.Time     // when a free worker began to wait; zero if none waits
	price float64       // price at that time
	free  float64       // priority of the best free link at that time
	held  time.Duration // total of earlier waits
	links page.Recent[store.Wait]
}

func newWaits() *waits { return &waits{links: page.NewRecent[store.Wait](remembered)} }

// refused records that a worker waits although a link, the best free one, could be fetched.
// best names the link that it waits for.
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

// taken records that no worker waits now because a link was taken. A link below the price was
// not waited for.
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

// of returns a link's part in waits so far; nil if none is remembered.
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

// End is of for a link that is being asked for, and forgets it.
func (w *waits) End(key uint64, now time.Time) *store.Wait {
	wait := w.of(key, now)
	w.links.Remove(key)
	return wait
}

// now reports whether a free worker waits, the priority of its best alternative, and the total
// wait of all workers.
func (w *waits) now(now time.Time) (waits bool, free float64, held time.Duration) {
	if w.since.IsZero() {
		return false, w.free, w.held
	}
	return true, w.free, w.held + now.Sub(w.since)
}
