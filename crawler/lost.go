package crawler

import (
	"context"
	"maps"
	"slices"

	"fossick/crawler/fetch"
	"fossick/crawler/journal"
	"fossick/store"
)

// Pages of an agent that is no more are lost, unless a replica has them. Who has their site
// says so, in the URLs' fates and the counts.

// refetchLost queues what was found to be lost in a session before.
func (c *Crawler) refetchLost() error {
	return c.queue.reopen(StateLost, func(*store.Ended) bool { return true })
}

// disown leaves it to others to tell of pages that are lost.
func (a *Agent) disown(ctx context.Context, lost []store.ID) error {
	fate := store.Fate{State: StateElsewhere, Reason: Reason, At: a.crawl.opt.Now().UnixMilli()}
	return a.inBatches(ctx, len(lost), func(b journal.Batch, i int) error { return a.across.Found(b, lost[i], fate) })
}

// inBatches does something n times, in as few batches as that takes.
func (a *Agent) inBatches(ctx context.Context, n int, do func(b journal.Batch, i int) error) error {
	for i := 0; i < n; {
		if err := a.inTurn(ctx, func() error {
			b := a.crawl.journal.Batch()
			defer func() { b.Cancel() }() // of no effect after Commit
			for ; i < n && !b.Full(); i++ {
				if err := do(b, i); err != nil {
					return err
				}
			}
			return a.crawl.finish(b)
		}); err != nil {
			return err
		}
	}
	return nil
}

// Back tells those who may hold this agent for dead that its pages are not lost. Of some parts
// HandOver says so.
func (a *Agent) Back(ctx context.Context, handedOver func(part uint16) bool) error {
	sites := a.crawl.opt.Sites
	return a.tellPages(ctx, a.crawl.opt.Store, string(fetch.StateOK), func(part uint16) bool { return handedOver(part) || sites.Ours(part) })
}

// tellPages tells who has their sites in what state the URLs are by now whose pages a store
// has, or had; but not of some parts.
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
