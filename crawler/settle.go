package crawler

import (
	"fmt"
	"math"

	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/store"
)

// A promiser is a Rescorer that can tell what it expects of a URL that waits,
// as a probability. The place that it gives the URL may have other reasons: to
// explore, or what people say.
type promiser interface {
	Rescorer
	// Promise returns the probability that the URL with this page.Key is on topic; false
	// when the scorer knows nothing of it.
	Promise(key uint64) (probability float64, known bool)
}

// promises says whether the priorities of what waits are probabilities.
func (q *queue) promises() bool {
	_, promises := q.opt.Scorer.(promiser)
	return promises && orders.ByScore(q.opt.Ordering)
}

// Promise is what the scorer expects of a URL that waits; false when it does not say, and
// of a start page, which the user wants.
func (q *queue) Promise(birth store.Birth) (float64, bool) {
	scorer, promises := q.opt.Scorer.(promiser)
	if !promises || birth.Via == store.ViaSeed {
		return 0, false
	}
	return scorer.Promise(page.Key(birth.URL))
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

// settle journals what the scorer says in the end of the URLs that wait, as the
// journal was told of their places only when they had moved far. It is for
// those who read the store: why, and eval, which asks how many of them are on
// topic.
func (q *queue) settle() error {
	if _, promises := q.opt.Scorer.(promiser); q.opt.Store == nil || !promises || q.frontier.Len() > mostSettled {
		return nil
	}
	b := q.journal.Batch()
	defer func() { b.Cancel() }()
	for w, err := range q.journal.Waiters() {
		if err != nil {
			return fmt.Errorf("places of waiting URLs: %w", err)
		}
		score, known := q.Promise(w.Birth)
		if !known || math.Abs(logOdds(score)-logOdds(w.Score)) < settledOdds {
			continue
		}
		place := w.Queued
		place.Score = score
		if orders.ByScore(q.opt.Ordering) {
			place.Priority = q.opt.Ordering.Priority(orders.Link{Score: place.Score})
		}
		if err := b.Queue(w.ID, place); err != nil {
			return err
		}
		if b.Full() {
			if err := b.Commit(nil); err != nil {
				return err
			}
			b = q.journal.Batch()
		}
	}
	return b.Commit(nil)
}

func logOdds(score float64) float64 {
	p := max(leastSettled, min(1-leastSettled, score))
	return math.Log(p / (1 - p))
}
