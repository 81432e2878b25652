package crawler

import (
	"context"

	"fossick/internal/page"
	"fossick/store"
)

// Standing is how a URL of the queue stands to what a crawl waits for.
type Standing struct {
	Price float64     // priority that a link needs to be taken now; -Inf takes any
	Wait  *store.Wait // that the URL had part in so far; nil for none that is remembered
}

// Standing says how a URL, in normal form, stands while Run goes on; nil where the crawl
// waits for no better links. Safe for concurrent use.
func (c *Crawler) Standing(ctx context.Context, url string) (s *Standing, err error) {
	err = c.inbox.inTurn(ctx, func() (error, error) {
		if choice := c.leases.choice; choice.keeper != nil {
			s = &Standing{Price: choice.need(), Wait: choice.waits.of(page.Key(url), c.opt.Now())}
		}
		return nil, nil
	})
	return s, err
}
