package crawler

import (
	"context"

	"fossick/crawler/fetch"
	"fossick/store"
)

// Forget takes in an owner's request that pages be forgotten, while Run goes on. When it
// returns nil the request is kept, nothing of these pages is asked for or stored any more,
// and Run ends soon with StopForget: store.Fulfil needs the store for itself. Then the crawl
// can be resumed. Safe for concurrent use.
func (c *Crawler) Forget(ctx context.Context, pattern string) error {
	return c.inbox.inTurn(ctx, func() (error, error) {
		if err := store.KeepForget(c.opt.Store, pattern, c.opt.Now().UnixMilli()); err != nil {
			return nil, err
		}
		c.opt.Scope.Forgotten = append(c.opt.Scope.Forgotten, store.Forget{Pattern: pattern})
		if c.stopped == "" {
			c.stopped = StopForget
		}
		c.flight.interrupt()
		return nil, nil
	})
}

// forgotten says whether an exchange brought what is to be forgotten by now.
func (o *Options) forgotten(of *outcome) bool {
	return of.task == workPage && o.Scope.Forgotten.Has(of.Birth.URL)
}

// dismissed is the fate of a URL whose answer came when it was to be forgotten.
func (a *arrivals) dismissed() store.Fate {
	return a.endings.of(string(fetch.StateNone), store.ForgottenReason)
}
