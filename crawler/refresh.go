package crawler

import (
	"errors"
	"fmt"
	"time"

	"fossick/crawler/frontier"
	"fossick/crawler/hosts"
	"fossick/crawler/journal"
	"fossick/internal/page"
	"fossick/store"
)

// A crawl can be told to look again at pages that it stored (paper D, D7: conditional
// requests), under the same manners as all else. A chooser says which, and when.
//
// Nothing is journalled of what is to be asked for: it follows from the times in the
// journal. So a kill costs nothing; the next session asks for what is still to be asked. A
// URL keeps its fate and its page until an answer says otherwise.

// revisits asks for stored pages again.
type revisits struct {
	opt      *Options
	frontier *frontier.Frontier
	totals   *running
	hosts    *hosts.Table
	queue    *queue
	endings  *endings
	contact  *contact
	arrivals *arrivals
	news     *siteNews
	chances  *hosts.Book
	session  session

	over  bool      // the queue has its turn
	asked bool      // the chooser was, and has no page by now
	again time.Time // when it may have one; zero: not before the frontier is idle
}

// on says whether stored pages are asked for.
func (v *revisits) on() bool { return v.opt.Revisits != nil && !v.over }

// fill queues the stored pages whose turn it is. idle says that none waits or is in flight
// that could be asked for soon. It returns when there may be more, as chooser does.
func (v *revisits) fill(idle bool) (again time.Time, err error) {
	if !v.on() {
		return time.Time{}, nil
	}
	now := v.opt.Now()
	if v.asked && !idle && (v.again.IsZero() || now.Before(v.again)) {
		return v.again, nil
	}
	var noPage []string
	for {
		p, again, err := v.opt.Revisits.Next(now, idle)
		if err != nil {
			return time.Time{}, fmt.Errorf("pages to be asked for again: %w", err)
		}
		if p == nil {
			v.asked, v.again = true, again
			return again, errors.Join(v.endings.takeBack(noPage), v.frontier.Err())
		}
		idle = false
		if p.NoPage {
			noPage = append(noPage, p.URL)
			continue
		}
		if !v.frontier.Queued(frontier.ID(p.ID)) { // else it has not had its turn yet
			priority, err := v.priority(p, now)
			if err != nil {
				return time.Time{}, err
			}
			v.queue.pushStored(p.ID, p.URL, priority)
		}
	}
}

// inDoubt is more than any two priorities of choosers differ by, which are times in
// milliseconds. So pages whose visit may fail come after all other stored pages, the likelier
// ones first. With NewPages all of them come before new URLs, whose priorities are small: a
// limit of pages a site is met by those nearest to its start pages, whichever was discovered
// first.
const (
	inDoubt   = 1e14
	beforeNew = 1e15
)

// priority is that of a page whose turn it is.
func (v *revisits) priority(p *Due, now time.Time) (float64, error) {
	chance, err := v.chances.Revisit(p.URL, func() ([]store.Visit, error) { return store.VisitsOf(v.opt.Store, p.ID) }, now)
	if err != nil {
		return 0, fmt.Errorf("visits to %s: %w", p.URL, err)
	}
	priority := p.Priority - (1-chance)*inDoubt
	if v.opt.NewPages {
		priority += beforeNew
	}
	return priority, nil
}

// expect tells a chooser that wants to know with what chance a page's next visit succeeds.
func (v *revisits) expect(o *outcome, visit store.Visit) error {
	h, ok := v.opt.Revisits.(hopeful)
	if !ok {
		return nil
	}
	chance, err := v.chances.Next(o.Birth.URL, func() ([]store.Visit, error) {
		all, err := store.VisitsOf(v.opt.Store, o.Old.ID)
		return append(all, visit), err
	})
	if err != nil {
		return fmt.Errorf("visits to %s: %w", o.Birth.URL, err)
	}
	h.Expect(o.Old.ID, chance)
	return nil
}

// prepare makes a job of a leased URL whose page is stored. Its id is 0, as
// of all jobs that no URL of the queue waits for: what ends it ends no URL.
func (v *revisits) prepare(it frontier.Item) (*workJob, error) {
	old, err := v.opt.Store.URLs().CopyOf(store.ID(it.ID))
	if err != nil {
		return nil, fmt.Errorf("page to be refreshed: %w", err)
	}
	h, err := v.hosts.Get(page.Host(old.Birth.URL), old.Birth.URL)
	if err != nil {
		return nil, err
	}
	j := &workJob{Host: h, Target: old.Birth.URL, leased: leased{Birth: old.Birth, Priority: it.Priority, Old: old,
		Queued: store.Queued{Score: old.Page.Parent, Visits: old.Visits}}}
	h.Health.Reconsider(v.opt.Now())
	switch {
	case v.opt.Scope.Forgotten.Has(old.Birth.URL), h.Health.Verdict != "", old.Visits >= maxVisitNumber:
		return nil, v.pass(j)
	case !h.Resolved:
		j.task = address
		return j, nil
	case !v.hosts.RobotsFresh(h) || h.Health.Probed():
		return v.contact.prepare(j)
	case v.contact.reservationsDue(h, old.Birth.URL):
		return tdmrepJob(j), nil
	case !h.Rules.Allowed(v.opt.Agent, page.Path(j.Target)), refusal(v.opt, h, j.Target) != "":
		return nil, v.pass(j)
	}
	if !v.news.prepare(j) {
		j.task = workPage
	}
	return j, nil
}

// maxVisitNumber is the last that a visit's key has room for.
const maxVisitNumber = 1<<16 - 1

// pass leaves a page as it is; its host is free again at once.
func (v *revisits) pass(j *workJob) error {
	v.session.passed()
	v.frontier.Done(j.Host.Party, time.Time{})
	return nil
}

// putRevisit journals an exchange for a stored page, with its headers where these are kept.
func putRevisit(b journal.Batch, o *outcome, visit store.Visit) error {
	n := o.Old.Visits + 1
	if err := store.PutRevisit(journal.Stored(b), o.Old.ID, n, visit); err != nil || o.Wire.Kind == 0 || o.Wire.Packed == nil {
		return err
	}
	return b.PutWire(o.Old.ID, n, o.Wire)
}

// apply journals the exchange for a page that is stored.
func (v *revisits) apply(b journal.Batch, o *outcome) error {
	r, h := o.Resp, o.Host
	var err error
	if o.Old, err = v.opt.Store.URLs().CopyOf(o.Old.ID); err != nil { // somebody may have marked it meanwhile
		return fmt.Errorf("page that was refreshed: %w", err)
	}
	v.totals.askedPage(h.Host, r)
	visit := visitOf(r)
	h.Failures = 0
	if err := (&renewal{v, b, o, &visit}).apply(); err != nil {
		return err
	}
	visit.Rest, visit.Own = v.hosts.RestOf(h, r).Millis()
	visit.RetryAfter = r.RetryAfter.Milliseconds()
	visit.Modified = modified(o.Old.Page, r, visit.Change)
	v.news.visited(h, o.Old, &visit)
	if err := v.expect(o, visit); err != nil {
		return err
	}
	v.opt.Revisits.Answered(o.Old.ID, visit)
	return putRevisit(b, o, visit)
}
