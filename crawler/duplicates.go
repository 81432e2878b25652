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

// tellStored says that a URL's page was stored, by each of its checksums and, where near-duplicates
// are dropped, by the bands of its signature. The URL has ended.
func (c *Crawler) tellStored(b journal.Batch, url string, signature []byte, sums ...[]byte) error {
	if c.opt.Sites == nil {
		return nil
	}
	for _, sum := range sums {
		if err := c.sayContent(b, content{Checksum: sum, URL: url}); err != nil {
			return err
		}
	}
	if c.opt.KeepNear {
		return nil
	}
	for _, band := range store.Bands(signature) {
		if err := c.sayContent(b, content{Checksum: band, URL: url, Signature: signature}); err != nil {
			return err
		}
	}
	return nil
}

// sayContent takes a step to who has the next part of the question: that may be this agent.
func (c *Crawler) sayContent(b journal.Batch, told content) error {
	part := told.Part(c.opt.Sites)
	if c.opt.Sites.Ours(part) {
		return c.hearContent(b, told)
	}
	data := (&Parcel{Contents: []content{told}}).Pack()
	return store.OutboxIn(journal.Stored(b)).Put(part, c.totals.Counts(), data)
}

// hearContent does what a step asks of this agent. Steps come doubled, late and out of order; each
// is taken by what is so when it comes.
func (c *Crawler) hearContent(b journal.Batch, told content) error {
	switch told.Say {
	case contentStored:
		return c.compareContent(b, told, told.URL)
	case contentGone:
		return c.forsaken(b, told)
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
		return c.sayContent(b, answer)
	}
	return c.dropDuplicate(b, told)
}

// compareContent notes that a page has a content, or is of a band. Where another one has it too, or is
// nearly the same, which of them stands for it is asked whether it still has it. told.Signature is
// the page's.
func (c *Crawler) compareContent(b journal.Batch, told content, url string) error {
	holders, part := store.DuplicatesIn(journal.Stored(b)), c.opt.Sites.PartOf(told.Checksum)
	holder, err := holders.Holder(part, told.Checksum)
	if err != nil || holder.URL == url && bytes.Equal(holder.Signature, told.Signature) {
		return err
	}
	own := store.Holder{Part: part, Checksum: told.Checksum, URL: url, Signature: told.Signature}
	resemblance, near := nearBySignature(holder.URL, holder.Signature, url, told.Signature)
	if holder.URL == url || len(told.Signature) > 0 && !near {
		holder = store.Holder{} // of a band the latest page is remembered
	}
	stands, other := holder, own
	if holder.URL == "" || acrossStands(url, holder.URL) {
		stands, other = own, holder
		if err := holders.PutHolder(own); err != nil {
			return err
		}
	}
	if other.URL == "" {
		return nil
	}
	return c.sayContent(b, content{Say: contentAsked, Checksum: told.Checksum, URL: stands.URL, Other: other.URL, Signature: other.Signature, Resemblance: resemblance})
}

// forsaken notes that a page which stood for a content has it no more: the other one does.
func (c *Crawler) forsaken(b journal.Batch, told content) error {
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

// alike says how far a stored page has the content that told tells of, or nearly that of a page at
// other with told's signature: 1 for the same, 0 for another.
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

// hasContent says whether a URL of this agent's has a content: in its own store, or in that of the
// agent which had the site before.
func (c *Crawler) hasContent(b journal.Batch, url, other string, told content) (bool, error) {
	p, fate, err := c.pageOf(b, url)
	if errors.Is(err, store.ErrUnknown) {
		return fate.State == StateElsewhere && fate.Reason == AskedElsewhere(string(fetch.StateOK)), nil
	}
	return err == nil && alike(p, other, told) > 0, err
}

// lacksContent says whether it is known here that a URL has not a content, though its agent said so
// once: that one may be no more, and the URL's page, fetched again, may repeat the very page
// that is to be dropped for it.
func (c *Crawler) lacksContent(b journal.Batch, url, other string, told content) (bool, error) {
	if c.opt.Sites.Ours(c.opt.Sites.Part(url)) {
		has, err := c.hasContent(b, url, other, told)
		return !has, err
	}
	p, fate, err := c.pageOf(b, url)
	if errors.Is(err, store.ErrUnknown) {
		return fate.State == string(fetch.StateDuplicate), nil
	}
	return err == nil && alike(p, other, told) == 0, err
}

// pageOf returns the stored page of a URL; store.ErrUnknown where it has none.
func (c *Crawler) pageOf(b journal.Batch, url string) (*store.Page, store.Fate, error) {
	seen, err := b.Lookup(store.HashURL(url))
	if err == nil && seen.ID == 0 {
		err = store.ErrUnknown
	}
	if err != nil {
		return nil, store.Fate{}, err
	}
	return store.DuplicatesIn(journal.Stored(b)).Page(seen.ID)
}

// dropDuplicate ends a stored page as a duplicate. One of which people said whether it is on topic
// stays, as what they said is learned from its words.
func (c *Crawler) dropDuplicate(b journal.Batch, told content) error {
	p, fate, err := c.pageOf(b, told.URL)
	if errors.Is(err, store.ErrUnknown) {
		return c.passDuplicateOn(b, told, fate)
	}
	if err != nil || !acrossStands(told.Other, told.URL) || len(told.Signature) == 0 && !p.Has(told.Checksum) || len(told.Signature) > 0 && !bytes.Equal(told.Signature, p.Signature) {
		return err
	}
	switch lacks, err := c.lacksContent(b, told.Other, told.URL, told); {
	case err != nil:
		return err
	case lacks:
		return c.sayContent(b, content{Say: contentGone, Checksum: told.Checksum, URL: told.Other, Other: told.URL, Signature: told.Signature, Resemblance: told.Resemblance})
	}
	records := store.DuplicatesIn(journal.Stored(b))
	if marked, err := records.Marked(p.ID); marked || err != nil {
		return err
	}
	h, err := c.hosts.Get(page.Host(p.URL), p.URL)
	if err != nil {
		return err
	}
	if err := records.Drop(p, told.Other); err != nil {
		return err
	}
	c.totals.dropped(p)
	c.hosts.DropPage(h, p.Relevant)
	c.traps.Duplicate(&h.Trap, p.URL)
	if err := c.hosts.Put(b, h); err != nil {
		return err
	}
	end := store.Fate{State: string(fetch.StateDuplicate), Reason: "same content as " + told.Other, Next: c.queue.nextVisit(interval(p.Depth))}
	if len(told.Signature) > 0 {
		c.totals.nearDuplicate()
		end.Reason, end.Resemblance = fmt.Sprintf("near-duplicate of %s (similarity %.2f)", told.Other, told.Resemblance), told.Resemblance
	}
	return c.queue.conclude(b, p.ID, store.Queued{Score: fate.Score, Parent: fate.Parent}, end)
}

// passDuplicateOn tells all others of a duplicate whose page this agent has not, where one that had the
// site before may have it.
func (c *Crawler) passDuplicateOn(b journal.Batch, told content, fate store.Fate) error {
	if c.opt.Repeats == nil || fate.State != StateElsewhere || fate.Reason != AskedElsewhere(string(fetch.StateOK)) {
		return nil // it was dropped before
	}
	data := (&Parcel{Contents: []content{told}}).Pack()
	seen, err := b.Lookup(store.HashURL(told.URL))
	if err != nil {
		return err
	}
	fate.Reason = AskedElsewhere(string(fetch.StateDuplicate))
	if err := b.End(seen.ID, fate); err != nil {
		return err
	}
	c.opt.Repeats(data)
	return nil
}

// HearDuplicates drops pages of sites that an agent had before, of which another one says
// that they are duplicates. refused says what could not be read.
func HearDuplicates(ctx context.Context, a *Agent, said [][]byte) (refused, err error) {
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
