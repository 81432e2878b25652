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

// leaseAll starts jobs until all workers are busy, no host is free, or too many URLs were
// skipped. It returns when the next host is rested; zero if waiting for that cannot help. stop
// is the reason to end the crawl, "" for none.
func (c *Crawler) leaseAll() (wake time.Time, stop Stop, err error) {
	for c.workerFree() && len(c.skips) < maxSkips {
		again, err := c.fillRevisits(false)
		if err != nil {
			return time.Time{}, "", err
		}
		if !c.revisiting() && c.pagesSpent() {
			if c.fetching == 0 && !c.opt.several() {
				stop = StopMaxPages
			}
			return time.Time{}, stop, nil
		}
		if wake, hold, err := c.holdForNetwork(); hold || err != nil {
			return wake, "", err
		}
		if c.putOff >= maxPutOff {
			return c.opt.Now(), "", nil // other hosts may be free
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
			if len(c.awaiting) > 0 {
				return time.Time{}, "", nil // an earlier newcomer must end first
			}
			if c.revisiting() {
				if wake, goOn, err := c.leaseRevisits(); !goOn || err != nil {
					return wake, "", err
				}
				continue
			}
			wake, err := c.leaseLeft()
			if err == nil && wake.IsZero() && len(c.jobs) == 0 {
				more, err := c.takeUpDeclined()
				if err != nil {
					return time.Time{}, "", err
				}
				if more {
					continue
				}
			}
			return wake, "", err
		}
		c.left = nil // the queue is not empty any more
		j, err := c.prepare(it)
		if err != nil {
			return time.Time{}, "", err
		}
		c.start(j)
	}
	return time.Time{}, "", nil
}

// pagesSpent reports whether as many pages as allowed are stored or under way.
func (c *Crawler) pagesSpent() bool { return c.totals.Pages+c.fetching >= c.allowed.Pages }

// leaseRevisits handles the case that no stored page can be asked for at present. It returns until
// when to wait, zero for a job under way or for ever; with goOn the caller goes on at once.
func (c *Crawler) leaseRevisits() (wake time.Time, goOn bool, err error) {
	if len(c.jobs) > 0 {
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
	return time.Time{}, true, c.openQueue()
}

// sooner returns the earlier of two times; the zero time is never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// nextItem returns the URL to look at next: that of a newcomer with a place now, else the best
// of the queue, or until when to wait.
func (c *Crawler) nextItem() (it frontier.Item, wait time.Time, ok bool) {
	if len(c.awaiting) == 0 || !c.newcomers.Free() {
		return c.nextBest()
	}
	first := c.awaiting[0]
	c.awaiting = c.awaiting[1:]
	first.job.hold(-1)
	return first.item, wait, true
}

// maxSkips bounds the skipped URLs that wait for the journal.
const maxSkips = 1000

// prepare makes a leased URL's job, or skips the URL.
func (c *Crawler) prepare(it frontier.Item) (*job, error) {
	id := store.ID(it.ID)
	discovery, queued, err := c.journal.Waiting(id)
	if c.opt.Revisits != nil && errors.Is(err, store.ErrUnknown) {
		return c.prepareRevisit(it)
	}
	if c.opt.several() && errors.Is(err, store.ErrUnknown) { // another agent has asked for it
		c.frontier.Done(it.Host, time.Time{})
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("URL %d of the queue: %w", id, err)
	}
	if sites := c.opt.Sites; !sites.Mine(sites.Part(discovery.URL)) {
		c.putAside(it, discovery.URL, queued)
		return nil, nil
	}
	if c.revisiting() && c.pagesSpent() {
		c.frontier.Done(it.Host, time.Time{}) // it waits in the journal
		return nil, nil
	}
	h, err := c.hosts.Get(page.Host(discovery.URL), discovery.URL)
	if err != nil {
		return nil, err
	}
	if c.tooDear(&it, discovery.URL, queued, h) {
		c.frontier.Done(it.Host, time.Time{})
		c.frontier.Push(it)
		return nil, nil
	}
	j := &job{leased: leased{ID: id, Discovery: discovery, Queued: queued, Priority: c.firstPriority(it, queued)}, Host: h, Target: discovery.URL}
	state, why, err := c.refusedBy(j)
	if err != nil {
		return nil, err
	}
	if state != "" {
		return nil, c.skipURL(j, state, why)
	}
	switch {
	case !h.Resolved || c.unclaimed(h):
		j.task = taskAddress
		c.beginLookup(h)
		return j, nil
	case c.waitsForAddress(h):
		c.requeue(j)
		c.frontier.Rest(h.Party, c.opt.Now().Add(claimAgain))
		c.frontier.Done(h.Party, time.Time{})
		return nil, nil
	case !c.admitsNewcomer(h):
		c.awaitPlace(it, j)
		return nil, nil
	case !c.hosts.RobotsFresh(h) || h.Health.Probed():
		return c.prepareRobots(j)
	case c.reservationsDue(h, discovery.URL):
		return tdmRepJob(j), nil
	case c.sitemapDue(j):
		if sitemap, waits, err := c.prepareSitemap(j); waits || err != nil {
			return sitemap, err
		}
	}
	return c.preparePage(j)
}

// refusedBy returns the state in which a URL ends without a request, and why; "" if it is to
// be fetched.
func (c *Crawler) refusedBy(j *job) (state, why string, err error) {
	h, url := j.Host, j.Discovery.URL
	if c.opt.Scope.Forgotten.Has(url) {
		return string(fetch.StateNone), store.ForgottenReason, nil
	}
	if why = c.opt.Scope.excluded(url); why != "" { // since it was found
		return string(fetch.StateNone), why, nil
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
	if why = c.traps.Spent(&h.Trap, url, j.Discovery.Depth == 0); why != "" {
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

// leaseWait is how long a host rests while its part waits for the agent's lease.
const leaseWait = time.Second

// putAside handles a URL that this agent may not fetch now. If its part is another agent's, it
// waits in the journal alone; if only the agent's lease is due, it stays in the queue.
func (c *Crawler) putAside(it frontier.Item, url string, place store.Queued) {
	c.frontier.Done(it.Host, time.Time{})
	if c.owns(url) {
		c.putBack(it, url, place)
		c.frontier.Rest(it.Host, c.opt.Now().Add(leaseWait))
	}
}

// farmed says why a leased URL leads into a host farm, "" if it does not. Start pages are
// trusted.
func (c *Crawler) farmed(j *job) (string, error) {
	if !c.traps.HasFarms(j.Host.Site) || j.Discovery.Via == store.ViaSeed {
		return "", nil
	}
	finder := j.Host.Site // a sitemap is the host's own
	if j.Discovery.From != 0 {
		from, err := c.journal.Discovery(j.Discovery.From)
		if err != nil {
			return "", fmt.Errorf("URL %d, which led to %s: %w", j.Discovery.From, j.Discovery.URL, err)
		}
		finder = page.Site(from.URL)
	}
	why := c.traps.Farmed(&j.Host.Trap, j.Host.Pages, finder)
	if why != "" {
		c.totals.farmed++
	}
	return why, nil
}

// preparePage makes the job that fetches the page, if robots.txt allows it.
func (c *Crawler) preparePage(j *job) (*job, error) {
	h := j.Host
	if !h.Rules.Allowed(c.opt.Agent, page.Path(j.Discovery.URL)) {
		return nil, c.skipURL(j, string(fetch.StateRobotsDenied), denial(h.Rules))
	}
	if why := refusal(&c.opt, h, j.Discovery.URL); why != "" {
		return nil, c.skipURL(j, string(fetch.StateRobotsDenied), why)
	}
	j.task, j.Target = taskPage, j.Discovery.URL
	j.Page.Promise, _ = c.promise(j.Discovery)
	c.pagesTried++
	key := page.Key(j.Discovery.URL)
	j.Page.Wait, j.Page.File = c.waits.End(key, c.opt.Now()), c.unprice(j, key)
	h.Maps.PageAsked()
	j.Page.Watched = c.traps.Watched(&h.Trap)
	return j, nil
}

// skipURL ends a URL without an exchange and frees its host.
func (c *Crawler) skipURL(j *job, state, reason string) error {
	c.skips = append(c.skips, skip{j.ID, j.Queued, state, reason})
	c.frontier.Done(j.Host.Party, time.Time{})
	return c.rescore()
}

func denial(r *fetch.Robots) string {
	if why := r.Why(); why != "" {
		return why
	}
	return "robots.txt of the host disallows it"
}

// defaultMaxWait is longer than any pause that the crawler chooses by itself. It cuts off
// longer ones that hosts ask for.
const defaultMaxWait = 15 * time.Minute

// restedUntil returns when the next host with a URL is rested; zero if there is none, or if
// nothing is under way and the wait exceeds MaxWait. URLs of such hosts stay queued for a
// later session.
func (c *Crawler) restedUntil() time.Time {
	at, resting := c.frontier.Wake()
	if !resting {
		return time.Time{}
	}
	wait := at.Sub(c.opt.Now())
	if len(c.jobs) == 0 && wait > max(0, c.opt.MaxWait) {
		return time.Time{}
	}
	return at
}

const (
	// newcomersWaiting is how many newcomers may wait for a place, per worker.
	newcomersWaiting = 4
	// putOffFor is how long a newcomer rests that finds no place to wait.
	putOffFor = 2 * time.Second
	// maxPutOff bounds how many newcomers are put off in one turn.
	maxPutOff = 64
)

// waitingNewcomer is a leased URL whose host has answered nothing yet. Such exchanges are
// limited.
type waitingNewcomer struct {
	item frontier.Item
	job  *job
}

// admitsNewcomer reports whether an exchange with h may begin.
func (c *Crawler) admitsNewcomer(h *hosts.Host) bool {
	return !h.Health.Newcomer() || c.newcomers.Free() && !c.newcomers.NetBusy(h.Addr())
}

// awaitPlace lets a newcomer wait, leased, for a place. If too many wait, or its network is
// busy for an unknown time, it goes back to the queue and rests a little.
func (c *Crawler) awaitPlace(it frontier.Item, j *job) {
	if len(c.awaiting) < newcomersWaiting*c.opt.Workers && !c.newcomers.NetBusy(j.Host.Addr()) {
		c.awaiting = append(c.awaiting, waitingNewcomer{it, j})
		j.hold(1)
		return
	}
	c.putOff++
	c.requeue(j)
	c.frontier.Rest(j.Host.Party, c.opt.Now().Add(putOffFor))
	c.frontier.Done(j.Host.Party, time.Time{})
}

// requeueNewcomers puts back into the queue the newcomers that still wait at the end.
func (c *Crawler) requeueNewcomers() {
	for _, w := range c.awaiting {
		c.requeue(w.job)
		c.frontier.Done(w.job.Host.Party, time.Time{})
		w.job.hold(-1)
	}
	c.awaiting = nil
}
