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

// in returns a place's priority in one of the frontier's orders; false if the record has none
// because the crawl had another ordering before.
func in(place *store.Queued, order int) (priority float64, ok bool) {
	switch {
	case order == 0:
		return place.Priority, true
	case order <= len(place.Also):
		return place.Also[order-1], true
	}
	return place.Priority, false
}

// placed returns the priorities that a link gives its target. was is the target's place if it
// waits.
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

// push queues a URL at its place from the journal.
func (q *queue) push(id store.ID, host frontier.Host, url string, place store.Queued) {
	key := page.Key(url)
	var also []float64
	for i := 1; i < len(q.orders); i++ {
		priority, _ := in(&place, i)
		also = append(also, q.lowered(i, key, priority))
	}
	q.frontier.Push(item(id, host, url, q.Lowered(key, place.Priority)), also...)
}

// replace gives a waiting URL another place in the frontier. It reports whether the journal
// should record that, and whether the link is better than the recorded one.
func (q *queue) replace(id store.ID, f link, was, now *store.Queued) (moved, better bool) {
	host, key := q.frontier.Host(page.Host(f.URL)), page.Key(f.URL)
	for i := range q.orders {
		old, _ := in(was, i)
		priority, _ := in(now, i)
		it := item(id, host, f.URL, q.lowered(i, key, priority))
		switch order, rescores := q.frontier.Order(i), q.rescores(i); {
		case rescores && !order.Spilled():
			order.Set(it) // its priority may differ from the journalled one
		case rescores || priority > old:
			order.Raise(it) // priorities on disk fall only in a pass over all
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

// rank sets the Rank of links for an ordering that needs it.
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
