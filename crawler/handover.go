package crawler

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"fossick/crawler/fetch"
	"fossick/crawler/hosts"
	"fossick/crawler/journal"
	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/store"
)

// HandOver puts into the outbox all knowledge of parts that this agent no longer owns and
// where no exchange is under way. The last parcel for a part is marked as such.
func (a *Agent) HandOver(ctx context.Context, parts []uint16) error {
	type draft struct {
		known []knownURL
		size  int
	}
	agent, drafts := a.crawl.opt.Store.Info().Agent, map[uint16]*draft{}
	for _, part := range parts {
		drafts[part] = &draft{}
	}
	var lost []store.ID
	for k, err := range a.knownOfParts(a.crawl.opt.Store, parts) {
		if err != nil {
			return err
		}
		if k.State == StateLost {
			lost = append(lost, k.ID)
		}
		if k.Third {
			k.State = string(fetch.StateOK)
		}
		part := a.crawl.opt.Sites.Part(k.URL)
		d := drafts[part]
		d.known = append(d.known, k)
		if d.size += k.Size(); d.size >= knownBytes {
			if err := a.tell(ctx, part, &Parcel{Known: d.known, Agent: agent}); err != nil {
				return err
			}
			*d = draft{}
		}
	}
	rests, err := a.restsOf(a.crawl.opt.Store, parts)
	if err != nil {
		return err
	}
	for _, part := range parts {
		if err := sharedRecords(a.crawl.opt.Store, part, func(p *Parcel) error { return a.tell(ctx, part, p) }); err != nil {
			return err
		}
		if err := a.tell(ctx, part, &Parcel{Known: drafts[part].known, Rests: rests[part], Last: true, Agent: agent}); err != nil {
			return err
		}
	}
	return a.disown(ctx, lost)
}

// sharedRecords calls do with parcels of all that a store knows of the contents and addresses
// of a part. They read as if just found, because the new owner may know of others already.
func sharedRecords(s *store.Store, part uint16, do func(p *Parcel) error) error {
	p, size := &Parcel{}, 0
	flush := func(more int) error {
		if size += more; size == 0 || more > 0 && size < contentBytes {
			return nil
		}
		full := p
		p, size = &Parcel{}, 0
		return do(full)
	}
	for h, err := range store.DuplicatesOf(s).Holders(part) {
		if err != nil {
			return err
		}
		c := content{Checksum: h.Checksum, URL: h.URL, Signature: h.Signature}
		p.Contents = append(p.Contents, c)
		if err := flush(c.Size()); err != nil {
			return err
		}
	}
	for n, err := range store.AddressesOf(s).Neighbours(part) {
		if err != nil {
			return err
		}
		ad := addressNotice{Addr: n.Addr, Parts: n.Sites, Site: n.First}
		p.Addresses = append(p.Addresses, ad)
		if err := flush(ad.Size()); err != nil {
			return err
		}
	}
	return flush(0)
}

// tell puts a parcel into the outbox.
func (a *Agent) tell(ctx context.Context, part uint16, p *Parcel) error {
	return a.put(ctx, part, p.Pack())
}

func (a *Agent) put(ctx context.Context, part uint16, data []byte) error {
	return a.write(ctx, func(b journal.Batch) error {
		return store.OutboxIn(journal.Stored(b)).Put(part, &a.crawl.totals.Counts, data)
	})
}

// takeIn enters what a parcel tells.
func (a *Agent) takeIn(b journal.Batch, p *Parcel, links []link) error {
	for _, r := range p.Rests {
		h, err := a.crawl.hosts.Get(r.Host, "http://"+r.Host+"/")
		if err != nil {
			return err
		}
		until := a.crawl.opt.Now().Add(time.Duration(r.Left) * time.Millisecond)
		a.crawl.hosts.RestAtLeast(h, until, r.For, r.Wish)
		if err := a.crawl.hosts.Put(b, h); err != nil {
			return err
		}
	}
	for _, c := range p.Contents { // forwarded if the part has a new owner
		if err := a.crawl.sendContent(b, c); err != nil {
			return err
		}
	}
	for _, ad := range p.Addresses {
		if ad.Shared {
			if err := a.crawl.shareAddress(b, ad); err != nil {
				return err
			}
		} else if err := a.crawl.sendAddress(b, ad); err != nil {
			return err
		}
	}
	if err := a.crawl.takeInLinks(b, p, links); err != nil {
		return err
	}
	for _, k := range p.Known { // earlier questions for this content found no page
		if k.State == string(fetch.StateOK) {
			if err := a.crawl.announceContent(b, k.URL, nil, k.sums()...); err != nil {
				return err
			}
		}
	}
	return nil
}

// restsOf returns the hosts of some parts that must rest for longer than the default delay.
func (a *Agent) restsOf(s *store.Store, parts []uint16) (map[uint16][]rest, error) {
	opt, rests := &a.crawl.opt, map[uint16][]rest{}
	for h, err := range s.Hosts() {
		if err != nil {
			return nil, err
		}
		left, part := hosts.RestLeft(h, opt.Now()), opt.Sites.Part("http://"+h.Name+"/")
		if left > opt.Delay.Load(0) && slices.Contains(parts, part) {
			rests[part] = append(rests[part], rest{Host: h.Name, Left: left.Milliseconds(), For: h.RestFor, Wish: h.RestMillis})
		}
	}
	return rests, nil
}

// knownOfParts yields what another agent must know of the URLs of some parts.
func (a *Agent) knownOfParts(s *store.Store, parts []uint16) iter.Seq2[knownURL, error] {
	return func(yield func(knownURL, error) bool) {
		for k, err := range s.URLs().Known() {
			if err != nil {
				yield(knownURL{}, err)
				return
			}
			known := knownOf(k)
			if known.State == string(fetch.StateNone) || !slices.Contains(parts, a.crawl.opt.Sites.Part(k.URL)) {
				continue
			}
			if k.Outcome == nil {
				_, place, err := s.URLs().Waiting(k.ID)
				if err != nil {
					yield(knownURL{}, err)
					return
				}
				known.Priority, known.Also, known.Score, known.Visits = place.Priority, place.Also, place.Score, place.Visits
			}
			if known.Checksum, known.Raw, err = checksumsOf(s, k); err != nil {
				yield(knownURL{}, err)
				return
			}
			if !yield(known, nil) {
				return
			}
		}
	}
}

// checksumsOf returns the checksums of a URL's page, nil if the store has none.
func checksumsOf(s *store.Store, k *store.Known) (checksum, raw []byte, err error) {
	if k.Outcome == nil || k.Outcome.State != string(fetch.StateOK) {
		return nil, nil, nil
	}
	p, err := s.Page(k.Outcome.Page)
	if errors.Is(err, store.ErrUnknown) {
		return nil, nil, nil // a replica without bodies
	}
	return p.Checksum, p.Raw, err
}

// knownOf returns what another agent must know of a URL.
func knownOf(k *store.Known) knownURL {
	known := knownURL{ID: k.ID, URL: k.URL, Via: k.Via, Depth: k.Depth, Hops: k.Hops, Visits: len(k.Visits)}
	if k.Via != store.ViaSeed && k.Via != store.ViaRedirect {
		known.Via = store.ViaAgent // the receiver does not know the parent
	}
	if k.Outcome != nil {
		known.State, known.Score = k.Outcome.State, k.Outcome.Score
		known.Third = k.Outcome.State == StateElsewhere && k.Outcome.Reason == AskedElsewhere(string(fetch.StateOK))
	}
	return known
}

// Adopt takes over parts of a lost agent from a replica of its store: waiting URLs wait here,
// ended URLs end here, and its parcels are sent on. Pages without a copy in the replica are
// lost. The owners of their sites are told, and fetch them again with Options.RefetchLost.
func (a *Agent) Adopt(ctx context.Context, replica *store.Store, parts []uint16) error {
	bodies, err := store.ReplicaIn(replica).Bodies()
	if err != nil {
		return err
	}
	rests, err := a.restsOf(replica, parts)
	if err != nil {
		return err
	}
	known := &Parcel{}
	for _, part := range parts {
		known.Rests = append(known.Rests, rests[part]...)
	}
	size := 0
	flush := func() error {
		p := known
		known, size = &Parcel{}, 0
		return a.write(ctx, func(b journal.Batch) error { return a.takeIn(b, p, nil) })
	}
	for k, err := range a.knownOfParts(replica, parts) {
		if err != nil {
			return err
		}
		if k.State == string(fetch.StateOK) && !bodies {
			k.State = StateLost
		}
		known.Known = append(known.Known, k)
		if size += k.Size(); size >= knownBytes {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	for _, part := range parts {
		if err := sharedRecords(replica, part, func(p *Parcel) error {
			if err := flush(); err != nil {
				return err
			}
			known = p
			return flush()
		}); err != nil {
			return err
		}
	}
	if err := flush(); err != nil {
		return err
	}
	if err := a.forward(ctx, replica); err != nil || bodies { // first, because these parcels may hand over pages
		return err
	}
	return a.tellPages(ctx, replica, StateLost, func(part uint16) bool { return slices.Contains(parts, part) })
}

// forward puts the parcels of a replica into the outbox.
func (a *Agent) forward(ctx context.Context, replica *store.Store) error {
	for part, err := range store.OutboxOf(replica).Parts() {
		if err != nil {
			return err
		}
		for p, err := range store.OutboxOf(replica).Parcels(part, 0) {
			if err == nil {
				err = a.put(ctx, part, p.Data)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// takeInLinks enters a parcel; links are its own, as this crawl scores them.
func (c *Crawler) takeInLinks(b journal.Batch, p *Parcel, links []link) error {
	for i := range p.Known {
		if err := c.enterKnown(b, &p.Known[i]); err != nil {
			return fmt.Errorf("%s, from another agent: %w", p.Known[i].URL, err)
		}
	}
	discovery := store.Discovery{Via: p.Via, Depth: p.Depth, Hops: p.Hops}
	if p.From != "" {
		var err error
		if discovery.From, err = c.senderPage(b, p); err != nil {
			return err
		}
	}
	c.outgoing.Onward(true)
	defer c.outgoing.Onward(false)
	from, err := c.linksFrom(b, p.From, links)
	if err != nil {
		return err
	}
	for i, f := range links {
		link := c.listedLink(f)
		if p.Via == store.ViaLink {
			link = from[i]
		}
		if s, ok := c.opt.Scorer.(Redirected); ok && p.Led != nil {
			s.Lead(page.Key(f.URL), p.Led)
		}
		discovery.Modified = f.Modified
		if _, err := c.discover(b, discovery, f, link); err != nil {
			return fmt.Errorf("%s, from another agent: %w", f.URL, err)
		}
	}
	return c.sendLinks(b, *p) // forwards links whose part has a new owner
}

// senderPage returns the number of a parcel's page, and enters it if it is new.
func (c *Crawler) senderPage(b journal.Batch, p *Parcel) (store.ID, error) {
	f := link{URL: p.From, Hash: store.HashURL(p.From), Skip: Reason}
	seen, err := b.Lookup(f.Hash)
	if err != nil || seen.ID != 0 {
		return seen.ID, err
	}
	return c.discoverNew(b, store.Discovery{Via: store.ViaAgent, Depth: max(0, p.Depth-1)}, f, orders.Link{})
}

// enterKnown enters a URL from the former owner of its part. It waits or ends as it did there; a URL
// that ended here stays as it is.
func (c *Crawler) enterKnown(b journal.Batch, k *knownURL) error {
	h := store.HashURL(k.URL)
	if k.State == StateLost && c.opt.RefetchLost {
		k.State, k.Missing = "", true
		place := c.placed(orders.Link{Score: k.Score, Step: c.totals.LastPage(), Depth: k.Depth}, nil)
		k.Priority, k.Also = place.Priority, place.Also
	}
	discovery := store.Discovery{URL: k.URL, Via: k.Via, Depth: k.Depth, Hops: k.Hops, At: c.opt.Now().UnixMilli()}
	place := store.Queued{Priority: k.Priority, Also: k.Also, Score: k.Score, Visits: k.Visits, Lost: k.Missing}
	outcome := outcomeFrom(k, discovery.At)
	seen, err := b.Lookup(h)
	if err != nil {
		return err
	}
	id := seen.ID
	switch {
	case id == 0:
		id = c.totals.discovered()
		if err := b.Discover(h, id, discovery, false); err != nil {
			return err
		}
		if k.State == "" {
			return b.Queue(id, c.pushAt(id, k.URL, place))
		}
	case seen.Skipped:
		c.totals.Skipped--
		if err := b.Rediscover(id, discovery); err != nil {
			return err
		}
		if err := b.Requeue(h, id, place); err != nil {
			return err
		}
		if k.State == "" {
			c.pushAt(id, k.URL, place)
		}
	default:
		if _, err := b.Queued(id); errors.Is(err, store.ErrUnknown) {
			return c.updateEnded(b, id, k, place, outcome)
		} else if err != nil {
			return err
		}
	}
	if k.State == "" {
		return nil
	}
	c.totals.States[outcome.State]++
	return b.End(id, outcome)
}

// updateEnded updates a URL that has ended here, if the former owner knows better.
func (c *Crawler) updateEnded(b journal.Batch, id store.ID, k *knownURL, place store.Queued, outcome store.Outcome) error {
	state, err := b.Ended(id)
	switch {
	case err != nil:
		return err
	case state == StateElsewhere && k.State == "" && k.Missing: // to be asked for again
		c.totals.reopened(state)
		return b.Requeue(store.HashURL(k.URL), id, c.pushAt(id, k.URL, place))
	case state == StateElsewhere && k.State == StateLost, state == StateLost && k.State == string(fetch.StateOK):
		return c.endAgain(b, id, state, outcome)
	}
	return nil
}

// endAgain gives a URL that ended in a state another outcome.
func (c *Crawler) endAgain(b journal.Batch, id store.ID, state string, outcome store.Outcome) error {
	c.totals.reopened(state)
	c.totals.States[outcome.State]++
	return b.End(id, outcome)
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

// disown leaves it to other agents to report lost pages.
func (a *Agent) disown(ctx context.Context, lost []store.ID) error {
	c, outcome := a.crawl, store.Outcome{State: StateElsewhere, Reason: Reason, At: a.crawl.opt.Now().UnixMilli()}
	return a.inBatches(ctx, len(lost), func(b journal.Batch, i int) error {
		state, err := b.Ended(lost[i])
		if err != nil || state != StateLost {
			return err
		}
		return c.endAgain(b, lost[i], state, outcome)
	})
}

// inBatches calls do n times, in as few batches as possible.
func (a *Agent) inBatches(ctx context.Context, n int, do func(b journal.Batch, i int) error) error {
	for i := 0; i < n; {
		if err := a.write(ctx, func(b journal.Batch) error {
			for ; i < n && !b.Full(); i++ {
				if err := do(b, i); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// Back tells agents that may take this one for dead that its pages are not lost. handedOver
// tells the parts for which HandOver says so.
func (a *Agent) Back(ctx context.Context, handedOver func(part uint16) bool) error {
	sites := a.crawl.opt.Sites
	return a.tellPages(ctx, a.crawl.opt.Store, string(fetch.StateOK), func(part uint16) bool { return handedOver(part) || sites.Ours(part) })
}

// tellPages tells the owners of other sites the present state of URLs whose pages a store has
// or had, except for the parts of but.
func (a *Agent) tellPages(ctx context.Context, s *store.Store, state string, but func(part uint16) bool) error {
	drafts, sizes := map[uint16]*Parcel{}, map[uint16]int{}
	for k, err := range s.URLs().Watched() {
		if err != nil {
			return err
		}
		part := a.crawl.opt.Sites.Part(k.URL)
		if but(part) {
			continue
		}
		known := knownOf(k)
		known.State = state
		if drafts[part] == nil {
			drafts[part] = &Parcel{}
		}
		drafts[part].Known = append(drafts[part].Known, known)
		if sizes[part] += known.Size(); sizes[part] >= knownBytes {
			if err := a.tell(ctx, part, drafts[part]); err != nil {
				return err
			}
			delete(drafts, part)
			delete(sizes, part)
		}
	}
	for _, part := range slices.Sorted(maps.Keys(drafts)) {
		if err := a.tell(ctx, part, drafts[part]); err != nil {
			return err
		}
	}
	return nil
}
