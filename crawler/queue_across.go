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

// Part returns the part of the web that a URL is in, and whether it may be asked for here.
func (q *queue) Part(url string) (part uint16, mine bool) {
	sites := q.opt.Sites
	if sites == nil {
		return 0, true
	}
	part = sites.Part(url)
	return part, sites.Mine(part)
}

// heardPages says that the scorer has learned from so many pages of other agents. It is safe for
// concurrent use.
func (q *queue) heardPages(pages uint64) { q.passes.Heard(pages) }

// heldPart says whether a URL is in a part that is this agent's, though it may have to wait.
func (q *queue) heldPart(url string) bool {
	sites := q.opt.Sites
	return sites == nil || sites.Held(sites.Part(url))
}

// dispatch puts what goes across of a page or redirect into the outbox.
func dispatch(q *queue, b journal.Batch, head Parcel) error {
	if q.post == nil {
		return nil
	}
	return q.post.dispatch(head, func(part uint16, data []byte) error {
		return store.OutboxIn(journal.Stored(b)).Put(part, q.totals.Counts(), data)
	})
}

// listSeeds puts what goes across of a sitemap into the outbox.
func (q *queue) listSeeds(b journal.Batch, depth int) error {
	return dispatch(q, b, Parcel{Via: store.ViaAgent, Depth: depth})
}

// takeIn enters what a parcel tells of: links are its own, as this crawl rates them.
func (q *queue) takeIn(b journal.Batch, p *Parcel, links []link) error {
	for i := range p.Known {
		if err := q.know(b, &p.Known[i]); err != nil {
			return fmt.Errorf("%s, of another agent: %w", p.Known[i].URL, err)
		}
	}
	birth := store.Birth{Via: p.Via, Depth: p.Depth, Hops: p.Hops}
	if p.From != "" {
		var err error
		if birth.From, err = q.teller(b, p); err != nil {
			return err
		}
	}
	q.post.Onward(true)
	defer q.post.Onward(false)
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
		birth.Modified = f.Modified
		if _, err := q.Discover(b, birth, f, link); err != nil {
			return fmt.Errorf("%s, of another agent: %w", f.URL, err)
		}
	}
	return dispatch(q, b, *p) // what has changed hands meanwhile goes on
}

// teller returns the number of the URL that a parcel is from, known here from then on.
func (q *queue) teller(b journal.Batch, p *Parcel) (store.ID, error) {
	f := link{URL: p.From, Hash: store.HashURL(p.From), Skip: Reason}
	seen, err := b.Lookup(f.Hash)
	if err != nil || seen.ID != 0 {
		return seen.ID, err
	}
	return q.discoverNew(b, store.Birth{Via: store.ViaAgent, Depth: max(0, p.Depth-1)}, f, orders.Link{})
}

// gain queues what waits of parts that are this agent's from now on.
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

// know enters a URL that the agent knew which had its part before. What ended there ends
// here, what waited there waits here; what is stored here is left as it is.
func (q *queue) know(b journal.Batch, k *acrossKnown) error {
	h := store.HashURL(k.URL)
	if k.State == StateLost && q.opt.RefetchLost {
		k.State, k.Missing = "", true
		place := q.placed(orders.Link{Score: k.Score, Step: q.totals.lastPage(), Depth: k.Depth}, nil)
		k.Priority, k.Also = place.Priority, place.Also
	}
	birth := store.Birth{URL: k.URL, Via: k.Via, Depth: k.Depth, Hops: k.Hops, At: q.opt.Now().UnixMilli()}
	place := store.Queued{Priority: k.Priority, Also: k.Also, Score: k.Score, Visits: k.Visits}
	fate := fateOf(k, birth.At)
	seen, err := b.Lookup(h)
	switch {
	case err != nil:
		return err
	case seen.ID == 0:
		id := q.totals.discovered()
		if err := b.Discover(h, id, birth, false); err != nil {
			return err
		}
		if k.State != "" {
			q.totals.Ended(fate.State)
			return b.End(id, fate)
		}
		return b.Queue(id, q.placeOf(id, k.URL, place))
	case seen.Skipped:
		q.totals.wanted()
		if err := b.Rediscover(seen.ID, birth); err != nil {
			return err
		}
		if err := b.Requeue(h, seen.ID, place); err != nil {
			return err
		}
		if k.State != "" {
			q.totals.Ended(fate.State)
			return b.End(seen.ID, fate)
		}
		q.placeOf(seen.ID, k.URL, place)
		return nil
	}
	switch _, err := b.Queued(seen.ID); {
	case errors.Is(err, store.ErrUnknown):
		return q.knowEnded(b, seen.ID, k, place, fate)
	case err != nil || k.State == "":
		return err
	}
	q.totals.Ended(fate.State)
	return b.End(seen.ID, fate)
}

// knowEnded is know of a URL that has ended here. That it did so elsewhere may be known better
// by now.
func (q *queue) knowEnded(b journal.Batch, id store.ID, k *acrossKnown, place store.Queued, fate store.Fate) error {
	state, err := b.Ended(id)
	switch {
	case err != nil:
		return err
	case state == StateElsewhere && k.State == "" && k.Missing: // to be asked for again
		q.totals.reopened(state)
		return b.Requeue(store.HashURL(k.URL), id, q.placeOf(id, k.URL, place))
	case state == StateElsewhere && k.State == StateLost, state == StateLost && k.State == string(fetch.StateOK):
		q.totals.reopened(state)
		q.totals.Ended(fate.State)
		return b.End(id, fate)
	}
	return nil
}

// fateOf is how a URL ends here that ended with another agent.
func fateOf(k *acrossKnown, at int64) store.Fate {
	f := store.Fate{State: StateElsewhere, Reason: AskedElsewhere(k.State), At: at, Score: k.Score}
	if k.State == StateLost {
		f.State, f.Reason = StateLost, lostReason
	}
	return f
}

// lostReason is why the page of a URL is missing.
const lostReason = "the agent that fetched it is gone, and no other agent has a copy of its pages"

// foundElsewhere says of a URL whose page is lost that it is another agent's to tell of.
func (q *queue) foundElsewhere(b journal.Batch, id store.ID, fate store.Fate) error {
	state, err := b.Ended(id)
	if err != nil || state != StateLost {
		return err
	}
	q.totals.reopened(state)
	q.totals.Ended(fate.State)
	return b.End(id, fate)
}

// placeOf queues a URL, and returns its place.
func (q *queue) placeOf(id store.ID, url string, place store.Queued) store.Queued {
	q.frontier.Push(item(id, q.frontier.Host(page.Host(url)), url, place.Priority), place.Also...)
	return place
}
