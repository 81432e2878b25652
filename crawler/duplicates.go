package crawler

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"fossick/crawler/fetch"
	"fossick/crawler/hosts"
	"fossick/crawler/journal"
	"fossick/internal/page"
	"fossick/store"
)

// duplicates finds pages that other agents of the crawl have stored too (paper C2). An agent
// stores a page, and says so in the same commit to who has the part of its content; there it
// is found that another has it. docs/duplicates.md has the steps.
type duplicates struct {
	opt     *Options
	totals  *running
	hosts   *hosts.Table
	traps   *hosts.Detector
	endings *endings
}

// stored says that a URL's page was stored, by each of its checksums and, where near-duplicates
// are dropped, by the bands of its signature. The URL has ended.
func (d *duplicates) stored(b journal.Batch, url string, signature []byte, sums ...[]byte) error {
	if d.opt.Sites == nil {
		return nil
	}
	for _, sum := range sums {
		if err := d.say(b, content{Checksum: sum, URL: url}); err != nil {
			return err
		}
	}
	if d.opt.KeepNear {
		return nil
	}
	for _, band := range store.Bands(signature) {
		if err := d.say(b, content{Checksum: band, URL: url, Signature: signature}); err != nil {
			return err
		}
	}
	return nil
}

// say takes a step to who has the next part of the question: that may be this agent.
func (d *duplicates) say(b journal.Batch, c content) error {
	part := c.Part(d.opt.Sites)
	if d.opt.Sites.Ours(part) {
		return d.hear(b, c)
	}
	data := (&Parcel{Contents: []content{c}}).Pack()
	return store.OutboxIn(journal.Stored(b)).Put(part, d.totals.Counts(), data)
}

// hear does what a step asks of this agent. Steps come doubled, late and out of order; each
// is taken by what is so when it comes.
func (d *duplicates) hear(b journal.Batch, c content) error {
	switch c.Say {
	case contentStored:
		return d.compare(b, c, c.URL)
	case contentGone:
		return d.forsaken(b, c)
	case contentAsked:
		has, err := d.has(b, c.URL, c.Other, c)
		if err != nil {
			return err
		}
		answer := c
		answer.Say = contentGone
		if has {
			answer.Say, answer.URL, answer.Other = contentDuplicate, c.Other, c.URL
		}
		return d.say(b, answer)
	}
	return d.drop(b, c)
}

// compare notes that a page has a content, or is of a band. Where another one has it too, or is
// nearly the same, which of them stands for it is asked whether it still has it. c.Signature is
// the page's.
func (d *duplicates) compare(b journal.Batch, c content, url string) error {
	holders, part := store.DuplicatesIn(journal.Stored(b)), d.opt.Sites.PartOf(c.Checksum)
	holder, err := holders.Holder(part, c.Checksum)
	if err != nil || holder.URL == url && bytes.Equal(holder.Signature, c.Signature) {
		return err
	}
	own := store.Holder{Part: part, Checksum: c.Checksum, URL: url, Signature: c.Signature}
	resemblance, near := nearBySignature(holder.URL, holder.Signature, url, c.Signature)
	if holder.URL == url || len(c.Signature) > 0 && !near {
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
	return d.say(b, content{Say: contentAsked, Checksum: c.Checksum, URL: stands.URL, Other: other.URL, Signature: other.Signature, Resemblance: resemblance})
}

// forsaken notes that a page which stood for a content has it no more: the other one does.
func (d *duplicates) forsaken(b journal.Batch, c content) error {
	holders, part := store.DuplicatesIn(journal.Stored(b)), d.opt.Sites.PartOf(c.Checksum)
	holder, err := holders.Holder(part, c.Checksum)
	if err != nil {
		return err
	}
	if holder.URL == c.URL {
		return holders.PutHolder(store.Holder{Part: part, Checksum: c.Checksum, URL: c.Other, Signature: c.Signature})
	}
	return d.compare(b, c, c.Other)
}

// alike says how far a stored page has the content that c tells of, or nearly that of a page at
// other with c's signature: 1 for the same, 0 for another.
func alike(p *store.Page, other string, c content) float64 {
	if len(c.Signature) > 0 {
		if resemblance, near := nearBySignature(p.URL, p.Signature, other, c.Signature); near {
			return resemblance
		}
		return 0
	}
	if p.Has(c.Checksum) {
		return 1
	}
	return 0
}

// has says whether a URL of this agent's has a content: in its own store, or in that of the
// agent which had the site before.
func (d *duplicates) has(b journal.Batch, url, other string, c content) (bool, error) {
	p, fate, err := d.page(b, url)
	if errors.Is(err, store.ErrUnknown) {
		return fate.State == StateElsewhere && fate.Reason == AskedElsewhere(string(fetch.StateOK)), nil
	}
	return err == nil && alike(p, other, c) > 0, err
}

// lacks says whether it is known here that a URL has not a content, though its agent said so
// once: that one may be no more, and the URL's page, fetched again, may repeat the very page
// that is to be dropped for it.
func (d *duplicates) lacks(b journal.Batch, url, other string, c content) (bool, error) {
	if d.opt.Sites.Ours(d.opt.Sites.Part(url)) {
		has, err := d.has(b, url, other, c)
		return !has, err
	}
	p, fate, err := d.page(b, url)
	if errors.Is(err, store.ErrUnknown) {
		return fate.State == string(fetch.StateDuplicate), nil
	}
	return err == nil && alike(p, other, c) == 0, err
}

// page returns the stored page of a URL; store.ErrUnknown where it has none.
func (d *duplicates) page(b journal.Batch, url string) (*store.Page, store.Fate, error) {
	seen, err := b.Lookup(store.HashURL(url))
	if err == nil && seen.ID == 0 {
		err = store.ErrUnknown
	}
	if err != nil {
		return nil, store.Fate{}, err
	}
	return store.DuplicatesIn(journal.Stored(b)).Page(seen.ID)
}

// drop ends a stored page as a duplicate. One of which people said whether it is on topic
// stays, as what they said is learned from its words.
func (d *duplicates) drop(b journal.Batch, c content) error {
	p, fate, err := d.page(b, c.URL)
	if errors.Is(err, store.ErrUnknown) {
		return d.passOn(b, c, fate)
	}
	if err != nil || !acrossStands(c.Other, c.URL) || len(c.Signature) == 0 && !p.Has(c.Checksum) || len(c.Signature) > 0 && !bytes.Equal(c.Signature, p.Signature) {
		return err
	}
	switch lacks, err := d.lacks(b, c.Other, c.URL, c); {
	case err != nil:
		return err
	case lacks:
		return d.say(b, content{Say: contentGone, Checksum: c.Checksum, URL: c.Other, Other: c.URL, Signature: c.Signature, Resemblance: c.Resemblance})
	}
	records := store.DuplicatesIn(journal.Stored(b))
	if marked, err := records.Marked(p.ID); marked || err != nil {
		return err
	}
	h, err := d.hosts.Get(page.Host(p.URL), p.URL)
	if err != nil {
		return err
	}
	if err := records.Drop(p, c.Other); err != nil {
		return err
	}
	d.totals.dropped(p)
	d.hosts.DropPage(h, p.Relevant)
	d.traps.Duplicate(&h.Trap, p.URL)
	if err := d.hosts.Put(b, h); err != nil {
		return err
	}
	end := store.Fate{State: string(fetch.StateDuplicate), Reason: "same content as " + c.Other, Next: d.endings.Next(interval(p.Depth))}
	if len(c.Signature) > 0 {
		d.totals.nearDuplicate()
		end.Reason, end.Resemblance = fmt.Sprintf("near-duplicate of %s (similarity %.2f)", c.Other, c.Resemblance), c.Resemblance
	}
	return d.endings.conclude(b, p.ID, store.Queued{Score: fate.Score, Parent: fate.Parent}, end)
}

// passOn tells all others of a duplicate whose page this agent has not, where one that had the
// site before may have it.
func (d *duplicates) passOn(b journal.Batch, c content, fate store.Fate) error {
	if d.opt.Repeats == nil || fate.State != StateElsewhere || fate.Reason != AskedElsewhere(string(fetch.StateOK)) {
		return nil // it was dropped before
	}
	data := (&Parcel{Contents: []content{c}}).Pack()
	seen, err := b.Lookup(store.HashURL(c.URL))
	if err != nil {
		return err
	}
	fate.Reason = AskedElsewhere(string(fetch.StateDuplicate))
	if err := b.End(seen.ID, fate); err != nil {
		return err
	}
	d.opt.Repeats(data)
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
			c := p.Contents[i]
			if _, _, err := a.crawl.arrivals.duplicates.page(b, c.URL); c.Say != contentDuplicate || errors.Is(err, store.ErrUnknown) {
				return nil
			}
			return a.crawl.arrivals.duplicates.drop(b, c)
		}); err != nil {
			return refused, err
		}
	}
	return refused, nil
}
