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

// Discover enters a link's target in the journal and the frontier: new, or
// known with a better parent now, or skipped before and wanted now. birth tells
// how it came to be found; link what the ordering may know. It returns the
// target's number.
func (q *queue) Discover(b journal.Batch, birth store.Birth, f link, link orders.Link) (store.ID, error) {
	link.Depth = birth.Depth
	if f.Skip == "" && q.post != nil && birth.Via != store.ViaSeed && q.post.Take(f.URL, f.At, f.Place, f.Score, f.Modified) {
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
		return q.discoverNew(b, birth, f, link)
	case f.Skip != "":
		return seen.ID, q.outside(b, seen, birth, f)
	case seen.Skipped:
		return seen.ID, q.want(b, seen.ID, birth, f, link)
	}
	if q.held {
		return seen.ID, q.discoverLater(b, seen.ID, birth.From, f, link)
	}
	return seen.ID, q.discoverAgain(b, seen.ID, birth, f, link)
}

// outside has a skipped URL on record as outside of the party that links to it, whatever it
// was skipped for before: it is a candidate seed (paper E, E1) also where its own party left
// it out as too deep, and whichever of the two came first.
func (q *queue) outside(b journal.Batch, seen store.Seen, birth store.Birth, f link) error {
	disk := journal.Stored(b)
	if disk == nil || !seen.Skipped || !q.opt.Scope.Parties || !OffParty(f.Skip) {
		return nil
	}
	was, err := disk.Fate(seen.ID)
	if err != nil || was.State != string(fetch.StateNone) || OffParty(was.Reason) {
		return err // also of a trap, and of what is on record as outside
	}
	birth.URL, birth.At = f.URL, q.opt.Now().UnixMilli()
	if err := b.Rediscover(seen.ID, birth); err != nil {
		return err
	}
	was.Reason, was.At, was.Score, was.Parent = f.Skip, birth.At, f.Score, birth.From
	return b.End(seen.ID, was)
}

// want queues a URL that was skipped so far. It counts as discovered by the link that is
// followed: how many links it is away from a start page goes by that one.
func (q *queue) want(b journal.Batch, id store.ID, birth store.Birth, f link, link orders.Link) error {
	q.totals.wanted()
	birth.URL, birth.At = f.URL, q.opt.Now().UnixMilli()
	if err := b.Rediscover(id, birth); err != nil {
		return err
	}
	return b.Requeue(f.Hash, id, q.enqueue(id, birth.From, f, link))
}

// discoverAgain gives a URL that waits the priority that it has by one parent
// more.
func (q *queue) discoverAgain(b journal.Batch, id store.ID, birth store.Birth, f link, link orders.Link) error {
	place, err := b.Queued(id)
	if (q.opt.Revisits || q.opt.Sites != nil) && errors.Is(err, store.ErrUnknown) {
		return nil // a stored page that is still to be refreshed, or what another agent has asked for
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
		birth.URL, birth.At = f.URL, q.opt.Now().UnixMilli()
		if err := b.Rediscover(id, birth); err != nil {
			return err
		}
	}
	place.Priority, place.Also = now.Priority, now.Also
	if better {
		place.Score, place.Parent = f.Score, birth.From
	}
	return b.Queue(id, place)
}

func (q *queue) discoverNew(b journal.Batch, birth store.Birth, f link, link orders.Link) (store.ID, error) {
	id := q.totals.discovered()
	birth.URL = f.URL
	birth.At = q.opt.Now().UnixMilli()
	if err := b.Discover(f.Hash, id, birth, f.Skip != ""); err != nil {
		return 0, err
	}
	if f.Skip == "" {
		return id, b.Queue(id, q.enqueue(id, birth.From, f, link))
	}
	state := fetch.StateNone
	if f.Trap {
		state = fetch.StateTrap
		q.totals.Ended(string(state))
	} else {
		q.totals.skipped()
	}
	return id, b.End(id, store.Fate{
		State: string(state), Reason: f.Skip, At: birth.At, Score: f.Score, Parent: birth.From,
	})
}

// enqueue queues a URL that does not wait, and returns its place for the journal.
func (q *queue) enqueue(id, parent store.ID, f link, link orders.Link) store.Queued {
	place := q.placed(link, nil)
	if !q.held {
		q.frontier.Push(item(id, q.frontier.Host(page.Host(f.URL)), f.URL, place.Priority), place.Also...)
	}
	place.Score, place.Parent = f.Score, parent
	return place
}

// discoverLater gives a URL that waits in the journal the priority that it has by
// one parent more, while the frontier has stored pages only.
func (q *queue) discoverLater(b journal.Batch, id, parent store.ID, f link, link orders.Link) error {
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
func (q *queue) links(b journal.Batch, o *outcome) ([]store.ID, error) {
	ids := make([]store.ID, 0, len(o.Read.Found))
	birth := store.Birth{From: o.urlid(), Via: store.ViaLink, Depth: o.Birth.Depth + 1}
	links, err := q.linksFrom(b, o.Birth.URL, o.Read.Found)
	if err != nil {
		return nil, err
	}
	for i, f := range o.Read.Found {
		id, err := q.Discover(b, birth, f, links[i])
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	s := &o.Read.Score
	return ids, dispatch(q, b, Parcel{
		From: o.Birth.URL, Via: birth.Via, Depth: birth.Depth, Lang: o.Read.Lang,
		Value: s.Value, Label: s.Label, Sure: s.Probability, On: s.Relevant, For: s.Topics, Of: len(o.Read.Links), Giver: s.Giver,
	})
}

// handedOn is the score that a redirect hands on, of a URL that left the queue
// with a priority. Where the scorer rescores it is the priority, as the score
// is of some time ago. What a start page leads to is one.
func (q *queue) handedOn(score, priority float64) float64 {
	if q.rescores(0) && score < 1 {
		return priority
	}
	return score
}

// linkKinds tells apart the links that only discover a URL from those that move
// its priority (paper B). Internal links of a site without a start page are of
// the first kind. The zero value is for orderings that count all links alike.
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

// discovers says whether a link only discovers its target.
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
