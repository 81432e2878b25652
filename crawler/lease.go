package crawler

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"fossick/crawler/fetch"
	"fossick/crawler/frontier"
	"fossick/crawler/hosts"
	"fossick/crawler/journal"
	"fossick/internal/page"
	"fossick/store"
)

// skip is a URL that ends without an exchange.
type skip struct {
	id            store.ID
	queued        store.Queued
	state, reason string
}

// leases decides what is asked next: it turns URLs of the queue into jobs, and says which
// end without one.
type leases struct {
	opt      *Options
	journal  journal.Journal
	frontier *frontier.Frontier
	totals   *running
	hosts    *hosts.Table
	traps    *hosts.Detector
	queue    *queue
	across   *across
	contact  *contact
	sitemaps *sitemapTurns
	revisits *revisits
	outages  *outages
	flight   *flight
	choice   *choice
	turns    *meter

	addresses *addresses

	skips []skip // to be journalled
}

// begin looks for work anew.
func (l *leases) begin() { l.flight.newcomers.putOff = 0 }

// full says that the URLs that ended without an exchange are to be journalled.
func (l *leases) full() bool { return len(l.skips) >= maxSkips }

// leaseAll hands out jobs until all workers are busy or no host is free, or full says so.
// It returns when the next host has rested; the zero time when waiting for that would
// bring nothing. stop is the reason to lease no more, "" while there is none.
func (l *leases) leaseAll() (wake time.Time, stop Stop, err error) {
	for l.flight.free() && l.allowed() && !l.full() {
		again, err := l.revisits.fill(false)
		if err != nil {
			return time.Time{}, "", err
		}
		if most, limited := l.most(); limited && !l.revisits.on() && l.totals.Pages()+l.flight.pages >= most {
			if l.flight.pages == 0 && l.opt.Sites == nil {
				stop = StopMaxPages
			}
			return time.Time{}, stop, nil
		}
		if wake, hold, err := l.outages.hold(); hold || err != nil {
			return wake, "", err
		}
		if l.flight.newcomers.putOff >= maxPutOff {
			return l.opt.Now(), "", nil // there may be others
		}
		it, wait, ok := l.next()
		if !ok {
			if !wait.IsZero() {
				return wait, "", nil
			}
			if err := l.frontier.Err(); err != nil {
				return time.Time{}, "", err
			}
			if wake := sooner(l.rested(), again); !wake.IsZero() {
				return wake, "", nil
			}
			if len(l.flight.newcomers.waits) > 0 {
				return time.Time{}, "", nil // until one of those before them is over
			}
			if l.revisits.on() {
				if wake, goOn, err := l.revisited(); !goOn || err != nil {
					return wake, "", err
				}
				continue
			}
			wake, err := l.sitemaps.leaseLeft()
			return wake, "", err
		}
		l.sitemaps.left = nil // there is a queue again
		j, err := l.prepare(it)
		if err != nil {
			return time.Time{}, "", err
		}
		l.flight.start(j)
	}
	return time.Time{}, "", nil
}

// most is how many pages there may be.
func (l *leases) most() (pages uint64, limited bool) {
	if l.opt.Sites != nil {
		return l.choice.allowed.Pages, true
	}
	return l.opt.MaxPages, l.opt.MaxPages > 0
}

// allowed says whether another exchange may begin, of a crawl that several agents make.
func (l *leases) allowed() bool {
	return l.opt.Sites == nil || l.flight.busy-l.flight.slow < l.choice.allowed.Workers
}

// revisited is what follows when no stored page can be asked for now: until when to wait,
// the zero time for what is in flight or for ever, unless it goes on at once.
func (l *leases) revisited() (wake time.Time, goOn bool, err error) {
	if l.flight.busy > 0 {
		return time.Time{}, false, nil
	}
	waited := l.frontier.Len()
	again, err := l.revisits.fill(true)
	switch {
	case err != nil:
		return time.Time{}, false, err
	case l.frontier.Len() > waited:
		return time.Time{}, true, nil
	case !again.IsZero() || l.opt.RevisitsOnly || l.opt.NewPages:
		return again, false, nil
	}
	l.revisits.over = true
	return time.Time{}, true, l.queue.Open()
}

// sooner returns the earlier of two times; the zero time is never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// next returns the URL to be looked at next: of a newcomer for which there is a place now,
// else of the queue. Where it is better to wait it says until when.
func (l *leases) next() (it frontier.Item, wait time.Time, ok bool) {
	if it, ok = l.flight.newcomers.next(); ok {
		return it, wait, ok
	}
	return l.choice.next()
}

// maxSkips bounds the URLs that wait to be journalled as skipped.
const maxSkips = 1000

// prepare decides what to do with a leased URL: skip it, or make a job.
func (l *leases) prepare(it frontier.Item) (*workJob, error) {
	id := store.ID(it.ID)
	birth, queued, err := l.journal.Waiting(id)
	if l.opt.Revisits != nil && errors.Is(err, store.ErrUnknown) {
		return l.revisits.prepare(it)
	}
	if l.opt.Sites != nil && errors.Is(err, store.ErrUnknown) { // another agent asked for it meanwhile
		l.frontier.Done(it.Host, time.Time{})
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("URL %d of the queue: %w", id, err)
	}
	if _, mine := l.across.Part(birth.URL); !mine {
		l.putAside(it, birth.URL, queued)
		return nil, nil
	}
	if most, limited := l.most(); limited && l.revisits.on() && l.totals.Pages()+l.flight.pages >= most {
		l.frontier.Done(it.Host, time.Time{}) // it waits in the journal
		return nil, nil
	}
	h, err := l.hosts.Get(page.Host(birth.URL), birth.URL)
	if err != nil {
		return nil, err
	}
	j := &workJob{leased: leased{ID: id, Birth: birth, Queued: queued, Priority: l.queue.Priority(it, queued)}, Host: h, Target: birth.URL}
	state, why, err := l.refused(j)
	if err != nil {
		return nil, err
	}
	if state != "" {
		return nil, l.skip(j, state, why)
	}
	switch {
	case !h.Resolved || l.addresses.unclaimed(h):
		j.task = address
		l.addresses.begin(h)
		return j, nil
	case l.addresses.waits(h):
		l.queue.Requeue(j)
		l.frontier.Rest(h.Party, l.opt.Now().Add(claimAgain))
		l.frontier.Done(h.Party, time.Time{})
		return nil, nil
	case !l.flight.newcomers.admits(h):
		l.flight.newcomers.await(it, j)
		return nil, nil
	case !l.hosts.RobotsFresh(h) || h.Health.Probed():
		return l.contact.prepare(j)
	case l.contact.reservationsDue(h, birth.URL):
		return tdmrepJob(j), nil
	case l.sitemaps.due(j):
		if sitemap, waits, err := l.sitemaps.prepare(j); waits || err != nil {
			return sitemap, err
		}
	}
	return l.preparePage(j)
}

// refused returns the state in which a URL ends without a request, and why; "" for one that is
// to be fetched.
func (l *leases) refused(j *workJob) (state, why string, err error) {
	h, url := j.Host, j.Birth.URL
	if l.opt.Scope.Forgotten.Has(url) {
		return string(fetch.StateNone), store.ForgottenReason, nil
	}
	h.Health.Reconsider(l.opt.Now())
	if why, err = l.farmed(j); err != nil {
		return "", "", err
	}
	if why = cmp.Or(why, l.traps.Cut(&h.Trap, url)); why != "" {
		return string(fetch.StateTrap), why, nil
	}
	if h.Health.Verdict != "" {
		l.outages.ended(j)
		return h.Health.Verdict, h.Health.Why, nil
	}
	if why = l.traps.Spent(&h.Trap, url, j.Birth.Depth == 0); why != "" {
		return string(fetch.StateTrap), why, nil
	}
	if why = l.hosts.Full(h); why == "" {
		why = l.addresses.dropped(h)
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
func (l *leases) putAside(it frontier.Item, url string, place store.Queued) {
	l.frontier.Done(it.Host, time.Time{})
	if l.across.Held(url) {
		l.queue.putBack(it, url, place)
		l.frontier.Rest(it.Host, l.opt.Now().Add(leaseWait))
	}
}

// farmed says why a leased URL leads into a farm of hosts, "" when it does not. Nobody
// has to vouch for a start page.
func (l *leases) farmed(j *workJob) (string, error) {
	if !l.traps.HasFarms(j.Host.Site) || j.Birth.Via == store.ViaSeed {
		return "", nil
	}
	finder := j.Host.Site // as a sitemap is the host's own
	if j.Birth.From != 0 {
		from, err := l.journal.Birth(j.Birth.From)
		if err != nil {
			return "", fmt.Errorf("URL %d, which led to %s: %w", j.Birth.From, j.Birth.URL, err)
		}
		finder = page.Site(from.URL)
	}
	why := l.traps.Farmed(&j.Host.Trap, j.Host.Pages, finder)
	if why != "" {
		l.totals.Farmed()
	}
	return why, nil
}

// preparePage makes the job that fetches the page, if robots.txt allows it.
func (l *leases) preparePage(j *workJob) (*workJob, error) {
	h := j.Host
	if !h.Rules.Allowed(l.opt.Agent, page.Path(j.Birth.URL)) {
		return nil, l.skip(j, string(fetch.StateRobotsDenied), denial(h.Rules))
	}
	if why := refusal(l.opt, h, j.Birth.URL); why != "" {
		return nil, l.skip(j, string(fetch.StateRobotsDenied), why)
	}
	j.task, j.Target = workPage, j.Birth.URL
	j.Page.Promise, _ = l.queue.Promise(j.Birth)
	l.choice.tried++
	j.Page.Wait = l.choice.waits.End(page.Key(j.Birth.URL), l.opt.Now())
	h.Maps.PageAsked()
	j.Page.Watched = l.traps.Watched(&h.Trap)
	return j, nil
}

// skip ends a URL without an exchange; its host is free again at once. The queue is
// shorter then, so that new priorities may be due.
func (l *leases) skip(j *workJob, state, reason string) error {
	l.skips = append(l.skips, skip{j.ID, j.Queued, state, reason})
	l.frontier.Done(j.Host.Party, time.Time{})
	return l.turns.timed(rescore, l.queue.learned)
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

// rested returns when the next host with a URL has rested. It is the zero time
// when there is none, or when nothing is in flight and that is longer off than
// a crawl should sit and wait. What waits stays queued, for a later session;
// see Crawler.end.
func (l *leases) rested() time.Time {
	at, resting := l.frontier.Wake()
	if !resting {
		return time.Time{}
	}
	wait := at.Sub(l.opt.Now())
	if l.flight.busy == 0 && wait > max(0, l.opt.MaxWait) {
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
