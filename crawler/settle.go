package crawler

import (
	"fmt"
	"math"

	"fossick/frontier"
	"fossick/page"
	"fossick/store"
)

// A promiser is a Rescorer that fetches some URLs for another reason than what it
// expects of them, as to learn of what little is known.
type promiser interface {
	Rescorer
	// Promise is Rescore without such reasons.
	Promise(key uint64) (score float64, known bool)
}

// promise is what the scorer expects of a URL that waits; false when it rescores
// nothing, or knows nothing of it.
func (c *Crawler) promise(url string) (float64, bool) {
	scorer, rescores := c.rescorer()
	if !rescores {
		return 0, false
	}
	if p, ok := scorer.(promiser); ok {
		return p.Promise(page.Key(url))
	}
	return scorer.Rescore(page.Key(url))
}

// present gives a URL's place the score that the scorer has of it now, of which the
// journal was told only when it had moved far. A start page's stays 1.
func (c *Crawler) present(birth store.Birth, q store.Queued) store.Queued {
	if birth.Via != store.ViaSeed {
		if score, known := c.promise(birth.URL); known {
			q.Score = score
		}
	}
	return q
}

const (
	// mostSettled bounds the URLs that settle reads, some seconds of work: of a longer
	// queue a scorer remembers a small part.
	mostSettled = 1 << 20
	// settledOdds is the change in log-odds that it leaves alone, and no score below
	// leastSettled is told from another.
	settledOdds  = 0.1
	leastSettled = 1e-4
)

// settle journals what the scorer says in the end of the URLs that wait, whose places
// the journal was told of only when they had moved far: for those who read the store,
// as why does, and eval, which asks how many of them are on topic.
func (c *Crawler) settle() error {
	if _, rescores := c.rescorer(); !rescores || c.frontier.Len() > mostSettled {
		return nil
	}
	b := c.store.Batch()
	defer func() { b.Cancel() }()
	for w, err := range c.store.Waiters() {
		if err != nil {
			return fmt.Errorf("places of what waits: %w", err)
		}
		q := c.present(w.Birth, w.Queued)
		if math.Abs(logOdds(q.Score)-logOdds(w.Score)) < settledOdds {
			continue
		}
		if frontier.ByScore(c.opt.Ordering) {
			q.Priority = c.opt.Ordering.Priority(frontier.Link{Score: q.Score})
		}
		if err := c.putQueued(b, w.ID, q); err != nil {
			return err
		}
		if b.Size() > store.MaxBatchBytes {
			if err := b.Commit(); err != nil {
				return err
			}
			b = c.store.Batch()
		}
	}
	return b.Commit()
}

func logOdds(score float64) float64 {
	p := max(leastSettled, min(1-leastSettled, score))
	return math.Log(p / (1 - p))
}
