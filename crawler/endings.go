package crawler

import (
	"cmp"
	"fmt"
	"fossick/crawler/totals"
	"fossick/crawler/work"
	"strings"
	"time"

	"fossick/crawler/journal"
	"fossick/crawler/reading"
	"fossick/crawler/refresh"
	"fossick/fetch"
	"fossick/graph/orders"
	"fossick/store"
)

// endings applies what an exchange means for its URL: it ends, leads elsewhere or waits
// again.
type endings struct {
	opt    *Options
	queue  *queue
	totals *totals.Running
}

// conclude ends a URL's wait with its fate; a job that no URL waits for has none.
func (e *endings) conclude(b journal.Batch, id store.ID, q store.Queued, fate store.Fate) error {
	if id == 0 {
		return nil
	}
	e.totals.Ended(fate.State)
	fate.At = cmp.Or(fate.At, e.opt.Now().UnixMilli())
	fate.Score, fate.Parent = cmp.Or(fate.Score, q.Score), q.Parent
	return b.End(id, fate)
}

// next returns the end of a wait that begins now, as the journal has it.
func (e *endings) next(after time.Duration) int64 {
	if after <= 0 {
		return 0
	}
	return e.opt.Now().Add(after).UnixMilli()
}

// by returns the fate of a URL that an exchange ended.
func (e *endings) by(o *work.Outcome) store.Fate {
	r := o.Resp
	return store.Fate{State: string(r.State), Reason: errorText(r.Err), Score: o.Page.Promise, Next: e.next(refresh.AfterAnswer(r, o.Birth.Depth))}
}

// of returns the fate of a URL that no exchange of its own ended.
func (e *endings) of(state, reason string) store.Fate {
	return store.Fate{State: state, Reason: reason, Next: e.next(refresh.After(fetch.State(state), 0))}
}

// retry queues a URL again after a failure that may pass, or gives it up.
func (e *endings) retry(b journal.Batch, o *work.Outcome, visits int) error {
	q, err := b.Queued(o.ID) // what it is excused may have changed while it was in flight
	if err != nil {
		return fmt.Errorf("URL %d of the queue: %w", o.ID, err)
	}
	q.Visits = visits
	again, why := o.Host.Health.Retry(o.Resp, visits-q.Excused)
	if again {
		e.queue.requeue(o.Job)
		return b.Queue(o.ID, q)
	}
	fate := e.by(o)
	if why != "" {
		fate.Reason = strings.TrimPrefix(fate.Reason+"; "+why, "; ")
	}
	return e.conclude(b, o.ID, q, fate)
}

// forgive queues a URL again after a failure that counts for nobody.
func (e *endings) forgive(b journal.Batch, o *work.Outcome, visits int) error {
	q, err := b.Queued(o.ID)
	if err != nil {
		return fmt.Errorf("URL %d of the queue: %w", o.ID, err)
	}
	q.Visits = visits
	q.Excused++
	e.queue.requeue(o.Job)
	return b.Queue(o.ID, q)
}

// maxHops bounds redirects in a row.
const maxHops = 10

// redirect hands the target back to the frontier, with the place in the queue
// that the URL had: each hop waits for its own host and its own robots.txt.
func (e *endings) redirect(b journal.Batch, o *work.Outcome) (store.ID, error) {
	fate := store.Fate{State: string(fetch.StateRedirect), Score: o.Page.Promise, Next: e.next(refresh.AfterAnswer(o.Resp, o.Birth.Depth))}
	target, err := reading.RedirectTarget(e.opt.URLs, o.Resp)
	switch {
	case err != nil:
		fate.Reason = "its target cannot be used: " + err.Error()
	case o.Birth.Hops+1 > maxHops:
		fate.Reason = "too many redirects in a row"
	}
	var id store.ID
	if fate.Reason == "" {
		score := e.queue.handedOn(o.Queued.Score, o.Priority)
		f := reading.Link{URL: target, Hash: store.HashURL(target), Score: score, Skip: e.opt.Scope.Excludes(target)}
		birth := store.Birth{From: o.URLID(), Via: store.ViaRedirect, Depth: o.Birth.Depth, Hops: o.Birth.Hops + 1}
		if id, err = e.queue.discover(b, birth, f, orders.Link{Score: score, Step: e.totals.Pages()}); err != nil {
			return 0, err
		}
		fate.Reason = "to " + target
	}
	return id, e.conclude(b, o.ID, o.Queued, fate)
}
