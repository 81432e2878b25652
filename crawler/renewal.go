package crawler

import (
	"fmt"

	"fossick/crawler/fetch"
	"fossick/crawler/hosts"
	"fossick/crawler/journal"
	"fossick/store"
)

// A renewal applies what package refresh decides of a stored page that was asked for.
type renewal struct {
	v     *revisits
	b     journal.Batch
	o     *outcome
	visit *store.Visit // that the exchange was
}

// apply does what the answer asks for.
func (r *renewal) apply() (err error) {
	v, b, o := r.v, r.b, r.o
	if v.opt.forgotten(o) {
		return nil
	}
	a := answer{Response: o.Resp, Excused: o.Excused, Passing: hosts.Transient(o.Resp)}
	var unwanted store.Fate
	if o.Read != nil {
		a.Page = o.Read.Page
		unwanted, a.Unwanted = o.Read.unwanted()
		if a.With, err = repeated(b, o.Read); err != nil {
			return err
		}
	}
	next := v.endings.Next(interval(o.Birth.Depth))
	switch v.session.judge(o.Old.Page, a) {
	case again:
		v.queue.Requeue(o.workJob)
	case failed:
		o.Host.Failures++
	case refreshSame:
		if o.Wire.Kind = store.WireRepeat; o.Resp.State == fetch.StateNotModified {
			o.Wire.Kind = store.WireSame
		}
		if err := journal.Stored(b).PutPageRecord(checked(*o.Old.Page, o.Resp)); err != nil {
			return err
		}
		return r.end(store.Fate{State: string(fetch.StateOK), Next: next})
	case changed:
		return r.replace(next)
	case moved:
		return r.move()
	case withdrawn:
		return r.withdraw(unwanted, next)
	case refreshUnwanted: // it may be wanted again
		unwanted.Next = next
		return r.lose(unwanted)
	case repeats:
		r.visit.State = string(fetch.StateDuplicate)
		return r.lose(store.Fate{State: string(fetch.StateDuplicate), Next: next,
			Reason: fmt.Sprintf("now has the same content as page %d", a.With)})
	case gone:
		return r.lose(v.endings.by(o))
	}
	return nil
}

// replace stores a page anew. The visit says what had changed of it.
func (r *renewal) replace(next int64) error {
	v, o, old := r.v, r.o, r.o.Old.Page
	links, err := v.queue.links(r.b, o)
	if err != nil {
		return err
	}
	v.arrivals.obey(o)
	found(o.Host, o.Read.Feeds)
	r.visit.Change, o.Wire.Kind = o.Read.Change, store.WirePage
	record := v.arrivals.record(o, old.Number, links)
	if err := journal.Stored(r.b).KeepVersion(old, record, o.Read.Former); err != nil {
		return err
	}
	if err := journal.Stored(r.b).ReplacePage(old, record, o.Read.Body); err != nil {
		return err
	}
	v.totals.replaced(old, record)
	if err := r.end(store.Fate{State: string(fetch.StateOK), Next: next}); err != nil {
		return err
	}
	return v.arrivals.duplicates.stored(r.b, record.URL, record.Signature, record.Sums()...)
}

// withdraw obeys an author who asks by now that a page be not kept. It is asked
// for again when it is due, and stored again when the author thinks better of it.
func (r *renewal) withdraw(fate store.Fate, next int64) error {
	fate.Next = next
	fate.Reason = store.MetaRobots + " of the page now says noindex: its content is deleted"
	if old := r.o.Old.Page; !old.Withdrawn {
		if err := journal.Stored(r.b).WithdrawPage(old); err != nil {
			return err
		}
		r.v.totals.withdrawn(old)
	}
	return r.lose(fate)
}

// lose notes that a URL gives its page no more. What was stored stays.
func (r *renewal) lose(fate store.Fate) error {
	fate.Stored = true
	return r.end(fate)
}

// move notes that a page has moved, and queues where to.
func (r *renewal) move() (err error) {
	fate := r.v.endings.by(r.o)
	r.o.Wire.Kind = store.WireRedirect
	if r.visit.Location, err = r.v.endings.redirect(r.b, r.o); err != nil {
		return err
	}
	if target, err := redirectTarget(r.v.opt.URLs, r.o.Resp); err == nil && r.visit.Location != 0 {
		fate.Reason = "to " + target
	} else {
		fate.Reason = "the target of the redirect cannot be used, or there were too many redirects"
	}
	return r.lose(fate)
}

// end gives a URL whose page is stored a new fate.
func (r *renewal) end(fate store.Fate) error {
	v, old := r.v, r.o.Old.Fate
	v.totals.reopened(old.State)
	v.totals.Ended(fate.State)
	fate.Page, fate.Score, fate.Parent, fate.At = old.Page, old.Score, old.Parent, v.opt.Now().UnixMilli()
	return r.b.End(r.o.Old.ID, fate)
}
