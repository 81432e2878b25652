package crawler

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"fossick/crawler/fetch"
	"fossick/crawler/frontier"
	"fossick/crawler/hosts"
	"fossick/internal/page"
	"fossick/store"
)

// skip is a URL that ends without an exchange.
type skip struct {
	id            store.ID
	queued        store.Queued
	state, reason string
}

// beginLeases looks for work anew.
func (c *Crawler) beginLeases() { c.flight.newcomers.putOff = 0 }

// skipsFull says that the URLs that ended without an exchange are to be journalled.
func (c *Crawler) skipsFull() bool { return len(c.skips) >= maxSkips }

// leaseAll hands out jobs until all workers are busy or no host is free, or full says so.
// It returns when the next host has rested; the zero time when waiting for that would
// bring nothing. stop is the reason to lease no more, "" while there is none.
func (c *Crawler) leaseAll() (wake time.Time, stop Stop, err error) {
	for c.flight.free() && c.pagesAllowed() && !c.skipsFull() {
		again, err := c.fillRevisits(false)
		if err != nil {
			return time.Time{}, "", err
		}
		if most, limited := c.mostPages(); limited && !c.revisiting() && c.totals.Pages()+c.flight.pages >= most {
			if c.flight.pages == 0 && c.opt.Sites == nil {
				stop = StopMaxPages
			}
			return time.Time{}, stop, nil
		}
		if wake, hold, err := c.holdForNetwork(); hold || err != nil {
			return wake, "", err
		}
		if c.flight.newcomers.putOff >= maxPutOff {
			return c.opt.Now(), "", nil // there may be others
		}
		it, wait, ok := c.nextItem()
		if !ok {
			if !wait.IsZero() {
				return wait, "", nil
			}
			if err := c.frontier.Err(); err != nil {
				return time.Time{}, "", err
			}
			if wake := sooner(c.restedUntil(), again); !wake.IsZero() {
				return wake, "", nil
			}
			if len(c.flight.newcomers.waits) > 0 {
				return time.Time{}, "", nil // until one of those before them is over
			}
			if c.revisiting() {
				if wake, goOn, err := c.leaseRevisits(); !goOn || err != nil {
					return wake, "", err
				}
				continue
			}
			wake, err := c.leaseLeft()
			return wake, "", err
		}
		c.left = nil // there is a queue again
		j, err := c.prepare(it)
		if err != nil {
			return time.Time{}, "", err
		}
		c.flight.start(j)
	}
	return time.Time{}, "", nil
}

// mostPages is how many pages there may be.
func (c *Crawler) mostPages() (pages uint64, limited bool) {
	if c.opt.Sites != nil {
		return c.choice.allowed.Pages, true
	}
	return c.opt.MaxPages, c.opt.MaxPages > 0
}

// pagesAllowed says whether another exchange may begin, of a crawl that several agents make.
func (c *Crawler) pagesAllowed() bool {
	return c.opt.Sites == nil || c.flight.busy-c.flight.slow < c.choice.allowed.Workers
}

// leaseRevisits is what follows when no stored page can be asked for now: until when to wait,
// the zero time for what is in flight or for ever, unless it goes on at once.
func (c *Crawler) leaseRevisits() (wake time.Time, goOn bool, err error) {
	if c.flight.busy > 0 {
		return time.Time{}, false, nil
	}
	waited := c.frontier.Len()
	again, err := c.fillRevisits(true)
	switch {
	case err != nil:
		return time.Time{}, false, err
	case c.frontier.Len() > waited:
		return time.Time{}, true, nil
	case !again.IsZero() || c.opt.RevisitsOnly || c.opt.NewPages:
		return again, false, nil
	}
	c.revisitsOver = true
	return time.Time{}, true, c.queue.Open()
}

// sooner returns the earlier of two times; the zero time is never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// nextItem returns the URL to be looked at next: of a newcomer for which there is a place now,
// else of the queue. Where it is better to wait it says until when.
func (c *Crawler) nextItem() (it frontier.Item, wait time.Time, ok bool) {
	if it, ok = c.flight.newcomers.next(); ok {
		return it, wait, ok
	}
	return c.choice.next()
}

// maxSkips bounds the URLs that wait to be journalled as skipped.
const maxSkips = 1000

// prepare decides what to do with a leased URL: skip it, or make a job.
func (c *Crawler) prepare(it frontier.Item) (*workJob, error) {
	id := store.ID(it.ID)
	birth, queued, err := c.journal.Waiting(id)
	if c.opt.Revisits != nil && errors.Is(err, store.ErrUnknown) {
		return c.prepareRevisit(it)
	}
	if c.opt.Sites != nil && errors.Is(err, store.ErrUnknown) { // another agent asked for it meanwhile
		c.frontier.Done(it.Host, time.Time{})
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("URL %d of the queue: %w", id, err)
	}
	if _, mine := c.queue.Part(birth.URL); !mine {
		c.putAside(it, birth.URL, queued)
		return nil, nil
	}
	if most, limited := c.mostPages(); limited && c.revisiting() && c.totals.Pages()+c.flight.pages >= most {
		c.frontier.Done(it.Host, time.Time{}) // it waits in the journal
		return nil, nil
	}
	h, err := c.hosts.Get(page.Host(birth.URL), birth.URL)
	if err != nil {
		return nil, err
	}
	j := &workJob{leased: leased{ID: id, Birth: birth, Queued: queued, Priority: c.queue.Priority(it, queued)}, Host: h, Target: birth.URL}
	state, why, err := c.refusedBy(j)
	if err != nil {
		return nil, err
	}
	if state != "" {
		return nil, c.skipURL(j, state, why)
	}
	switch {
	case !h.Resolved || c.unclaimed(h):
		j.task = address
		c.beginLookup(h)
		return j, nil
	case c.waitsForAddress(h):
		c.queue.Requeue(j)
		c.frontier.Rest(h.Party, c.opt.Now().Add(claimAgain))
		c.frontier.Done(h.Party, time.Time{})
		return nil, nil
	case !c.flight.newcomers.admits(h):
		c.flight.newcomers.await(it, j)
		return nil, nil
	case !c.hosts.RobotsFresh(h) || h.Health.Probed():
		return c.prepareRobots(j)
	case c.reservationsDue(h, birth.URL):
		return tdmrepJob(j), nil
	case c.sitemapDue(j):
		if sitemap, waits, err := c.prepareSitemap(j); waits || err != nil {
			return sitemap, err
		}
	}
	return c.preparePage(j)
}

// refusedBy returns the state in which a URL ends without a request, and why; "" for one that is
// to be fetched.
func (c *Crawler) refusedBy(j *workJob) (state, why string, err error) {
	h, url := j.Host, j.Birth.URL
	if c.opt.Scope.Forgotten.Has(url) {
		return string(fetch.StateNone), store.ForgottenReason, nil
	}
	h.Health.Reconsider(c.opt.Now())
	if why, err = c.farmed(j); err != nil {
		return "", "", err
	}
	if why = cmp.Or(why, c.traps.Cut(&h.Trap, url)); why != "" {
		return string(fetch.StateTrap), why, nil
	}
	if h.Health.Verdict != "" {
		c.jobEnded(j)
		return h.Health.Verdict, h.Health.Why, nil
	}
	if why = c.traps.Spent(&h.Trap, url, j.Birth.Depth == 0); why != "" {
		return string(fetch.StateTrap), why, nil
	}
	if why = c.hosts.Full(h); why == "" {
		why = c.addressDropped(h)
	}
	if why != "" {
		return string(fetch.StateNone), why, nil
	}
	return "", "", nil
}

// leaseWait is how long a host waits for its agent's lease, before it is looked at again.
const leaseWait = time.Second

// putAside is for a URL that may not be fetched. What is another agent's by now waits
// in the journal alone; what waits for this agent's lease stays in the queue.
func (c *Crawler) putAside(it frontier.Item, url string, place store.Queued) {
	c.frontier.Done(it.Host, time.Time{})
	if c.queue.heldPart(url) {
		c.queue.putBack(it, url, place)
		c.frontier.Rest(it.Host, c.opt.Now().Add(leaseWait))
	}
}

// farmed says why a leased URL leads into a farm of hosts, "" when it does not. Nobody
// has to vouch for a start page.
func (c *Crawler) farmed(j *workJob) (string, error) {
	if !c.traps.HasFarms(j.Host.Site) || j.Birth.Via == store.ViaSeed {
		return "", nil
	}
	finder := j.Host.Site // as a sitemap is the host's own
	if j.Birth.From != 0 {
		from, err := c.journal.Birth(j.Birth.From)
		if err != nil {
			return "", fmt.Errorf("URL %d, which led to %s: %w", j.Birth.From, j.Birth.URL, err)
		}
		finder = page.Site(from.URL)
	}
	why := c.traps.Farmed(&j.Host.Trap, j.Host.Pages, finder)
	if why != "" {
		c.totals.Farmed()
	}
	return why, nil
}

// preparePage makes the job that fetches the page, if robots.txt allows it.
func (c *Crawler) preparePage(j *workJob) (*workJob, error) {
	h := j.Host
	if !h.Rules.Allowed(c.opt.Agent, page.Path(j.Birth.URL)) {
		return nil, c.skipURL(j, string(fetch.StateRobotsDenied), denial(h.Rules))
	}
	if why := refusal(&c.opt, h, j.Birth.URL); why != "" {
		return nil, c.skipURL(j, string(fetch.StateRobotsDenied), why)
	}
	j.task, j.Target = workPage, j.Birth.URL
	j.Page.Promise, _ = c.queue.Promise(j.Birth)
	c.choice.tried++
	j.Page.Wait = c.choice.waits.End(page.Key(j.Birth.URL), c.opt.Now())
	h.Maps.PageAsked()
	j.Page.Watched = c.traps.Watched(&h.Trap)
	return j, nil
}

// skipURL ends a URL without an exchange; its host is free again at once. The queue is
// shorter then, so that new priorities may be due.
func (c *Crawler) skipURL(j *workJob, state, reason string) error {
	c.skips = append(c.skips, skip{j.ID, j.Queued, state, reason})
	c.frontier.Done(j.Host.Party, time.Time{})
	return c.turns.timed(rescore, c.queue.learned)
}

func denial(r *fetch.Robots) string {
	if why := r.Why(); why != "" {
		return why
	}
	return "robots.txt of the host disallows it"
}

// defaultMaxWait is longer than the longest back-off, and than the longest
// pause between two probes of a host that gives no answer. It cuts off what
// hosts ask for by Retry-After and Crawl-delay, not what the crawler rests by
// itself.
const defaultMaxWait = 15 * time.Minute

// restedUntil returns when the next host with a URL has rested. It is the zero time
// when there is none, or when nothing is in flight and that is longer off than
// a crawl should sit and wait. What waits stays queued, for a later session;
// see Crawler.end.
func (c *Crawler) restedUntil() time.Time {
	at, resting := c.frontier.Wake()
	if !resting {
		return time.Time{}
	}
	wait := at.Sub(c.opt.Now())
	if c.flight.busy == 0 && wait > max(0, c.opt.MaxWait) {
		return time.Time{}
	}
	return at
}

const (
	// newcomersWaiting is how many wait for the next places, for each worker.
	newcomersWaiting = 4
	// putOffFor is how long a newcomer is left aside that finds no place to wait in.
	putOffFor = 2 * time.Second
	// maxPutOff bounds how many are put off before the owner does something else.
	maxPutOff = 64
)

// newcomers are the exchanges with hosts that have answered nothing yet.
type newcomers struct {
	hosts.Newcomers
	frontier *frontier.Frontier
	queue    *queue
	now      func() time.Time
	most     int               // that wait
	waits    []waitingNewcomer // leased, for the next places, the first first
	putOff   int               // since the owner looked for work
}

type waitingNewcomer struct {
	item frontier.Item
	job  *workJob
}

// admits says whether an exchange with h may begin.
func (n *newcomers) admits(h *hosts.Host) bool {
	return !h.Health.Newcomer() || n.Free() && !n.NetBusy(h.Addr())
}

// begin counts a job, if it is with a newcomer.
func (n *newcomers) begin(j *workJob) {
	if j.task != address && j.Host.Health.Newcomer() {
		j.Ticket = n.Begin(j.Host.Addr())
	}
}

// next returns the URL of a newcomer for which there is a place now.
func (n *newcomers) next() (frontier.Item, bool) {
	if len(n.waits) > 0 && n.Free() {
		w := n.waits[0]
		n.waits = n.waits[1:]
		w.job.hold(-1)
		return w.item, true
	}
	return frontier.Item{}, false
}

// await has a newcomer wait that is not admitted. It is leased until there is a
// place. Where too many wait, or its net is busy, for which nobody knows how
// long, it is asked for a little later.
func (n *newcomers) await(it frontier.Item, j *workJob) {
	if len(n.waits) < n.most && !n.NetBusy(j.Host.Addr()) {
		n.waits = append(n.waits, waitingNewcomer{it, j})
		j.hold(1)
		return
	}
	n.putOff++
	n.queue.Requeue(j)
	n.frontier.Rest(j.Host.Party, n.now().Add(putOffFor))
	n.frontier.Done(j.Host.Party, time.Time{})
}

// sendHome puts back into the queue what still waits at the end.
func (n *newcomers) sendHome() {
	for _, w := range n.waits {
		n.queue.Requeue(w.job)
		n.frontier.Done(w.job.Host.Party, time.Time{})
		w.job.hold(-1)
	}
	n.waits = nil
}
