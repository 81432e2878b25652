package crawler

import (
	"cmp"
	"fmt"
	"fossick/crawler/totals"
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
func (e *endings) by(o *outcome) store.Fate {
	r := o.resp
	return store.Fate{State: string(r.State), Reason: errorText(r.Err), Score: o.page.promise, Next: e.next(refresh.AfterAnswer(r, o.birth.Depth))}
}

// of returns the fate of a URL that no exchange of its own ended.
func (e *endings) of(state, reason string) store.Fate {
	return store.Fate{State: state, Reason: reason, Next: e.next(refresh.After(fetch.State(state), 0))}
}

// retry queues a URL again after a failure that may pass, or gives it up.
func (e *endings) retry(b journal.Batch, o *outcome, visits int) error {
	q, err := b.Queued(o.id) // what it is excused may have changed while it was in flight
	if err != nil {
		return fmt.Errorf("URL %d of the queue: %w", o.id, err)
	}
	q.Visits = visits
	again, why := o.host.Health.Retry(o.resp, visits-q.Excused)
	if again {
		e.queue.requeue(o.job)
		return b.Queue(o.id, q)
	}
	fate := e.by(o)
	if why != "" {
		fate.Reason = strings.TrimPrefix(fate.Reason+"; "+why, "; ")
	}
	return e.conclude(b, o.id, q, fate)
}

// forgive queues a URL again after a failure that counts for nobody.
func (e *endings) forgive(b journal.Batch, o *outcome, visits int) error {
	q, err := b.Queued(o.id)
	if err != nil {
		return fmt.Errorf("URL %d of the queue: %w", o.id, err)
	}
	q.Visits = visits
	q.Excused++
	e.queue.requeue(o.job)
	return b.Queue(o.id, q)
}

// maxHops bounds redirects in a row.
const maxHops = 10

// redirect hands the target back to the frontier, with the place in the queue
// that the URL had: each hop waits for its own host and its own robots.txt.
func (e *endings) redirect(b journal.Batch, o *outcome) (store.ID, error) {
	fate := store.Fate{State: string(fetch.StateRedirect), Score: o.page.promise, Next: e.next(refresh.AfterAnswer(o.resp, o.birth.Depth))}
	target, err := targetOf(e.opt.URLs, o.resp)
	switch {
	case err != nil:
		fate.Reason = "its target cannot be used: " + err.Error()
	case o.birth.Hops+1 > maxHops:
		fate.Reason = "too many redirects in a row"
	}
	var id store.ID
	if fate.Reason == "" {
		score := e.queue.handedOn(o.queued.Score, o.priority)
		f := reading.Link{URL: target, Hash: store.HashURL(target), Score: score, Skip: e.opt.Scope.Excludes(target)}
		birth := store.Birth{From: o.urlID(), Via: store.ViaRedirect, Depth: o.birth.Depth, Hops: o.birth.Hops + 1}
		if id, err = e.queue.discover(b, birth, f, orders.Link{Score: score, Step: e.totals.Pages()}); err != nil {
			return 0, err
		}
		fate.Reason = "to " + target
	}
	return id, e.conclude(b, o.id, o.queued, fate)
}
