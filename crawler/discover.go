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

// discover enters a link's target in the journal and the frontier: as new, with a better
// parent, or wanted after it was skipped. discovery tells how it was found, link what the
// ordering may know. It returns the target's number.
func (c *Crawler) discover(b journal.Batch, discovery store.Discovery, f link, link orders.Link) (store.ID, error) {
	link.Depth = discovery.Depth
	if f.Skip == "" && discovery.Via != store.ViaSeed && c.outgoing.Take(f.URL, f.At, f.Place, f.Score, f.Modified) {
		f.Skip = Reason
	}
	seen := f.Seen
	if seen.ID == 0 || seen.Skipped { // it may have changed since the look-up
		var err error
		if seen, err = b.Lookup(f.Hash); err != nil {
			return 0, err
		}
	}
	if seen.ID != 0 && !seen.Skipped && !c.held && !c.frontier.Queued(frontier.ID(seen.ID)) {
		return seen.ID, nil // in flight, or done
	}
	if f.Skip == "" {
		f.Skip = c.hosts.Cut(f.URL)
		f.Trap = f.Skip != ""
	}
	switch {
	case seen.ID == 0:
		return c.discoverNew(b, discovery, f, link)
	case f.Skip != "":
		return seen.ID, c.recordOutside(b, seen, discovery, f)
	case seen.Skipped:
		return seen.ID, c.queueSkipped(b, seen.ID, discovery, f, link)
	}
	return seen.ID, c.improve(b, seen.ID, discovery, f, link)
}

// recordOutside records that a skipped URL lies outside of the party that links to it. That makes it
// a candidate seed (paper E, E1), whatever it was skipped for before.
func (c *Crawler) recordOutside(b journal.Batch, seen store.Seen, discovery store.Discovery, f link) error {
	disk := journal.Stored(b)
	if disk == nil || !seen.Skipped || !c.opt.Scope.Parties || !OffParty(f.Skip) {
		return nil
	}
	was, err := disk.Outcome(seen.ID)
	if err != nil || was.State != string(fetch.StateNone) || OffParty(was.Reason) {
		return err // also of a trap, and of what is on record as outside
	}
	discovery.URL, discovery.At = f.URL, c.opt.Now().UnixMilli()
	if err := b.Rediscover(seen.ID, discovery); err != nil {
		return err
	}
	was.Reason, was.At, was.Score, was.Parent = f.Skip, discovery.At, f.Score, discovery.From
	return b.End(seen.ID, was)
}

// queueSkipped queues a URL that was skipped so far. Its depth follows the link that is followed.
func (c *Crawler) queueSkipped(b journal.Batch, id store.ID, discovery store.Discovery, f link, link orders.Link) error {
	c.totals.Skipped--
	discovery.URL, discovery.At = f.URL, c.opt.Now().UnixMilli()
	if err := b.Rediscover(id, discovery); err != nil {
		return err
	}
	return b.Requeue(f.Hash, id, c.enqueue(id, discovery.From, f, link))
}

// improve gives a waiting URL the priority that it has with one parent more.
func (c *Crawler) improve(b journal.Batch, id store.ID, discovery store.Discovery, f link, link orders.Link) error {
	place, err := b.Queued(id)
	if (c.opt.Revisits != nil || c.opt.several()) && errors.Is(err, store.ErrUnknown) {
		return nil // a stored page to be refreshed, or a URL that ended or that another agent asked for
	}
	if err != nil {
		return fmt.Errorf("URL %d of the queue: %w", id, err)
	}
	now := c.placed(link, &place)
	moved, better := now.Priority != place.Priority || !slices.Equal(now.Also, place.Also), true
	if !c.held {
		moved, better = c.replacePlace(id, f, &place, &now)
	}
	if !moved {
		return nil
	}
	if c.opt.Ordering == orders.ByDepth && !c.held { // a shorter way, as hosts of a party go at their own pace
		discovery.URL, discovery.At = f.URL, c.opt.Now().UnixMilli()
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

func (c *Crawler) discoverNew(b journal.Batch, discovery store.Discovery, f link, link orders.Link) (store.ID, error) {
	id := c.totals.discovered()
	discovery.URL = f.URL
	discovery.At = c.opt.Now().UnixMilli()
	if err := b.Discover(f.Hash, id, discovery, f.Skip != ""); err != nil {
		return 0, err
	}
	if f.Skip == "" {
		return id, b.Queue(id, c.enqueue(id, discovery.From, f, link))
	}
	state := fetch.StateNone
	if f.Trap {
		state = fetch.StateTrap
		c.totals.States[string(state)]++
	} else {
		c.totals.Skipped++
	}
	return id, b.End(id, store.Outcome{
		State: string(state), Reason: f.Skip, At: discovery.At, Score: f.Score, Parent: discovery.From,
	})
}

// enqueue queues a URL that does not wait yet, and returns its place for the journal.
func (c *Crawler) enqueue(id, parent store.ID, f link, link orders.Link) store.Queued {
	place := c.placed(link, nil)
	if !c.held {
		c.pushAt(id, f.URL, place)
	}
	place.Score, place.Parent = f.Score, parent
	return place
}

// discoverLinks discovers the targets of a page's links and returns their numbers.
func (c *Crawler) discoverLinks(b journal.Batch, o *jobResult) ([]store.ID, error) {
	ids := make([]store.ID, 0, len(o.Read.Found))
	discovery := store.Discovery{From: o.urlid(), Via: store.ViaLink, Depth: o.Discovery.Depth + 1}
	links, err := c.linksFrom(b, o.Discovery.URL, o.Read.Found)
	if err != nil {
		return nil, err
	}
	for i, f := range o.Read.Found {
		id, err := c.discover(b, discovery, f, links[i])
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	s := &o.Read.Score
	return ids, c.sendLinks(b, Parcel{
		From: o.Discovery.URL, Via: discovery.Via, Depth: discovery.Depth, Lang: o.Read.Lang,
		Value: s.Value, Label: s.Label, Sure: s.Probability, On: s.Relevant, For: s.Topics, Of: len(o.Read.Links), Introduction: s.Introduction,
	})
}

// scoreOfRedirect is the score that a redirect hands on. A scorer that rescores has changed its mind
// since the score was journalled, so its priority is used instead; a start page hands on 1.
func (c *Crawler) scoreOfRedirect(score, priority float64) float64 {
	if c.rescores(0) && score < 1 {
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
