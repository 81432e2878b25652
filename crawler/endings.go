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

// conclude ends a URL's wait with its fate; a job that no URL waits for has none.
func (q *queue) conclude(b journal.Batch, id store.ID, place store.Queued, fate store.Fate) error {
	if id == 0 {
		return nil
	}
	if q.post != nil { // who had the part before may have told of it meanwhile
		switch was, err := b.Ended(id); {
		case err == nil:
			q.totals.reopened(was)
		case !errors.Is(err, store.ErrUnknown):
			return err
		}
	}
	q.totals.Ended(fate.State)
	fate.At = cmp.Or(fate.At, q.opt.Now().UnixMilli())
	fate.Score, fate.Parent = cmp.Or(fate.Score, place.Score), place.Parent
	return b.End(id, fate)
}

// nextVisit returns the end of a wait that begins now, as the journal has it.
func (q *queue) nextVisit(after time.Duration) int64 {
	if after <= 0 {
		return 0
	}
	return q.opt.Now().Add(after).UnixMilli()
}

// outcomeOf returns the fate of a URL that an exchange ended.
func (q *queue) outcomeOf(o *outcome) store.Fate {
	r := o.Resp
	return store.Fate{State: string(r.State), Reason: r.ErrorText(), Score: o.Page.Promise, Next: q.nextVisit(afterAnswer(r, o.Birth.Depth))}
}

// outcome returns the fate of a URL that no exchange of its own ended.
func (q *queue) outcome(state, reason string) store.Fate {
	return store.Fate{State: state, Reason: reason, Next: q.nextVisit(refreshAfter(fetch.State(state), 0))}
}

// retry queues a URL again after a failure that may pass, or gives it up. The host rests as
// long: the chance that another try succeeds then is what lowers its place.
func (q *queue) retry(b journal.Batch, o *outcome, visits int, rest time.Duration) error {
	place, err := b.Queued(o.ID) // what it is excused may have changed while it was in flight
	if err != nil {
		return fmt.Errorf("URL %d of the queue: %w", o.ID, err)
	}
	place.Visits = visits
	again, why := o.Host.Health.Retry(o.Resp, visits-place.Excused)
	if again {
		key := page.Key(o.Birth.URL)
		worth := q.raised(0, key, o.Priority)
		q.chances.Retry(o.Host.Name, o.Birth.URL, o.Resp, q.opt.Now().Add(rest))
		o.Priority = q.Lowered(key, worth)
		q.Requeue(o.workJob)
		return b.Queue(o.ID, place)
	}
	fate := q.outcomeOf(o)
	if why != "" {
		fate.Reason = strings.TrimPrefix(fate.Reason+"; "+why, "; ")
	}
	return q.conclude(b, o.ID, place, fate)
}

// tryAgain queues a URL again after a failure that counts for nobody.
func (q *queue) tryAgain(b journal.Batch, o *outcome, visits int) error {
	place, err := b.Queued(o.ID)
	if err != nil {
		return fmt.Errorf("URL %d of the queue: %w", o.ID, err)
	}
	place.Visits = visits
	place.Excused++
	q.Requeue(o.workJob)
	return b.Queue(o.ID, place)
}

// redirect hands the target back to the frontier, with the place in the queue
// that the URL had: each hop waits for its own host and its own robots.txt.
func (q *queue) redirect(b journal.Batch, o *outcome) (store.ID, error) {
	fate := store.Fate{State: string(fetch.StateRedirect), Score: o.Page.Promise, Next: q.nextVisit(afterAnswer(o.Resp, o.Birth.Depth))}
	target, err := redirectTarget(q.opt.URLs, o.Resp)
	switch {
	case err != nil:
		fate.Reason = "the target of the redirect cannot be used: " + err.Error()
	case o.Birth.Hops+1 > maxHops:
		fate.Reason = "too many redirects in a row"
	}
	var id store.ID
	if fate.Reason == "" {
		score := q.handedOn(o.Queued.Score, q.raised(0, page.Key(o.Birth.URL), o.Priority))
		f := link{URL: target, Hash: store.HashURL(target), Score: score, Skip: q.opt.Scope.Excludes(target)}
		if f.Skip == "" {
			f.Skip = q.opt.Scope.refusal(o.Birth.URL, target)
		}
		var led []float64
		if s, ok := q.opt.Scorer.(Redirected); ok {
			led = s.Led(page.Key(o.Birth.URL))
			s.Lead(page.Key(target), led)
		}
		birth := store.Birth{From: o.urlid(), Via: store.ViaRedirect, Depth: o.Birth.Depth, Hops: o.Birth.Hops + 1}
		if id, err = q.Discover(b, birth, f, orders.Link{Score: score, Step: q.totals.lastPage()}); err != nil {
			return 0, err
		}
		if err := dispatch(q, b, Parcel{From: o.Birth.URL, Via: birth.Via, Depth: birth.Depth, Hops: birth.Hops, Led: led}); err != nil {
			return 0, err
		}
		fate.Reason = "to " + target
	}
	return id, q.conclude(b, o.ID, o.Queued, fate)
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
		place, err := reopen(q, b, life, len(life.Visits))
		if err != nil {
			return err
		}
		q.frontier.Push(item(life.ID, q.frontier.Host(page.Host(url)), url, place.Priority), place.Also...)
	}
	return q.totals.Commit(b)
}

// mostVisits leaves room for a few tries below the last number that a visit's key can have.
const mostVisits = math.MaxUint16 - 100
