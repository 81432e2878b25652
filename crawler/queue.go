package crawler

import (
	"errors"
	"fmt"
	"fossick/crawler/totals"
	"fossick/crawler/work"
	"math"
	"slices"

	"fossick/crawler/health"
	"fossick/crawler/hosts"
	"fossick/crawler/journal"
	"fossick/crawler/reading"
	"fossick/crawler/rescore"
	"fossick/fetch"
	"fossick/frontier"
	"fossick/graph/orders"
	"fossick/page"
	"fossick/store"
)

// queue is the URLs that wait, in the frontier and in the journal: discovered, given a
// place, rescored, put back.
type queue struct {
	opt      *Options
	journal  journal.Journal
	frontier *frontier.Frontier
	totals   *totals.Running
	hosts    *hosts.Table
	kinds    linkKinds
	passes   *rescore.Passes
	// held: stored pages are asked for again before the queue, which waits in the journal.
	held bool
}

// len counts the URLs that wait, also while the frontier does not have them.
func (q *queue) len() int {
	if q.opt.Refresh <= 0 {
		return q.frontier.Len()
	}
	return q.totals.Waiting()
}

// requeue puts a leased URL back where it was; a foreign sitemap's job and a probe have none.
func (q *queue) requeue(j *work.Job) {
	if j.Old != nil {
		q.pushStored(j.Old.ID, j.Birth.URL, j.Priority)
	}
	if j.ID == 0 {
		return
	}
	q.frontier.Push(item(j.ID, j.Host.Party, j.Birth.URL, j.Priority))
}

// pushStored queues a stored page. It has no key, so a scorer that learns does
// not move it.
func (q *queue) pushStored(id store.ID, url string, priority float64) {
	q.frontier.Push(frontier.Item{ID: frontier.ID(id), Host: q.frontier.Host(page.Host(url)), Priority: priority})
}

// linkFrom is what an ordering may know of a link found now on a page.
func (q *queue) linkFrom(from string, f reading.Link) orders.Link {
	return orders.Link{Score: f.Score, Step: q.totals.Pages(), Discovers: q.kinds.discovers(from, f.URL)}
}

// linkOf is what an ordering may know of a URL that a sitemap lists: it is no
// link.
func (q *queue) linkOf(f reading.Link) orders.Link {
	return orders.Link{Score: f.Score, Step: q.totals.Pages(), Discovers: true}
}

// learned gives the queue new priorities once the scorer has learned enough.
func (q *queue) learned() error {
	urls, whole := q.passes.Due(q.totals.Pages(), q.frontier.Len(), q.frontier.Spilled())
	if whole {
		q.frontier.Reprioritise(q.passes.Priority)
		q.passes.Done()
	} else if urls > 0 && q.frontier.Renew(urls, q.passes.Priority) {
		q.passes.Done()
	}
	return q.frontier.Err()
}

// rescore has the whole queue hear at once of what the scorer has learned.
func (q *queue) rescore() {
	if q.passes.Begin(q.totals.Pages()) {
		q.frontier.Reprioritise(q.passes.Priority)
		q.passes.Done()
	}
}

// rescorer returns the scorer when it changes its mind about queued URLs and the
// ordering goes by scores.
func (q *queue) rescorer() (Rescorer, bool) {
	s, ok := q.opt.Scorer.(Rescorer)
	return s, ok && orders.ByScore(q.opt.Ordering)
}

// These hold where the scorer rescores. farPlace is by how much a waiting URL's
// priority, a probability, may differ from what is journalled of it. A link is
// a better one than the recorded one from betterLink times its score on.
const (
	farPlace   = 0.2
	betterLink = 1.5
)

// moved says whether the place that one more parent gives to a URL that waits
// is worth a record. What a scorer that rescores says of a URL changes with
// each link to it and each page. The journal is no place to keep that: a
// resumed crawl rescores the queue at once. So of its opinions those are
// written that name a clearly better parent than the journal does, or that have
// moved far. Of a URL that the scorer forgets, a resumed crawl knows no other.
func (q *queue) moved(old store.Queued, priority, score float64) bool {
	if _, rescores := q.rescorer(); rescores {
		return score > betterLink*old.Score+farPlace/10 || math.Abs(priority-old.Priority) > farPlace
	}
	return priority != old.Priority
}

// item is a URL as the frontier knows it.
func item(id store.ID, host frontier.Host, url string, priority float64) frontier.Item {
	return frontier.Item{ID: frontier.ID(id), Host: host, Priority: priority, Key: page.Key(url)}
}

// restore gives the frontier the URLs that wait in the journal.
func (q *queue) restore() error {
	for w, err := range q.journal.Waiters() {
		if err != nil {
			return err
		}
		if uint64(w.ID) > q.totals.URLs() {
			return fmt.Errorf("URL %d waits, of %d: %w; run fossick repair", w.ID, q.totals.URLs(), store.ErrDamaged)
		}
		q.frontier.Push(item(w.ID, q.frontier.Host(page.Host(w.URL)), w.URL, w.Queued.Priority))
	}
	return q.frontier.Err()
}

// reopen queues what ended in a state again, as far as it is wanted.
func (q *queue) reopen(state fetch.State, wanted func(*store.Ended) bool) error {
	b := q.journal.Batch()
	defer func() { b.Cancel() }()
	for e, err := range q.opt.Store.URLs().Ended(string(state)) {
		if err != nil {
			return err
		}
		if !wanted(&e) {
			continue
		}
		if b.Full() {
			if err := q.totals.Commit(b); err != nil {
				return err
			}
			b = q.journal.Batch()
		}
		priority := q.opt.Ordering.Priority(orders.Link{Score: e.Score, Step: q.totals.Pages()})
		life, err := q.opt.Store.URLs().Life(e.URL)
		if err != nil {
			return err
		}
		if err := b.Requeue(store.HashURL(e.URL), e.ID, store.Queued{
			Priority: priority, Score: e.Score, Parent: e.Fate.Parent, Visits: len(life.Visits),
		}); err != nil {
			return err
		}
		if e.Resemblance > 0 {
			q.totals.NearReopened()
		}
		q.totals.Reopened(e.State)
	}
	return q.totals.Commit(b)
}

// pardon takes back what was counted against URLs: their exchanges stay in the
// journal and count no more, and those that ended by them wait again.
func (q *queue) pardon(b journal.Batch, misses []health.Miss) error {
	for _, m := range slices.Backward(misses) { // the last one of a URL knows its place best
		if m.ID == 0 {
			continue
		}
		if err := q.pardonURL(b, m); err != nil {
			return fmt.Errorf("%s: taking back a failure: %w", m.URL, err)
		}
	}
	return nil
}

func (q *queue) pardonURL(b journal.Batch, m health.Miss) error {
	counted := 0
	if m.Page {
		counted = 1
	}
	place, err := b.Queued(m.ID)
	if err == nil {
		if counted == 0 {
			return nil
		}
		place.Excused++
		return b.Queue(m.ID, place)
	}
	if !errors.Is(err, store.ErrUnknown) {
		return err
	}
	state, err := b.Ended(m.ID)
	if err != nil {
		return err
	}
	q.totals.Reopened(state)
	place = m.Queued
	place.Excused += counted
	birth, err := q.journal.Birth(m.ID)
	if err != nil {
		return err
	}
	q.frontier.Push(item(m.ID, q.frontier.Host(m.Host), birth.URL, place.Priority))
	return b.Requeue(store.HashURL(birth.URL), m.ID, place)
}
