package crawler

import (
	"errors"
	"fmt"
	"slices"

	"fossick/crawler/fetch"
	"fossick/crawler/frontier"
	"fossick/crawler/journal"
	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/store"
)

// Discover enters a link's target in the journal and the frontier: as new, with a better
// parent, or wanted after it was skipped. discovery tells how it was found, link what the
// ordering may know. It returns the target's number.
func (q *queue) Discover(b journal.Batch, discovery store.Discovery, f link, link orders.Link) (store.ID, error) {
	link.Depth = discovery.Depth
	if f.Skip == "" && q.outgoing != nil && discovery.Via != store.ViaSeed && q.outgoing.Take(f.URL, f.At, f.Place, f.Score, f.Modified) {
		f.Skip = Reason
	}
	seen := f.Seen
	if seen.ID == 0 || seen.Skipped { // it may have changed since the look-up
		var err error
		if seen, err = b.Lookup(f.Hash); err != nil {
			return 0, err
		}
	}
	if seen.ID != 0 && !seen.Skipped && !q.held && !q.frontier.Queued(frontier.ID(seen.ID)) {
		return seen.ID, nil // in flight, or done
	}
	if f.Skip == "" {
		f.Skip = q.hosts.Cut(f.URL)
		f.Trap = f.Skip != ""
	}
	switch {
	case seen.ID == 0:
		return q.discoverNew(b, discovery, f, link)
	case f.Skip != "":
		return seen.ID, q.outside(b, seen, discovery, f)
	case seen.Skipped:
		return seen.ID, q.want(b, seen.ID, discovery, f, link)
	}
	if q.held {
		return seen.ID, q.improveHeld(b, seen.ID, discovery.From, f, link)
	}
	return seen.ID, q.improve(b, seen.ID, discovery, f, link)
}

// outside records that a skipped URL lies outside of the party that links to it. That makes it
// a candidate seed (paper E, E1), whatever it was skipped for before.
func (q *queue) outside(b journal.Batch, seen store.Seen, discovery store.Discovery, f link) error {
	disk := journal.Stored(b)
	if disk == nil || !seen.Skipped || !q.opt.Scope.Parties || !OffParty(f.Skip) {
		return nil
	}
	was, err := disk.Outcome(seen.ID)
	if err != nil || was.State != string(fetch.StateNone) || OffParty(was.Reason) {
		return err // also of a trap, and of what is on record as outside
	}
	discovery.URL, discovery.At = f.URL, q.opt.Now().UnixMilli()
	if err := b.Rediscover(seen.ID, discovery); err != nil {
		return err
	}
	was.Reason, was.At, was.Score, was.Parent = f.Skip, discovery.At, f.Score, discovery.From
	return b.End(seen.ID, was)
}

// want queues a URL that was skipped so far. Its depth follows the link that is followed.
func (q *queue) want(b journal.Batch, id store.ID, discovery store.Discovery, f link, link orders.Link) error {
	q.totals.wanted()
	discovery.URL, discovery.At = f.URL, q.opt.Now().UnixMilli()
	if err := b.Rediscover(id, discovery); err != nil {
		return err
	}
	return b.Requeue(f.Hash, id, q.enqueue(id, discovery.From, f, link))
}

// improve gives a waiting URL the priority that it has with one parent more.
func (q *queue) improve(b journal.Batch, id store.ID, discovery store.Discovery, f link, link orders.Link) error {
	place, err := b.Queued(id)
	if (q.opt.Revisits != nil || q.opt.Sites != nil) && errors.Is(err, store.ErrUnknown) {
		return nil // a stored page to be refreshed, or a URL that another agent asked for
	}
	if err != nil {
		return fmt.Errorf("URL %d of the queue: %w", id, err)
	}
	now := q.placed(link, &place)
	moved, better := q.replace(id, f, &place, &now)
	if !moved {
		return nil
	}
	if q.opt.Ordering == orders.ByDepth { // a shorter way, as hosts of a party go at their own pace
		discovery.URL, discovery.At = f.URL, q.opt.Now().UnixMilli()
		if err := b.Rediscover(id, discovery); err != nil {
			return err
		}
	}
	place.Priority, place.Also = now.Priority, now.Also
	if better {
		place.Score, place.Parent = f.Score, discovery.From
	}
	return b.Queue(id, place)
}

func (q *queue) discoverNew(b journal.Batch, discovery store.Discovery, f link, link orders.Link) (store.ID, error) {
	id := q.totals.discovered()
	discovery.URL = f.URL
	discovery.At = q.opt.Now().UnixMilli()
	if err := b.Discover(f.Hash, id, discovery, f.Skip != ""); err != nil {
		return 0, err
	}
	if f.Skip == "" {
		return id, b.Queue(id, q.enqueue(id, discovery.From, f, link))
	}
	state := fetch.StateNone
	if f.Trap {
		state = fetch.StateTrap
		q.totals.Ended(string(state))
	} else {
		q.totals.skipped()
	}
	return id, b.End(id, store.Outcome{
		State: string(state), Reason: f.Skip, At: discovery.At, Score: f.Score, Parent: discovery.From,
	})
}

// enqueue queues a URL that does not wait yet, and returns its place for the journal.
func (q *queue) enqueue(id, parent store.ID, f link, link orders.Link) store.Queued {
	place := q.placed(link, nil)
	if !q.held {
		q.frontier.Push(item(id, q.frontier.Host(page.Host(f.URL)), f.URL, place.Priority), place.Also...)
	}
	place.Score, place.Parent = f.Score, parent
	return place
}

// improveHeld is improve for a URL that waits in the journal alone, while the frontier has
// stored pages only.
func (q *queue) improveHeld(b journal.Batch, id, parent store.ID, f link, link orders.Link) error {
	place, err := b.Queued(id)
	if errors.Is(err, store.ErrUnknown) {
		return nil // it has ended
	}
	if err != nil {
		return err
	}
	now := q.placed(link, &place)
	if now.Priority == place.Priority && slices.Equal(now.Also, place.Also) {
		return nil
	}
	place.Priority, place.Also, place.Score, place.Parent = now.Priority, now.Also, f.Score, parent
	return b.Queue(id, place)
}

// links discovers the targets of a page's links and returns their numbers.
func (q *queue) links(b journal.Batch, o *jobResult) ([]store.ID, error) {
	ids := make([]store.ID, 0, len(o.Read.Found))
	discovery := store.Discovery{From: o.urlid(), Via: store.ViaLink, Depth: o.Discovery.Depth + 1}
	links, err := q.linksFrom(b, o.Discovery.URL, o.Read.Found)
	if err != nil {
		return nil, err
	}
	for i, f := range o.Read.Found {
		id, err := q.Discover(b, discovery, f, links[i])
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	s := &o.Read.Score
	return ids, q.dispatch(b, Parcel{
		From: o.Discovery.URL, Via: discovery.Via, Depth: discovery.Depth, Lang: o.Read.Lang,
		Value: s.Value, Label: s.Label, Sure: s.Probability, On: s.Relevant, For: s.Topics, Of: len(o.Read.Links), Introduction: s.Introduction,
	})
}

// handedOn is the score that a redirect hands on. A scorer that rescores has changed its mind
// since the score was journalled, so its priority is used instead; a start page hands on 1.
func (q *queue) handedOn(score, priority float64) float64 {
	if q.rescores(0) && score < 1 {
		return priority
	}
	return score
}

// linkKinds distinguishes links that only discover a URL from those that also move its
// priority (paper B). Internal links of a site without a start page only discover. The zero
// value is for orderings that count all links alike.
type linkKinds struct {
	initial map[string]struct{} // sites with a start page
}

func newLinkKinds(o orders.Ordering, seeds []string) linkKinds {
	if !orders.WantsKinds(o) {
		return linkKinds{}
	}
	k := linkKinds{initial: map[string]struct{}{}}
	for _, u := range seeds {
		k.initial[page.Site(u)] = struct{}{}
	}
	return k
}

// discovers reports whether a link only discovers its target.
func (k linkKinds) discovers(from, to string) bool {
	if k.initial == nil {
		return false
	}
	site := page.Site(to)
	if _, ok := k.initial[site]; ok {
		return false
	}
	return page.Site(from) == site
}
