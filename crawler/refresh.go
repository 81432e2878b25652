package crawler

import (
	"fmt"
	"time"

	"fossick/crawler/hosts"
	"fossick/crawler/journal"
	"fossick/crawler/queue"
	"fossick/crawler/refresh"
	"fossick/crawler/totals"
	"fossick/crawler/work"
	"fossick/frontier"
	"fossick/page"
	"fossick/store"
)

// A resumed crawl can be told to look again at the pages that it stored long ago
// (paper D, D7: conditional requests). They come before the queue, those first
// whose next visit is longest overdue, under the same manners as all else.
//
// Nothing is journalled of what is to be refreshed: it follows from the times in
// the pages' records. So a kill costs nothing; the next session asks for what is
// still old. A URL keeps its fate and its page until an answer says otherwise.

// revisits asks for stored pages again.
type revisits struct {
	opt      *Options
	frontier *frontier.Frontier
	totals   *totals.Running
	hosts    *hosts.Table
	queue    *queue.Queue
	endings  *queue.Endings
	contact  *contact
	arrivals *arrivals
	session  refresh.Session
}

// begin queues the stored pages that were not seen for the time that is
// asked for; they are more urgent than anything else.
func (v *revisits) begin() error {
	if !v.queue.Held() {
		return nil
	}
	now := v.opt.Now()
	for p, err := range v.opt.Store.Stale(now.Add(-v.opt.Refresh).UnixMilli(), now.UnixMilli()) {
		if err != nil {
			return fmt.Errorf("pages to be refreshed: %w", err)
		}
		v.queue.PushStored(p.ID, p.URL, -float64(p.Next))
	}
	return v.frontier.Err()
}

// prepare makes a job of a leased URL whose page is stored. Its id is 0, as
// of all jobs that no URL of the queue waits for: what ends it ends no URL.
func (v *revisits) prepare(it frontier.Item) (*work.Job, error) {
	old, err := v.opt.Store.URLs().CopyOf(store.ID(it.ID))
	if err != nil {
		return nil, fmt.Errorf("page to be refreshed: %w", err)
	}
	h, err := v.hosts.Get(page.Host(old.Birth.URL), old.Birth.URL)
	if err != nil {
		return nil, err
	}
	j := &work.Job{Host: h, Target: old.Birth.URL, Leased: work.Leased{Birth: old.Birth, Priority: it.Priority, Old: old,
		Queued: store.Queued{Score: old.Page.Parent, Visits: old.Visits}}}
	h.Health.Reconsider(v.opt.Now())
	switch {
	case v.opt.Scope.Forgotten.Has(old.Birth.URL), h.Health.Verdict != "", old.Visits >= maxVisitNumber:
		return nil, v.pass(j)
	case !h.Resolved:
		j.Task = work.Address
		return j, nil
	case !v.hosts.RobotsFresh(h) || h.Health.Probed():
		return v.contact.prepare(j)
	case v.contact.reservationsDue(h, old.Birth.URL):
		return tdmrepJob(j), nil
	case !h.Rules.Allowed(v.opt.Agent, page.Path(j.Target)), refusal(v.opt, h, j.Target) != "":
		return nil, v.pass(j)
	}
	j.Task = work.Page
	return j, nil
}

// maxVisitNumber is the last that a visit's key has room for.
const maxVisitNumber = 1<<16 - 1

// pass leaves a page as it is; its host is free again at once.
func (v *revisits) pass(j *work.Job) error {
	v.session.Passed()
	v.frontier.Done(j.Host.Party, time.Time{})
	return nil
}

// apply journals the exchange for a page that is stored.
func (v *revisits) apply(b journal.Batch, o *work.Outcome) error {
	r, h := o.Resp, o.Host
	var err error
	if o.Old, err = v.opt.Store.URLs().CopyOf(o.Old.ID); err != nil { // somebody may have marked it meanwhile
		return fmt.Errorf("page that was refreshed: %w", err)
	}
	v.totals.AskedPage(h.Host, r)
	visit := visitOf(r)
	h.Failures = 0
	if err := (&renewal{v, b, o, &visit}).apply(); err != nil {
		return err
	}
	visit.Rest, visit.Own = v.hosts.RestOf(h, r).Millis()
	visit.RetryAfter = r.RetryAfter.Milliseconds()
	return putVisit(b, o, o.Old.ID, o.Old.Visits+1, visit)
}
