package crawler

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"fossick/crawler/fetch"
	"fossick/crawler/journal"
	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/store"
)

// conclude ends a URL's wait; a job without a URL (id 0) has nothing to end.
func (q *queue) conclude(b journal.Batch, id store.ID, place store.Queued, outcome store.Outcome) error {
	if id == 0 {
		return nil
	}
	if q.outgoing != nil { // an earlier owner of the part may have ended it meanwhile
		switch was, err := b.Ended(id); {
		case err == nil:
			q.totals.reopened(was)
		case !errors.Is(err, store.ErrUnknown):
			return err
		}
	}
	q.totals.Ended(outcome.State)
	outcome.At = cmp.Or(outcome.At, q.opt.Now().UnixMilli())
	outcome.Score, outcome.Parent = cmp.Or(outcome.Score, place.Score), place.Parent
	return b.End(id, outcome)
}

// nextVisit returns the time of the next visit for the journal, 0 for never.
func (q *queue) nextVisit(after time.Duration) int64 {
	if after <= 0 {
		return 0
	}
	return q.opt.Now().Add(after).UnixMilli()
}

// outcomeOf returns the outcome of a URL that its exchange ended.
func (q *queue) outcomeOf(o *jobResult) store.Outcome {
	r := o.Resp
	return store.Outcome{State: string(r.State), Reason: r.ErrorText(), Score: o.Page.Promise, Next: q.nextVisit(revisitAfterAnswer(r, o.Discovery.Depth))}
}

// outcome returns the outcome of a URL that ended without an exchange of its own.
func (q *queue) outcome(state, reason string) store.Outcome {
	return store.Outcome{State: state, Reason: reason, Next: q.nextVisit(revisitAfter(fetch.State(state), 0))}
}

// retry queues a URL again after a failure that may pass, or gives it up. Its priority falls
// by the chance that another try succeeds.
func (q *queue) retry(b journal.Batch, o *jobResult, visits int, rest time.Duration) error {
	place, err := b.Queued(o.ID) // Excused may have changed during the exchange
	if err != nil {
		return fmt.Errorf("URL %d of the queue: %w", o.ID, err)
	}
	place.Visits = visits
	again, why := o.Host.Health.Retry(o.Resp, visits-place.Excused)
	if again {
		key := page.Key(o.Discovery.URL)
		worth := q.raised(0, key, o.Priority)
		q.chances.Retry(o.Host.Name, o.Discovery.URL, o.Resp, q.opt.Now().Add(rest))
		o.Priority = q.Lowered(key, worth)
		q.Requeue(o.job)
		return b.Queue(o.ID, place)
	}
	outcome := q.outcomeOf(o)
	if why != "" {
		outcome.Reason = strings.TrimPrefix(outcome.Reason+"; "+why, "; ")
	}
	return q.conclude(b, o.ID, place, outcome)
}

// tryAgain queues a URL again after a failure that does not count.
func (q *queue) tryAgain(b journal.Batch, o *jobResult, visits int) error {
	place, err := b.Queued(o.ID)
	if err != nil {
		return fmt.Errorf("URL %d of the queue: %w", o.ID, err)
	}
	place.Visits = visits
	place.Excused++
	q.Requeue(o.job)
	return b.Queue(o.ID, place)
}

// redirect queues the target with the priority of the URL, so that each hop waits for its own
// host and robots.txt.
func (q *queue) redirect(b journal.Batch, o *jobResult) (store.ID, error) {
	outcome := store.Outcome{State: string(fetch.StateRedirect), Score: o.Page.Promise, Next: q.nextVisit(revisitAfterAnswer(o.Resp, o.Discovery.Depth))}
	target, err := redirectTarget(q.opt.URLs, o.Resp)
	switch {
	case err != nil:
		outcome.Reason = "the target of the redirect cannot be used: " + err.Error()
	case o.Discovery.Hops+1 > maxHops:
		outcome.Reason = "too many redirects in a row"
	}
	var id store.ID
	if outcome.Reason == "" {
		score := q.handedOn(o.Queued.Score, q.raised(0, page.Key(o.Discovery.URL), o.Priority))
		f := link{URL: target, Hash: store.HashURL(target), Score: score, Skip: q.opt.Scope.Excludes(target)}
		if f.Skip == "" {
			f.Skip = q.opt.Scope.refusal(o.Discovery.URL, target)
		}
		var led []float64
		if s, ok := q.opt.Scorer.(Redirected); ok {
			led = s.Led(page.Key(o.Discovery.URL))
			s.Lead(page.Key(target), led)
		}
		discovery := store.Discovery{From: o.urlid(), Via: store.ViaRedirect, Depth: o.Discovery.Depth, Hops: o.Discovery.Hops + 1}
		if id, err = q.Discover(b, discovery, f, orders.Link{Score: score, Step: q.totals.lastPage()}); err != nil {
			return 0, err
		}
		if err := q.dispatch(b, Parcel{From: o.Discovery.URL, Via: discovery.Via, Depth: discovery.Depth, Hops: discovery.Hops, Led: led}); err != nil {
			return 0, err
		}
		outcome.Reason = "to " + target
	}
	return id, q.conclude(b, o.ID, o.Queued, outcome)
}

// takeBack queues URLs again that ended without a page. Their earlier visits do not count as
// tries.
func (q *queue) takeBack(urls []string) error {
	b := q.journal.Batch()
	defer func() { b.Cancel() }()
	for _, url := range urls {
		if b.Full() {
			if err := q.totals.Commit(b); err != nil {
				return err
			}
			b = q.journal.Batch()
		}
		life, err := q.opt.Store.URLs().Life(url)
		if err != nil {
			return err
		}
		if len(life.Visits) > mostVisits {
			continue
		}
		place, err := q.reopenURL(b, life, len(life.Visits))
		if err != nil {
			return err
		}
		q.frontier.Push(item(life.ID, q.frontier.Host(page.Host(url)), url, place.Priority), place.Also...)
	}
	return q.totals.Commit(b)
}

// mostVisits leaves room for a few tries below the last number that a visit's key can hold.
const mostVisits = math.MaxUint16 - 100
