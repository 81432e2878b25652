package crawler

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"fossick/crawler/fetch"
	"fossick/crawler/frontier"
	"fossick/crawler/hosts"
	"fossick/crawler/journal"
	"fossick/internal/page"
	"fossick/store"
	"fossick/store/change"
)

// A crawl can be told to look again at pages that it stored (paper D, D7: conditional
// requests), under the same manners as all else. A chooser says which, and when.
//
// Nothing is journalled of what is to be asked for: it follows from the times in the
// journal. So a kill costs nothing; the next session asks for what is still to be asked. A
// URL keeps its fate and its page until an answer says otherwise.

// revisiting says whether stored pages are asked for.
func (c *Crawler) revisiting() bool { return c.opt.Revisits != nil && !c.revisitsOver }

// fillRevisits queues the stored pages whose turn it is. idle says that none waits or is in flight
// that could be asked for soon. It returns when there may be more, as chooser does.
func (c *Crawler) fillRevisits(idle bool) (again time.Time, err error) {
	if !c.revisiting() {
		return time.Time{}, nil
	}
	now := c.opt.Now()
	if c.revisitsAsked && !idle && (c.revisitsAgain.IsZero() || now.Before(c.revisitsAgain)) {
		return c.revisitsAgain, nil
	}
	var noPage []string
	for {
		p, again, err := c.opt.Revisits.Next(now, idle)
		if err != nil {
			return time.Time{}, fmt.Errorf("pages to be asked for again: %w", err)
		}
		if p == nil {
			c.revisitsAsked, c.revisitsAgain = true, again
			return again, errors.Join(c.queue.takeBack(noPage), c.frontier.Err())
		}
		idle = false
		if p.NoPage {
			noPage = append(noPage, p.URL)
			continue
		}
		if !c.frontier.Queued(frontier.ID(p.ID)) { // else it has not had its turn yet
			priority, err := c.revisitPriority(p, now)
			if err != nil {
				return time.Time{}, err
			}
			c.queue.pushStored(p.ID, p.URL, priority)
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

// revisitPriority is that of a page whose turn it is.
func (c *Crawler) revisitPriority(p *Due, now time.Time) (float64, error) {
	chance, err := c.chances.Revisit(p.URL, func() ([]store.Visit, error) { return store.VisitsOf(c.opt.Store, p.ID) }, now)
	if err != nil {
		return 0, fmt.Errorf("visits to %s: %w", p.URL, err)
	}
	priority := p.Priority - (1-chance)*inDoubt
	if c.opt.NewPages {
		priority += beforeNew
	}
	return priority, nil
}

// expectRevisit tells a chooser that wants to know with what chance a page's next visit succeeds.
func (c *Crawler) expectRevisit(o *outcome, visit store.Visit) error {
	h, ok := c.opt.Revisits.(hopeful)
	if !ok {
		return nil
	}
	chance, err := c.chances.Next(o.Birth.URL, func() ([]store.Visit, error) {
		all, err := store.VisitsOf(c.opt.Store, o.Old.ID)
		return append(all, visit), err
	})
	if err != nil {
		return fmt.Errorf("visits to %s: %w", o.Birth.URL, err)
	}
	h.Expect(o.Old.ID, chance)
	return nil
}

// prepareRevisit makes a job of a leased URL whose page is stored. Its id is 0, as
// of all jobs that no URL of the queue waits for: what ends it ends no URL.
func (c *Crawler) prepareRevisit(it frontier.Item) (*workJob, error) {
	old, err := c.opt.Store.URLs().CopyOf(store.ID(it.ID))
	if err != nil {
		return nil, fmt.Errorf("page to be refreshed: %w", err)
	}
	h, err := c.hosts.Get(page.Host(old.Birth.URL), old.Birth.URL)
	if err != nil {
		return nil, err
	}
	j := &workJob{Host: h, Target: old.Birth.URL, leased: leased{Birth: old.Birth, Priority: it.Priority, Old: old,
		Queued: store.Queued{Score: old.Page.Parent, Visits: old.Visits}}}
	h.Health.Reconsider(c.opt.Now())
	switch {
	case c.opt.Scope.Forgotten.Has(old.Birth.URL), h.Health.Verdict != "", old.Visits >= maxVisitNumber:
		return nil, c.passRevisit(j)
	case !h.Resolved:
		j.task = address
		return j, nil
	case !c.hosts.RobotsFresh(h) || h.Health.Probed():
		return c.prepareRobots(j)
	case c.reservationsDue(h, old.Birth.URL):
		return tdmrepJob(j), nil
	case !h.Rules.Allowed(c.opt.Agent, page.Path(j.Target)), refusal(&c.opt, h, j.Target) != "":
		return nil, c.passRevisit(j)
	}
	if !c.prepareNews(j) {
		j.task = workPage
	}
	return j, nil
}

// maxVisitNumber is the last that a visit's key has room for.
const maxVisitNumber = 1<<16 - 1

// passRevisit leaves a page as it is; its host is free again at once.
func (c *Crawler) passRevisit(j *workJob) error {
	c.refreshed.passed()
	c.frontier.Done(j.Host.Party, time.Time{})
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

// applyRevisit journals the exchange for a page that is stored.
func (c *Crawler) applyRevisit(b journal.Batch, o *outcome) error {
	r, h := o.Resp, o.Host
	var err error
	if o.Old, err = c.opt.Store.URLs().CopyOf(o.Old.ID); err != nil { // somebody may have marked it meanwhile
		return fmt.Errorf("page that was refreshed: %w", err)
	}
	c.totals.askedPage(h.Host, r)
	visit := visitOf(r)
	h.Failures = 0
	if err := (&renewal{c, b, o, &visit}).apply(); err != nil {
		return err
	}
	visit.Rest, visit.Own = c.hosts.RestOf(h, r).Millis()
	visit.RetryAfter = r.RetryAfter.Milliseconds()
	visit.Modified = modified(o.Old.Page, r, visit.Change)
	c.newsVisited(h, o.Old, &visit)
	if err := c.expectRevisit(o, visit); err != nil {
		return err
	}
	c.opt.Revisits.Answered(o.Old.ID, visit)
	return putRevisit(b, o, visit)
}

// RefreshCounts are what asking for stored pages again has brought in one session.
type RefreshCounts struct {
	Asked       uint64 // exchanges for them
	NotModified uint64 // 304, or the same content again
	Changed     uint64 // stored anew
	Gone        uint64 // other answers: the old page stays, unless it says noindex, and its URL has that state
	Failed      uint64 // no answer that tells: to be asked again by the next refresh
}

// plus adds what another session has brought.
func (c RefreshCounts) plus(other RefreshCounts) RefreshCounts {
	return RefreshCounts{c.Asked + other.Asked, c.NotModified + other.NotModified, c.Changed + other.Changed, c.Gone + other.Gone, c.Failed + other.Failed}
}

// session is one refresh. The zero value is over.
type session struct {
	On bool // only stored pages are asked for; the queue waits in the journal
	RefreshCounts
}

// refreshVerdict says what is to be done about a stored page after an answer.
type refreshVerdict int

// The verdicts.
const (
	again           refreshVerdict = iota // the exchange counts for nobody: ask once more
	failed                                // no answer that tells
	refreshSame                           // it is as it was
	changed                               // store it anew
	repeats                               // it has the content of another page by now
	moved                                 // the URL redirects
	withdrawn                             // its author asks by now that it be not kept
	refreshUnwanted                       // it is none that the crawl keeps any more
	gone                                  // the URL gives no page any more
)

// answer is what came of asking for a stored page.
type answer struct {
	Response *fetch.Response
	Page     *page.Page // when the answer is one
	Excused  bool       // the exchange failed, but that counts for nobody
	Passing  bool       // it failed, and another try may bring another answer
	Unwanted bool       // the page is not to be kept, for its language or since scripts make it
	With     uint64     // number of the stored page that has the content of Page, 0 for none
}

// judge counts an answer for a stored page and says what is to be done.
func (s *session) judge(old *store.Page, a answer) refreshVerdict {
	s.Asked++
	v := verdict(old, a)
	switch v {
	case again:
	case failed:
		s.Failed++
	case refreshSame:
		s.NotModified++
	case changed:
		s.Changed++
	default:
		s.Gone++
	}
	return v
}

func verdict(old *store.Page, a answer) refreshVerdict {
	switch {
	case a.Excused:
		return again
	case a.Passing:
		return failed
	case a.Response.State == fetch.StateNotModified:
		return refreshSame
	case a.Response.State == fetch.StateRedirect:
		return moved
	case a.Response.State != fetch.StateOK:
		return gone
	case a.Page.NoIndex: // before all else: its text may be the same as ever
		return withdrawn
	case a.Page.Is(old.Checksum, old.Raw):
		return refreshSame
	case a.Unwanted:
		return refreshUnwanted
	case a.With != 0 && a.With != old.Number: // two pages cannot have one content
		return repeats
	}
	return changed
}

// modified is the Last-Modified that a visit keeps, in Unix seconds: where the content had
// changed, or the time is another than before. 0 is none.
func modified(old *store.Page, r *fetch.Response, kind change.Kind) int64 {
	told := r.Header.Get("Last-Modified")
	at, err := http.ParseTime(told)
	if err != nil || at.Unix() <= 0 || !kind.Changed() && told == old.Modified {
		return 0
	}
	return min(at.Unix(), r.Start.Unix()) // clocks differ; what is to come is the time of the answer
}

// passed counts a page that is not asked for, for its host's sake.
func (s *session) passed() { s.Failed++ }

// checked returns the record of a page that an answer says is as it was.
func checked(old store.Page, r *fetch.Response) *store.Page {
	old.Checked = r.Start.UnixMilli()
	if tag := r.Header.Get("ETag"); tag != "" {
		old.ETag = tag
	}
	if modified := r.Header.Get("Last-Modified"); modified != "" {
		old.Modified = modified
	}
	return &old
}

// A renewal applies what package refresh decides of a stored page that was asked for.
type renewal struct {
	v     *Crawler
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
	next := v.queue.nextVisit(interval(o.Birth.Depth))
	switch v.refreshed.judge(o.Old.Page, a) {
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
		return r.lose(v.queue.outcomeOf(o))
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
	v.obeyPage(o)
	found(o.Host, o.Read.Feeds)
	r.visit.Change, o.Wire.Kind = o.Read.Change, store.WirePage
	record := v.pageRecord(o, old.Number, links)
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
	return v.tellStored(r.b, record.URL, record.Signature, record.Sums()...)
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
	fate := r.v.queue.outcomeOf(r.o)
	r.o.Wire.Kind = store.WireRedirect
	if r.visit.Location, err = r.v.queue.redirect(r.b, r.o); err != nil {
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
