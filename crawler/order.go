package crawler

import (
	"math"
	"slices"

	"fossick/crawler/frontier"
	"fossick/crawler/journal"
	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/store"
)

// A URL has a priority in each order of the frontier: one, or as many as a mix has parts.

// in returns a place's priority in an order; false where the record has none, as that of
// a crawl which was ordered otherwise before.
func in(place *store.Queued, order int) (priority float64, ok bool) {
	switch {
	case order == 0:
		return place.Priority, true
	case order <= len(place.Also):
		return place.Also[order-1], true
	}
	return place.Priority, false
}

// placed returns the priorities that a link gives its target. was is the target's place
// if it waits.
func (q *queue) placed(link orders.Link, was *store.Queued) (place store.Queued) {
	for i, o := range q.orders {
		link.Queued = false
		if was != nil {
			link.Old, link.Queued = in(was, i)
		}
		if priority := o.Priority(link); i == 0 {
			place.Priority = priority
		} else {
			place.Also = append(place.Also, priority)
		}
	}
	return place
}

// push queues a URL at a place that the journal has.
func (q *queue) push(id store.ID, host frontier.Host, url string, place store.Queued) {
	key := page.Key(url)
	var also []float64
	for i := 1; i < len(q.orders); i++ {
		priority, _ := in(&place, i)
		also = append(also, q.lowered(i, key, priority))
	}
	q.frontier.Push(item(id, host, url, q.Lowered(key, place.Priority)), also...)
}

// replace gives a URL that waits another place in the frontier, and says whether that is
// worth a record, and whether the link is one to name in it.
func (q *queue) replace(id store.ID, f link, was, now *store.Queued) (moved, better bool) {
	host, key := q.frontier.Host(page.Host(f.URL)), page.Key(f.URL)
	for i := range q.orders {
		old, _ := in(was, i)
		priority, _ := in(now, i)
		it := item(id, host, f.URL, q.lowered(i, key, priority))
		switch order, rescores := q.frontier.Order(i), q.rescores(i); {
		case rescores && !order.Spilled():
			order.Set(it) // which may not have the priority that was journalled
		case rescores || priority > old:
			order.Raise(it) // what is on disk falls only when all is rescored
		case priority < old:
			order.Set(it)
		}
		if q.moved(i, *was, old, priority, f.Score) {
			moved, better = true, better || i == q.scored
		}
	}
	_, scored := orders.Scored(q.opt.Ordering)
	return moved, better || !scored
}

// rank tells an ordering that is Ranked how the targets of a page's links stand.
func (q *queue) rank(b journal.Batch, found []link, links []orders.Link) error {
	order := slices.IndexFunc(q.orders, orders.Ranked)
	if order < 0 {
		return nil
	}
	old := make([]float64, len(found))
	var all []float64
	for i, f := range found {
		old[i] = math.Inf(-1)
		seen, err := b.Lookup(f.Hash)
		if err != nil {
			return err
		}
		if seen.ID == 0 || !q.frontier.Queued(frontier.ID(seen.ID)) {
			continue
		}
		place, err := b.Queued(seen.ID)
		if err != nil {
			continue // it has ended
		}
		old[i], _ = in(&place, order)
		all = append(all, old[i])
	}
	slices.Sort(all)
	all = slices.Compact(all)
	for i := range links {
		if at, waits := slices.BinarySearch(all, old[i]); waits {
			links[i].Rank = 1 + at
		}
	}
	return nil
}
