package crawler

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"fossick/crawler/fetch"
	"fossick/crawler/frontier"
	"fossick/crawler/journal"
	"fossick/internal/page"
	"fossick/store"
	"fossick/store/change"
)

// A crawl can ask again for stored pages (paper D, D7: conditional requests). Options.Revisits
// chooses them. Which ones are due follows from the times in the journal, so a kill loses
// nothing. A URL keeps its outcome and its page until an answer says otherwise.

// revisiting reports whether stored pages are asked for.
func (c *Crawler) revisiting() bool { return c.opt.Revisits != nil && !c.revisitsOver }

// fillRevisits queues the stored pages that are due. idle says that no stored page waits or is
// under way. again is that of Revisits.Next.
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
			return time.Time{}, fmt.Errorf("stored pages to ask for again: %w", err)
		}
		if p == nil {
			c.revisitsAsked, c.revisitsAgain = true, again
			return again, errors.Join(c.takeBack(noPage, true), c.frontier.Err())
		}
		idle = false
		if p.NoPage {
			noPage = append(noPage, p.URL)
			continue
		}
		if !c.frontier.Queued(frontier.ID(p.ID)) { // otherwise it still waits
			priority, err := c.revisitPriority(p, now)
			if err != nil {
				return time.Time{}, err
			}
			c.pushStored(p.ID, p.URL, priority)
		}
	}
}

// takeBack queues URLs again that ended without a page. Their earlier visits do not count as
// tries. lost is as in store.Queued.
func (c *Crawler) takeBack(urls []string, lost bool) error {
	return inBatches(c, sure(urls), c.totals.commit, func(b journal.Batch, url string) error {
		life, err := c.opt.Store.URLs().Life(url)
		if err != nil || len(life.Visits) > mostVisits {
			return err
		}
		place, err := c.reopenURL(b, life, len(life.Visits), lost)
		if err == nil {
			c.pushAt(life.ID, url, place)
		}
		return err
	})
}

// mostVisits leaves room for a few tries below the last number that a visit's key can hold.
const mostVisits = math.MaxUint16 - 100

// Priorities of Revisits are times in milliseconds. inDoubt exceeds any difference of two, so
// that pages whose visit may fail come last. beforeNew puts stored pages before new URLs.
const (
	inDoubt   = 1e14
	beforeNew = 1e15
)

// revisitPriority is the priority of a stored page.
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

// expectRevisit tells a hopeful Revisits the chance that a page's next visit succeeds.
func (c *Crawler) expectRevisit(o *jobResult, visit store.Visit) error {
	h, ok := c.opt.Revisits.(hopeful)
	if !ok {
		return nil
	}
	chance, err := c.chances.Next(o.Discovery.URL, func() ([]store.Visit, error) {
		all, err := store.VisitsOf(c.opt.Store, o.Old.ID)
		return append(all, visit), err
	})
	if err != nil {
		return fmt.Errorf("visits to %s: %w", o.Discovery.URL, err)
	}
	h.Expect(o.Old.ID, chance)
	return nil
}

// prepareRevisit makes the job of a leased URL whose page is stored. Its ID is 0, so that it
// ends no URL of the queue.
func (c *Crawler) prepareRevisit(it frontier.Item) (*job, error) {
	old, err := c.opt.Store.URLs().CopyOf(store.ID(it.ID))
	if err != nil {
		return nil, fmt.Errorf("stored page to ask for again: %w", err)
	}
	h, err := c.hosts.Get(page.Host(old.Discovery.URL), old.Discovery.URL)
	if err != nil {
		return nil, err
	}
	j := &job{Host: h, Target: old.Discovery.URL, leased: leased{Discovery: old.Discovery, Priority: it.Priority, Old: old,
		Queued: store.Queued{Score: old.Page.Parent, Visits: old.Visits}}}
	h.Health.Reconsider(c.opt.Now())
	switch {
	case c.opt.Scope.Forgotten.Has(old.Discovery.URL), c.opt.Scope.excluded(old.Discovery.URL) != "", h.Health.Verdict != "", old.Visits >= maxVisitNumber:
		return nil, c.passRevisit(j)
	case !h.Resolved:
		j.task = taskAddress
		return j, nil
	case !c.hosts.RobotsFresh(h) || h.Health.Probed():
		return c.prepareRobots(j)
	case c.reservationsDue(h, old.Discovery.URL):
		return tdmRepJob(j), nil
	case !h.Rules.Allowed(c.opt.Agent, page.Path(j.Target)), refusal(&c.opt, h, j.Target) != "":
		return nil, c.passRevisit(j)
	}
	if !c.prepareNews(j) {
		j.task = taskPage
	}
	return j, nil
}

// maxVisitNumber is the last number that a visit's key can hold.
const maxVisitNumber = 1<<16 - 1

// passRevisit skips a stored page and frees its host.
func (c *Crawler) passRevisit(j *job) error {
	c.refreshed.Failed++
	c.frontier.Done(j.Host.Party, time.Time{})
	return nil
}

// applyRevisit journals the exchange for a stored page, and what became of it.
func (c *Crawler) applyRevisit(b journal.Batch, o *jobResult) error {
	r, h := o.Resp, o.Host
	var err error
	if o.Old, err = c.opt.Store.URLs().CopyOf(o.Old.ID); err != nil { // it may have been labelled meanwhile
		return fmt.Errorf("stored page that was asked for again: %w", err)
	}
	c.totals.askedPage(h.Host, r)
	visit := visitOf(r)
	o.countFailures()
	if err := c.renew(b, o, &visit); err != nil {
		return err
	}
	visit.Rest, visit.Own = c.hosts.RestOf(h, r).Millis()
	visit.Modified = modified(o.Old.Page, r, visit.Change)
	c.newsVisited(h, o.Old, &visit)
	if err := c.expectRevisit(o, visit); err != nil {
		return err
	}
	c.opt.Revisits.Answered(o.Old.ID, visit)
	n := o.Old.Visits + 1
	if err := store.PutRevisit(journal.Stored(b), o.Old.ID, n, visit); err != nil {
		return err
	}
	return putWire(b, o, o.Old.ID, n)
}

// RefreshCounts are the results of revisits in one session.
type RefreshCounts struct {
	Asked       uint64 // exchanges
	NotModified uint64 // status 304, or the same content
	Changed     uint64 // stored anew
	Gone        uint64 // other answers: the URL gets their state, and the old page stays unless it says noindex
	Failed      uint64 // no usable answer: the next refresh asks again
}

// plus adds the counts of another session.
func (c RefreshCounts) plus(other RefreshCounts) RefreshCounts {
	return RefreshCounts{c.Asked + other.Asked, c.NotModified + other.NotModified, c.Changed + other.Changed, c.Gone + other.Gone, c.Failed + other.Failed}
}

// revisitVerdict says what to do with a stored page after an answer.
type revisitVerdict int

const (
	verdictRetry     revisitVerdict = iota // the exchange does not count: ask once more
	verdictFailed                          // no usable answer
	verdictSame                            // unchanged
	verdictChanged                         // store the page anew
	verdictRepeats                         // it has the content of another page now
	verdictMoved                           // the URL redirects
	verdictWithdrawn                       // its author asks to remove it
	verdictUnwanted                        // the crawl does not keep such pages
	verdictGone                            // the URL has no page any more
)

// answer is the result of a revisit.
type answer struct {
	Response *fetch.Response
	Page     *page.Page // nil if the answer is no page
	Excused  bool       // the failure does not count
	Passing  bool       // the failure may pass
	Unwanted bool       // the page's language or scripts exclude it
	With     uint64     // number of a stored page with the same content, 0 for none
}

// judge counts an answer and returns the verdict on the stored page.
func (c *RefreshCounts) judge(old *store.Page, a answer) revisitVerdict {
	c.Asked++
	v := verdict(old, a)
	switch v {
	case verdictRetry:
	case verdictFailed:
		c.Failed++
	case verdictSame:
		c.NotModified++
	case verdictChanged:
		c.Changed++
	default:
		c.Gone++
	}
	return v
}

func verdict(old *store.Page, a answer) revisitVerdict {
	switch {
	case a.Excused:
		return verdictRetry
	case a.Passing:
		return verdictFailed
	case a.Response.State == fetch.StateNotModified:
		return verdictSame
	case a.Response.State == fetch.StateRedirect:
		return verdictMoved
	case a.Response.State != fetch.StateOK:
		return verdictGone
	case a.Page.NoIndex: // first, because its text may be unchanged
		return verdictWithdrawn
	case a.Page.Is(old.Checksum, old.Raw):
		return verdictSame
	case a.Unwanted:
		return verdictUnwanted
	case a.With != 0 && a.With != old.Number: // two pages cannot have one content
		return verdictRepeats
	}
	return verdictChanged
}

// modified is the Last-Modified that a visit records, in Unix seconds: if the content has
// changed, or the time has. 0 is none.
func modified(old *store.Page, r *fetch.Response, kind change.Kind) int64 {
	told := r.Header.Get("Last-Modified")
	at, err := http.ParseTime(told)
	if err != nil || at.Unix() <= 0 || !kind.Changed() && told == old.Modified {
		return 0
	}
	return min(at.Unix(), r.Start.Unix()) // clocks differ; a future time counts as that of the answer
}

// checked returns the record of a page that an answer confirms.
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

// renew applies the verdict on a stored page. visit is that of the exchange.
func (c *Crawler) renew(b journal.Batch, o *jobResult, visit *store.Visit) (err error) {
	if c.opt.forgotten(o) {
		return nil
	}
	a := answer{Response: o.Resp, Excused: o.Excused, Passing: backsOff(o.Resp) || o.unrendered()}
	var unwanted store.Outcome
	if o.Read != nil {
		a.Page = o.Read.Page
		unwanted, a.Unwanted = o.Read.unwanted()
		if a.With, err = repeated(b, o.Read); err != nil {
			return err
		}
	}
	next := c.nextVisit(interval(o.Discovery.Depth))
	switch c.refreshed.judge(o.Old.Page, a) {
	case verdictRetry:
		c.requeue(o.job)
	case verdictFailed:
		if backsOff(o.Resp) {
			o.Host.Failures++
		}
	case verdictSame:
		if o.Wire.Kind = store.WireRepeat; o.Resp.State == fetch.StateNotModified {
			o.Wire.Kind = store.WireSame
		}
		if err := journal.Stored(b).PutPageRecord(checked(*o.Old.Page, o.Resp)); err != nil {
			return err
		}
		same := store.Outcome{State: string(fetch.StateOK), Next: next}
		if o.Read != nil {
			same.Reason = o.Read.origin()
		} else if old := o.Old.Outcome; old.State == same.State {
			same.Reason = old.Reason
		}
		return c.endRevisit(b, o, same)
	case verdictChanged:
		return c.replacePage(b, o, visit, next)
	case verdictMoved:
		return c.movePage(b, o, visit)
	case verdictWithdrawn: // the page is asked for again when it is due, and stored if its author has changed his mind
		unwanted.Next, unwanted.Stored = next, true
		unwanted.Reason = store.MetaRobots + " of the page now says noindex: its content is deleted"
		if old := o.Old.Page; !old.Withdrawn {
			if err := journal.Stored(b).WithdrawPage(old); err != nil {
				return err
			}
			c.totals.Bytes -= uint64(old.Bytes)
		}
		return c.endRevisit(b, o, unwanted)
	case verdictUnwanted: // it may be wanted later
		unwanted.Next, unwanted.Stored = next, true
		return c.endRevisit(b, o, unwanted)
	case verdictRepeats:
		visit.State = string(fetch.StateDuplicate)
		return c.endRevisit(b, o, store.Outcome{State: visit.State, Next: next, Stored: true,
			Reason: fmt.Sprintf("now has the same content as page %d", a.With)})
	case verdictGone:
		gone := c.outcomeOf(o)
		gone.Stored = true
		return c.endRevisit(b, o, gone)
	}
	return nil
}

// replacePage stores a page anew; the visit says what has changed.
func (c *Crawler) replacePage(b journal.Batch, o *jobResult, visit *store.Visit, next int64) error {
	old, disk := o.Old.Page, journal.Stored(b)
	links, err := c.discoverLinks(b, o)
	if err != nil {
		return err
	}
	c.marks.overrule(o.urlid(), &o.Read.Score)
	found(o.Host, o.Read.Feeds)
	visit.Change, o.Wire.Kind = o.Read.Change, store.WirePage
	record := c.pageRecord(o, old.Number, links)
	if err := disk.KeepVersion(old, record, o.Read.Former); err != nil {
		return err
	}
	if err := disk.ReplacePage(old, record, o.Read.Body); err != nil {
		return err
	}
	if err := disk.PutResources(old.Number, o.Read.Made); err != nil {
		return err
	}
	c.totals.replaced(old, record)
	if err := c.endRevisit(b, o, store.Outcome{State: string(fetch.StateOK), Next: next, Reason: o.Read.origin()}); err != nil {
		return err
	}
	return c.announceContent(b, record.URL, record.Signature, record.Sums()...)
}

// movePage records that a page has moved, and queues the target. The stored page stays.
func (c *Crawler) movePage(b journal.Batch, o *jobResult, visit *store.Visit) (err error) {
	outcome := c.outcomeOf(o)
	outcome.Stored, o.Wire.Kind = true, store.WireRedirect
	if visit.Location, err = c.redirect(b, o); err != nil {
		return err
	}
	if target, err := redirectTarget(c.opt.URLs, o.Resp); err == nil && visit.Location != 0 {
		outcome.Reason = "to " + target
	} else {
		outcome.Reason = "the target of the redirect cannot be used, or there were too many redirects"
	}
	return c.endRevisit(b, o, outcome)
}

// endRevisit gives a URL whose page is stored a new outcome.
func (c *Crawler) endRevisit(b journal.Batch, o *jobResult, outcome store.Outcome) error {
	old := o.Old.Outcome
	outcome.Page, outcome.Score, outcome.Parent, outcome.At = old.Page, old.Score, old.Parent, c.opt.Now().UnixMilli()
	if o.Read != nil && outcome.State != string(fetch.StateOK) {
		outcome.Rendering = o.Read.Rendering
	}
	return c.endAgain(b, o.Old.ID, old.State, outcome)
}
