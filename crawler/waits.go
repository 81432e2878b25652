package crawler

import (
	"time"

	"fossick/crawler/frontier"
	"fossick/internal/recent"
	"fossick/store"
)

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
	links recent.Map[store.Wait]
}

// newWaits returns those of a crawl that has not waited yet.
func newWaits() *waits { return &waits{links: recent.New[store.Wait](remembered)} }

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
