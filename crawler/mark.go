package crawler

import (
	"context"
	"time"
)

// Mark takes in what a person says of URLs that the crawl knows, while Run goes
// on. When it returns nil, the marks are on disk, the scorer has learned from
// them, and the queue is in the order that follows. Options.Progress was told
// of that moment. moves is false when the scorer does not learn from marks, so
// that nothing but the pages' own relevance changed. When one of the URLs
// cannot be marked, none is. Safe for concurrent use.
func (c *Crawler) Mark(ctx context.Context, said []Mark) (moves bool, err error) {
	said, away, err := c.divide(said)
	if err != nil {
		return false, err
	}
	ids, marked, err := c.marks.Read(said)
	if err != nil {
		return false, err
	}
	if err := c.tellLabels(away, c.opt.Now()); err != nil {
		return false, err
	}
	if len(said) == 0 {
		return learns(c.opt.Scorer, away), nil // from the page, once who has it has answered
	}
	var at time.Time
	err = c.inbox.inTurn(ctx, func() (error, error) {
		at = c.opt.Now()
		return c.marks.enter(ids, said, c.totals.Counts(), at)
	})
	if err == nil && c.opt.Sites != nil {
		err = c.tellLabels(marked, at)
	}
	if err != nil || !Tell(c.opt.Scorer, marked) { // outside the owner's turn: fetches go on meanwhile
		return false, err
	}
	return true, c.inbox.inTurn(ctx, func() (error, error) {
		c.queue.Rescore()
		c.opt.Progress(c.progress()) // so that who looks knows from which page on the marks count
		return nil, nil
	})
}
