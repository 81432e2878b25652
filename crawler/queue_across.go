package crawler

import (
	"errors"
	"fmt"

	"fossick/crawler/fetch"
	"fossick/crawler/journal"
	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/store"
)

// Part returns the part of a URL, and whether this agent may ask for it.
func (q *queue) Part(url string) (part uint16, mine bool) {
	sites := q.opt.Sites
	if sites == nil {
		return 0, true
	}
	part = sites.Part(url)
	return part, sites.Mine(part)
}

// heldPart reports whether this agent owns a URL's part, even if it must wait.
func (q *queue) heldPart(url string) bool {
	sites := q.opt.Sites
	return sites == nil || sites.Held(sites.Part(url))
}

// dispatch puts the gathered links to other agents into the outbox.
func (q *queue) dispatch(b journal.Batch, head Parcel) error {
	if q.outgoing == nil {
		return nil
	}
	return q.outgoing.dispatch(head, func(part uint16, data []byte) error {
		return store.OutboxIn(journal.Stored(b)).Put(part, q.totals.Counts(), data)
	})
}

// takeIn enters a parcel; links are its own, as this crawl scores them.
func (q *queue) takeIn(b journal.Batch, p *Parcel, links []link) error {
	for i := range p.Known {
		if err := q.know(b, &p.Known[i]); err != nil {
			return fmt.Errorf("%s, from another agent: %w", p.Known[i].URL, err)
		}
	}
	discovery := store.Discovery{Via: p.Via, Depth: p.Depth, Hops: p.Hops}
	if p.From != "" {
		var err error
		if discovery.From, err = q.teller(b, p); err != nil {
			return err
		}
	}
	q.outgoing.Onward(true)
	defer q.outgoing.Onward(false)
	from, err := q.linksFrom(b, p.From, links)
	if err != nil {
		return err
	}
	for i, f := range links {
		link := q.linkOf(f)
		if p.Via == store.ViaLink {
			link = from[i]
		}
		if s, ok := q.opt.Scorer.(Redirected); ok && p.Led != nil {
			s.Lead(page.Key(f.URL), p.Led)
		}
		discovery.Modified = f.Modified
		if _, err := q.Discover(b, discovery, f, link); err != nil {
			return fmt.Errorf("%s, from another agent: %w", f.URL, err)
		}
	}
	return q.dispatch(b, *p) // forwards links whose part has a new owner
}

// teller returns the number of a parcel's page, and enters it if it is new.
func (q *queue) teller(b journal.Batch, p *Parcel) (store.ID, error) {
	f := link{URL: p.From, Hash: store.HashURL(p.From), Skip: Reason}
	seen, err := b.Lookup(f.Hash)
	if err != nil || seen.ID != 0 {
		return seen.ID, err
	}
	return q.discoverNew(b, store.Discovery{Via: store.ViaAgent, Depth: max(0, p.Depth-1)}, f, orders.Link{})
}

// gain queues the waiting URLs of parts that this agent owns from now on.
func (q *queue) gain(gained func(part uint16) bool) error {
	for w, err := range q.journal.Waiters() {
		if err != nil {
			return err
		}
		if gained(q.opt.Sites.Part(w.URL)) {
			q.frontier.Push(item(w.ID, q.frontier.Host(page.Host(w.URL)), w.URL, w.Queued.Priority), w.Queued.Also...)
		}
	}
	return q.frontier.Err()
}

// know enters a URL from the former owner of its part. It waits or ends as it did there; a URL
// that ended here stays as it is.
func (q *queue) know(b journal.Batch, k *knownURL) error {
	h := store.HashURL(k.URL)
	if k.State == StateLost && q.opt.RefetchLost {
		k.State, k.Missing = "", true
		place := q.placed(orders.Link{Score: k.Score, Step: q.totals.lastPage(), Depth: k.Depth}, nil)
		k.Priority, k.Also = place.Priority, place.Also
	}
	discovery := store.Discovery{URL: k.URL, Via: k.Via, Depth: k.Depth, Hops: k.Hops, At: q.opt.Now().UnixMilli()}
	place := store.Queued{Priority: k.Priority, Also: k.Also, Score: k.Score, Visits: k.Visits}
	if k.Missing {
		place.Visits = max(k.Visits, 1)
		place.Excused = place.Visits
	}
	outcome := outcomeFrom(k, discovery.At)
	seen, err := b.Lookup(h)
	switch {
	case err != nil:
		return err
	case seen.ID == 0:
		id := q.totals.discovered()
		if err := b.Discover(h, id, discovery, false); err != nil {
			return err
		}
		if k.State != "" {
			q.totals.Ended(outcome.State)
			return b.End(id, outcome)
		}
		return b.Queue(id, q.placeOf(id, k.URL, place))
	case seen.Skipped:
		q.totals.wanted()
		if err := b.Rediscover(seen.ID, discovery); err != nil {
			return err
		}
		if err := b.Requeue(h, seen.ID, place); err != nil {
			return err
		}
		if k.State != "" {
			q.totals.Ended(outcome.State)
			return b.End(seen.ID, outcome)
		}
		q.placeOf(seen.ID, k.URL, place)
		return nil
	}
	switch _, err := b.Queued(seen.ID); {
	case errors.Is(err, store.ErrUnknown):
		return q.knowEnded(b, seen.ID, k, place, outcome)
	case err != nil || k.State == "":
		return err
	}
	q.totals.Ended(outcome.State)
	return b.End(seen.ID, outcome)
}

// knowEnded updates a URL that has ended here, if the former owner knows better.
func (q *queue) knowEnded(b journal.Batch, id store.ID, k *knownURL, place store.Queued, outcome store.Outcome) error {
	state, err := b.Ended(id)
	switch {
	case err != nil:
		return err
	case state == StateElsewhere && k.State == "" && k.Missing: // to be asked for again
		q.totals.reopened(state)
		return b.Requeue(store.HashURL(k.URL), id, q.placeOf(id, k.URL, place))
	case state == StateElsewhere && k.State == StateLost, state == StateLost && k.State == string(fetch.StateOK):
		q.totals.reopened(state)
		q.totals.Ended(outcome.State)
		return b.End(id, outcome)
	}
	return nil
}

// outcomeFrom is the outcome here of a URL that ended at another agent.
func outcomeFrom(k *knownURL, at int64) store.Outcome {
	f := store.Outcome{State: StateElsewhere, Reason: AskedElsewhere(k.State), At: at, Score: k.Score}
	if k.State == StateLost {
		f.State, f.Reason = StateLost, lostReason
	}
	return f
}

// lostReason is the reason of StateLost.
const lostReason = "the agent that fetched it is gone, and no other agent has a copy of its pages"

// markElsewhere leaves a lost page to another agent to report.
func (q *queue) markElsewhere(b journal.Batch, id store.ID, outcome store.Outcome) error {
	state, err := b.Ended(id)
	if err != nil || state != StateLost {
		return err
	}
	q.totals.reopened(state)
	q.totals.Ended(outcome.State)
	return b.End(id, outcome)
}

// placeOf queues a URL, and returns its place.
func (q *queue) placeOf(id store.ID, url string, place store.Queued) store.Queued {
	q.frontier.Push(item(id, q.frontier.Host(page.Host(url)), url, place.Priority), place.Also...)
	return place
}
