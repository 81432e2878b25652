package crawler

import (
	"context"
	"errors"
	"math"
	"regexp"
	"time"

	"fossick/graph/orders"
	"fossick/store"
)

// Change is what a person changes in a running crawl. Nil fields stay as they are.
type Change struct {
	Paused   *bool          // nothing new is asked for while it is true
	MaxPages *uint64        // over all sessions of the store; 0: no limit
	MaxTime  *time.Duration // of this session, from its beginning; 0: no limit
	Exclude  *regexp.Regexp // takes the place of Scope.Exclude, also for waiting URLs
	Stop     bool           // end as at an interrupt
	Settings []byte         // what a resumed crawl reads: the store's settings with this change
}

// errShared refuses a change of a limit that all agents share.
var errShared = errors.New("several agents share this crawl, so it takes no changes here; stop it and resume it with other flags")

// Change changes the crawl while Run goes on; Options.Progress shows it by then. It is safe for
// concurrent use.
func (c *Crawler) Change(ctx context.Context, to Change) error {
	if c.opt.several() {
		return errShared
	}
	return c.inTurn(ctx, func() (refused, broken error) {
		if to.Settings != nil {
			if err := c.opt.Store.SetSettings(to.Settings); err != nil {
				return nil, err
			}
		}
		c.change(to)
		c.opt.Progress(c.progress())
		return nil, nil
	})
}

func (c *Crawler) change(to Change) {
	if to.Paused != nil {
		if c.paused = *to.Paused; !c.paused { // the pause is no time of the crawl
			c.paced = c.opt.Now()
		}
	}
	if to.MaxPages != nil {
		c.opt.MaxPages = *to.MaxPages
		c.allowed.Pages = c.opt.allowance().Pages
	}
	if to.MaxTime != nil {
		if c.opt.MaxTime = *to.MaxTime; c.until != nil {
			left := c.opt.MaxTime
			if elapsed, _ := c.totals.session(); left > 0 {
				left = max(left-elapsed, 1) // it may be over
			}
			c.until(left)
		}
	}
	if to.Exclude != nil {
		c.opt.Scope.Exclude = to.Exclude
		c.reader.setScope(c.opt.Scope)
	}
	if to.Stop && c.stopped == "" {
		c.stopped = StopInterrupted
		c.interrupt()
	}
}

// Waiting is a URL of the queue.
type Waiting struct {
	ID    store.ID
	Score float64 // its present priority; NaN where the crawl's order does not go by scores
}

// Best returns the best n URLs of the queue in their present order, those of resting hosts too,
// and how many URLs wait. It leaves out what the queue keeps on disk, which ranks lower. It is safe
// for concurrent use while Run goes on.
func (c *Crawler) Best(ctx context.Context, n int) (best []Waiting, total int, err error) {
	err = c.inTurn(ctx, func() (error, error) {
		scored := orders.ByScore(c.opt.Ordering)
		for _, w := range c.frontier.Survey(nil, n, c.opt.Now().Add(math.MaxInt64/2)) {
			score := w.Priority
			if !scored {
				score = math.NaN()
			}
			best = append(best, Waiting{store.ID(w.ID), score})
		}
		total = c.waiting()
		return nil, nil
	})
	return best, total, err
}
