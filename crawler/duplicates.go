package crawler

import (
	"bytes"
	"context"
	"errors"

	"fossick/crawler/across"
	"fossick/crawler/hosts"
	"fossick/crawler/journal"
	"fossick/crawler/queue"
	"fossick/crawler/refresh"
	"fossick/crawler/totals"
	"fossick/crawler/traps"
	"fossick/fetch"
	"fossick/page"
	"fossick/store"
)

// duplicates finds pages that other agents of the crawl have stored too (paper C2). An agent
// stores a page, and says so in the same commit to who has the part of its content; there it
// is found that another has it. docs/duplicates.md has the steps.
type duplicates struct {
	opt     *Options
	totals  *totals.Running
	hosts   *hosts.Table
	traps   *traps.Detector
	endings *queue.Endings
}

// stored says that a URL's page was stored. The URL has ended.
func (d *duplicates) stored(b journal.Batch, checksum []byte, url string) error {
	if d.opt.Sites == nil {
		return nil
	}
	return d.say(b, across.Content{Checksum: checksum, URL: url})
}

// say takes a step to who has the next part of the question: that may be this agent.
func (d *duplicates) say(b journal.Batch, c across.Content) error {
	part := c.Part(d.opt.Sites)
	if d.opt.Sites.Ours(part) {
		return d.hear(b, c)
	}
	data, err := (&across.Parcel{Contents: []across.Content{c}}).Pack()
	if err != nil {
		return err
	}
	return store.OutboxIn(journal.Stored(b)).Put(part, d.totals.Counts(), data)
}

// hear does what a step asks of this agent. Steps come doubled, late and out of order; each
// is taken by what is so when it comes.
func (d *duplicates) hear(b journal.Batch, c across.Content) error {
	switch c.Say {
	case across.ContentStored:
		return d.compare(b, c.Checksum, c.URL)
	case across.ContentGone:
		return d.forsaken(b, c)
	case across.ContentAsked:
		has, err := d.has(b, c.URL, c.Checksum)
		if err != nil {
			return err
		}
		answer := across.Content{Say: across.ContentGone, Checksum: c.Checksum, URL: c.URL, Other: c.Other}
		if has {
			answer = across.Content{Say: across.ContentDuplicate, Checksum: c.Checksum, URL: c.Other, Other: c.URL}
		}
		return d.say(b, answer)
	}
	return d.drop(b, c)
}

// compare notes that a page has a content. Where another one has it too, which of them stands
// for it is asked whether it still has it.
func (d *duplicates) compare(b journal.Batch, checksum []byte, url string) error {
	holders, part := store.DuplicatesIn(journal.Stored(b)), d.opt.Sites.PartOf(checksum)
	holder, err := holders.Holder(part, checksum)
	if err != nil || holder == url {
		return err
	}
	stands, other := holder, url
	if holder == "" || across.Stands(url, holder) {
		stands, other = url, holder
		if err := holders.PutHolder(store.Holder{Part: part, Checksum: checksum, URL: url}); err != nil {
			return err
		}
	}
	if other == "" {
		return nil
	}
	return d.say(b, across.Content{Say: across.ContentAsked, Checksum: checksum, URL: stands, Other: other})
}

// forsaken notes that a page which stood for a content has it no more: the other one does.
func (d *duplicates) forsaken(b journal.Batch, c across.Content) error {
	holders, part := store.DuplicatesIn(journal.Stored(b)), d.opt.Sites.PartOf(c.Checksum)
	holder, err := holders.Holder(part, c.Checksum)
	if err != nil {
		return err
	}
	if holder == c.URL {
		return holders.PutHolder(store.Holder{Part: part, Checksum: c.Checksum, URL: c.Other})
	}
	return d.compare(b, c.Checksum, c.Other)
}

// has says whether a URL of this agent's has a content: in its own store, or in that of the
// agent which had the site before.
func (d *duplicates) has(b journal.Batch, url string, checksum []byte) (bool, error) {
	p, fate, err := d.page(b, url)
	if errors.Is(err, store.ErrUnknown) {
		return fate.State == across.StateElsewhere && fate.Reason == across.AskedElsewhere(string(fetch.StateOK)), nil
	}
	return err == nil && bytes.Equal(p.Checksum, checksum), err
}

// lacks says whether it is known here that a URL has not a content, though its agent said so
// once: that one may be no more, and the URL's page, fetched again, may repeat the very page
// that is to be dropped for it.
func (d *duplicates) lacks(b journal.Batch, url string, checksum []byte) (bool, error) {
	if d.opt.Sites.Ours(d.opt.Sites.Part(url)) {
		has, err := d.has(b, url, checksum)
		return !has, err
	}
	p, fate, err := d.page(b, url)
	if errors.Is(err, store.ErrUnknown) {
		return fate.State == string(fetch.StateDuplicate), nil
	}
	return err == nil && !bytes.Equal(p.Checksum, checksum), err
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
func (d *duplicates) drop(b journal.Batch, c across.Content) error {
	p, fate, err := d.page(b, c.URL)
	if errors.Is(err, store.ErrUnknown) {
		return d.passOn(b, c, fate)
	}
	if err != nil || !bytes.Equal(p.Checksum, c.Checksum) || !across.Stands(c.Other, c.URL) {
		return err
	}
	switch lacks, err := d.lacks(b, c.Other, c.Checksum); {
	case err != nil:
		return err
	case lacks:
		return d.say(b, across.Content{Say: across.ContentGone, Checksum: c.Checksum, URL: c.Other, Other: c.URL})
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
	d.totals.Dropped(p)
	d.hosts.DropPage(h, p.Relevant)
	d.traps.Duplicate(&h.Trap, p.URL)
	if err := d.hosts.Put(b, h); err != nil {
		return err
	}
	return d.endings.Conclude(b, p.ID, store.Queued{Score: fate.Score, Parent: fate.Parent}, store.Fate{
		State: string(fetch.StateDuplicate), Reason: "same content as " + c.Other, Next: d.endings.Next(refresh.Interval(p.Depth)),
	})
}

// passOn tells all others of a duplicate whose page this agent has not, where one that had the
// site before may have it.
func (d *duplicates) passOn(b journal.Batch, c across.Content, fate store.Fate) error {
	if d.opt.Repeats == nil || fate.State != across.StateElsewhere || fate.Reason != across.AskedElsewhere(string(fetch.StateOK)) {
		return nil // it was dropped before
	}
	data, err := (&across.Parcel{Contents: []across.Content{c}}).Pack()
	if err != nil {
		return err
	}
	seen, err := b.Lookup(store.HashURL(c.URL))
	if err != nil {
		return err
	}
	fate.Reason = across.AskedElsewhere(string(fetch.StateDuplicate))
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
		p, err := across.Unpack(data)
		if err != nil {
			refused = errors.Join(refused, err)
			continue
		}
		if err := a.inBatches(ctx, len(p.Contents), func(b journal.Batch, i int) error {
			c := p.Contents[i]
			if _, _, err := a.crawl.arrivals.duplicates.page(b, c.URL); c.Say != across.ContentDuplicate || errors.Is(err, store.ErrUnknown) {
				return nil
			}
			return a.crawl.arrivals.duplicates.drop(b, c)
		}); err != nil {
			return refused, err
		}
	}
	return refused, nil
}
