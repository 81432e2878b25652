package crawler

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"fossick/crawler/fetch"
	"fossick/crawler/journal"
	"fossick/internal/page"
	"fossick/store"
)

// announceContent tells the other agents that a URL's page was stored: by each of its
// checksums and, where near-duplicates are dropped, by the bands of its signature.
func (c *Crawler) announceContent(b journal.Batch, url string, signature []byte, sums ...[]byte) error {
	if !c.opt.several() {
		return nil
	}
	for _, sum := range sums {
		if err := c.sendContent(b, content{Checksum: sum, URL: url}); err != nil {
			return err
		}
	}
	if c.opt.KeepNear {
		return nil
	}
	for _, band := range store.Bands(signature) {
		if err := c.sendContent(b, content{Checksum: band, URL: url, Signature: signature}); err != nil {
			return err
		}
	}
	return nil
}

// sendContent sends a message to the owner of its part, which may be this agent.
func (c *Crawler) sendContent(b journal.Batch, told content) error {
	part := told.Part(c.opt.Sites)
	if c.opt.Sites.Ours(part) {
		return c.receiveContent(b, told)
	}
	data := (&Parcel{Contents: []content{told}}).Pack()
	return store.OutboxIn(journal.Stored(b)).Put(part, &c.totals.Counts, data)
}

// receiveContent handles a message. Messages may be repeated, late and out of order, so each
// is judged by the state at its arrival.
func (c *Crawler) receiveContent(b journal.Batch, told content) error {
	switch told.Say {
	case contentStored:
		return c.compareContent(b, told, told.URL)
	case contentGone:
		return c.replaceHolder(b, told)
	case contentAsked:
		has, err := c.hasContent(b, told.URL, told.Other, told)
		if err != nil {
			return err
		}
		answer := told
		answer.Say = contentGone
		if has {
			answer.Say, answer.URL, answer.Other = contentDuplicate, told.Other, told.URL
		}
		return c.sendContent(b, answer)
	}
	return c.dropDuplicate(b, told)
}

// compareContent records that a page has a content or a band. If another page has it too, or
// nearly the same, the preferred page's agent is asked whether it still has it. told.Signature
// is the page's.
func (c *Crawler) compareContent(b journal.Batch, told content, url string) error {
	holders, part := store.DuplicatesIn(journal.Stored(b)), c.opt.Sites.PartOf(told.Checksum)
	holder, err := holders.Holder(part, told.Checksum)
	if err != nil || holder.URL == url && bytes.Equal(holder.Signature, told.Signature) {
		return err
	}
	own := store.Holder{Part: part, Checksum: told.Checksum, URL: url, Signature: told.Signature}
	resemblance, near := nearBySignature(holder.URL, holder.Signature, url, told.Signature)
	if holder.URL == url || len(told.Signature) > 0 && !near {
		holder = store.Holder{} // a band remembers its latest page
	}
	stands, other := holder, own
	if holder.URL == "" || preferred(url, holder.URL) {
		stands, other = own, holder
		if err := holders.PutHolder(own); err != nil {
			return err
		}
	}
	if other.URL == "" {
		return nil
	}
	return c.sendContent(b, content{Say: contentAsked, Checksum: told.Checksum, URL: stands.URL, Other: other.URL, Signature: other.Signature, Resemblance: resemblance})
}

// replaceHolder records that a page no longer has a content, and that the other page
// represents it now.
func (c *Crawler) replaceHolder(b journal.Batch, told content) error {
	holders, part := store.DuplicatesIn(journal.Stored(b)), c.opt.Sites.PartOf(told.Checksum)
	holder, err := holders.Holder(part, told.Checksum)
	if err != nil {
		return err
	}
	if holder.URL == told.URL {
		return holders.PutHolder(store.Holder{Part: part, Checksum: told.Checksum, URL: told.Other, Signature: told.Signature})
	}
	return c.compareContent(b, told, told.Other)
}

// alike returns how far a stored page has the content of a message: 1 for the same, 0 for
// another.
func alike(p *store.Page, other string, told content) float64 {
	if len(told.Signature) > 0 {
		if resemblance, near := nearBySignature(p.URL, p.Signature, other, told.Signature); near {
			return resemblance
		}
		return 0
	}
	if p.Has(told.Checksum) {
		return 1
	}
	return 0
}

// hasContent reports whether a URL of this agent has a content, here or at the agent that had
// the site before.
func (c *Crawler) hasContent(b journal.Batch, url, other string, told content) (bool, error) {
	p, outcome, err := c.pageOf(b, url)
	if err == nil && p.URL != url {
		return false, nil // the page of another URL, which may be dropped for this one's
	}
	if errors.Is(err, store.ErrUnknown) {
		return outcome.State == StateElsewhere && outcome.Reason == AskedElsewhere(string(fetch.StateOK)), nil
	}
	return err == nil && alike(p, other, told) > 0, err
}

// lacksContent reports whether this agent knows that a URL lacks a content. Its agent may have
// said otherwise once, but that agent may be gone, and the page may have changed.
func (c *Crawler) lacksContent(b journal.Batch, url, other string, told content) (bool, error) {
	if c.opt.Sites.Ours(c.opt.Sites.Part(url)) {
		has, err := c.hasContent(b, url, other, told)
		return !has, err
	}
	p, outcome, err := c.pageOf(b, url)
	if errors.Is(err, store.ErrUnknown) {
		return outcome.State == string(fetch.StateDuplicate), nil
	}
	return err == nil && alike(p, other, told) == 0, err
}

// pageOf returns the stored page of a URL, or store.ErrUnknown.
func (c *Crawler) pageOf(b journal.Batch, url string) (*store.Page, store.Outcome, error) {
	seen, err := b.Lookup(store.HashURL(url))
	if err == nil && seen.ID == 0 {
		err = store.ErrUnknown
	}
	if err != nil {
		return nil, store.Outcome{}, err
	}
	return store.DuplicatesIn(journal.Stored(b)).Page(seen.ID)
}

// dropDuplicate drops a stored page because another agent has the page of a preferred URL.
func (c *Crawler) dropDuplicate(b journal.Batch, told content) error {
	p, outcome, err := c.pageOf(b, told.URL)
	if errors.Is(err, store.ErrUnknown) {
		return c.forwardDuplicate(b, told, outcome)
	}
	if err != nil || !preferred(told.Other, told.URL) || len(told.Signature) == 0 && !p.Has(told.Checksum) || len(told.Signature) > 0 && !bytes.Equal(told.Signature, p.Signature) {
		return err
	}
	switch lacks, err := c.lacksContent(b, told.Other, told.URL, told); {
	case err != nil:
		return err
	case lacks:
		return c.sendContent(b, content{Say: contentGone, Checksum: told.Checksum, URL: told.Other, Other: told.URL, Signature: told.Signature, Resemblance: told.Resemblance})
	}
	end := store.Outcome{Reason: "same content as " + told.Other}
	if len(told.Signature) > 0 {
		end.Reason, end.Resemblance = fmt.Sprintf("near-duplicate of %s (similarity %.2f)", told.Other, told.Resemblance), told.Resemblance
	}
	_, err = c.dropPage(b, p, outcome, told.Other, end)
	return err
}

// giveWay drops a stored page for another URL with the same content if that URL is preferred.
// It returns 0, or the page's number if the page stays.
func (c *Crawler) giveWay(b journal.Batch, original uint64, url string) (uint64, error) {
	p, outcome, err := store.DuplicatesIn(journal.Stored(b)).Numbered(original)
	if errors.Is(err, store.ErrUnknown) || err == nil && !preferred(url, p.URL) {
		return original, nil
	}
	if err != nil {
		return original, err
	}
	dropped, err := c.dropPage(b, p, outcome, url, store.Outcome{Reason: "same content as " + url})
	if dropped {
		return 0, err
	}
	return original, err
}

// dropPage removes a stored page that another URL stands for, and ends its own URL. A labelled
// page stays, because the scorer learns from its words.
func (c *Crawler) dropPage(b journal.Batch, p *store.Page, had store.Outcome, other string, end store.Outcome) (dropped bool, err error) {
	records := store.DuplicatesIn(journal.Stored(b))
	if marked, err := records.Marked(p.ID); marked || err != nil {
		return false, err
	}
	h, err := c.hosts.Get(page.Host(p.URL), p.URL)
	if err != nil {
		return false, err
	}
	if err := records.Drop(p, other); err != nil {
		return false, err
	}
	c.totals.dropped(p)
	c.hosts.DropPage(h, p.Relevant)
	c.traps.Duplicate(&h.Trap, p.URL)
	if err := c.hosts.Put(b, h); err != nil {
		return false, err
	}
	if end.Resemblance > 0 {
		c.totals.NearDuplicates++
	}
	end.State, end.Next = string(fetch.StateDuplicate), c.nextVisit(interval(p.Depth))
	return true, c.conclude(b, p.ID, store.Queued{Score: had.Score, Parent: had.Parent}, end)
}

// forwardDuplicate tells all other agents of a duplicate whose page an earlier owner of the
// site may have.
func (c *Crawler) forwardDuplicate(b journal.Batch, told content, outcome store.Outcome) error {
	if outcome.State != StateElsewhere || outcome.Reason != AskedElsewhere(string(fetch.StateOK)) {
		return nil // it was dropped before
	}
	data := (&Parcel{Contents: []content{told}}).Pack()
	seen, err := b.Lookup(store.HashURL(told.URL))
	if err != nil {
		return err
	}
	outcome.Reason = AskedElsewhere(string(fetch.StateDuplicate))
	if err := b.End(seen.ID, outcome); err != nil {
		return err
	}
	c.opt.Sites.Repeats(data)
	return nil
}

// ReceiveDuplicates drops pages that other agents report as duplicates, from sites that this
// agent had before. refused collects the messages that it could not read.
func ReceiveDuplicates(ctx context.Context, a *Agent, said [][]byte) (refused, err error) {
	for _, data := range said {
		p, err := unpack(data)
		if err != nil {
			refused = errors.Join(refused, err)
			continue
		}
		if err := a.inBatches(ctx, len(p.Contents), func(b journal.Batch, i int) error {
			told := p.Contents[i]
			if _, _, err := a.crawl.pageOf(b, told.URL); told.Say != contentDuplicate || errors.Is(err, store.ErrUnknown) {
				return nil
			}
			return a.crawl.dropDuplicate(b, told)
		}); err != nil {
			return refused, err
		}
	}
	return refused, nil
}
