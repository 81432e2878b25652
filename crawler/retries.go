package crawler

import (
	"fossick/crawler/frontier"
	"fossick/crawler/hosts"
	"fossick/internal/page"
	"fossick/store"
)

// A URL whose exchange failed waits behind others that are worth as much: its priority is
// lowered by the chance that another try succeeds. That holds in the frontier alone. The
// journal keeps what the page is worth, and the chance is made anew when a crawl is resumed.

// Lowered is the priority in the frontier's first order of a URL, by its page.Key, that
// is worth one.
func (q *queue) Lowered(key uint64, priority float64) float64 { return q.lowered(0, key, priority) }

func (q *queue) lowered(order int, key uint64, priority float64) float64 {
	return hosts.Lower(q.orders[order], priority, q.chances.Of(key))
}

// raised is what a URL is worth that has a priority in an order of the frontier.
func (q *queue) raised(order int, key uint64, priority float64) float64 {
	return hosts.Raise(q.orders[order], priority, q.chances.Of(key))
}

// priority is what the frontier asks in the pass that goes on.
func (q *queue) priority() func(key uint64, was float64) (now float64, known bool) {
	if !q.chances.Any() {
		return q.passes.Priority
	}
	return func(key uint64, was float64) (float64, bool) {
		now, known := q.passes.Priority(key, q.raised(q.scored, key, was))
		return q.lowered(q.scored, key, now), known
	}
}

// recall has a URL wait that failed in an earlier session.
func (q *queue) recall(w *store.Waiter) error {
	if q.opt.Store == nil {
		return nil
	}
	visits, err := store.VisitsOf(q.opt.Store, w.ID)
	if err != nil {
		return err
	}
	q.chances.Waits(w.URL, visits, q.opt.Now())
	return nil
}

// forgive gives a URL that waits for another try the place back that it had: its failure
// was nobody's.
func (q *queue) forgive(m hosts.Miss, place store.Queued) {
	key := page.Key(m.URL)
	if q.chances.Of(key) == 1 {
		return
	}
	q.chances.Pardon(key)
	if q.frontier.Queued(frontier.ID(m.ID)) {
		q.frontier.Push(item(m.ID, q.frontier.Host(m.Host), m.URL, place.Priority), place.Also...)
	}
}
