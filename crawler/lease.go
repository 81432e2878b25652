package crawler

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"time"

	"fossick/crawler/health"
	"fossick/fetch"
	"fossick/frontier"
	"fossick/page"
	"fossick/store"
)

// task says what a job is to do.
type task int

const (
	taskAddress task = iota // look the host's address up
	taskRobots              // fetch robots.txt
	taskSitemap             // fetch a sitemap of the host
	taskPage                // fetch the page
	taskProbe               // ask a host for its robots.txt, to see whether we have a network
)

// job is a leased URL with what a worker needs to know.
type job struct {
	task
	id      store.ID
	host    *host
	birth   store.Birth
	queued  store.Queued
	target  string        // of the exchange: the page, or robots.txt
	addr    netip.Addr    // that the exchange connects to; see host.address
	request fetch.Request // for robots.txt
	other   *host         // a second host that the exchange uses: robots.txt redirected there
	owner   *host         // of a sitemap, which lies at host; it is not leased
	room    int           // URLs that a sitemap may add
	parent  float64       // score of the URL for whose sake the sitemap's owner was asked

	old     *store.Copy // of a page that is asked for again, nil otherwise; then id is 0
	watched bool        // its page is compared with those of its site's other hosts

	ticket health.Ticket // what it takes of the places for newcomers

	exchange uint64 // number of it in the journal, once written; see journal

	priority float64 // that it was leased with: of a scorer that learns, not the journalled one
	promise  float64 // what the scorer expected of it then, 0 where it does not say
}

// skip is a URL that ends without an exchange.
type skip struct {
	id            store.ID
	queued        store.Queued
	state, reason string
}

// leaseAll hands out jobs until all workers are busy or no host is free. It
// returns when the next host has rested; the zero time when waiting for that would
// bring nothing.
func (c *Crawler) leaseAll() (wake time.Time, err error) {
	c.newcomers.putOff = 0
	for c.stopped == "" && c.free() {
		if c.opt.MaxPages > 0 && !c.refresh.On && c.totals.Pages+c.pagesBusy >= c.opt.MaxPages {
			if c.pagesBusy == 0 {
				c.stopped = StopMaxPages
			}
			return time.Time{}, nil
		}
		if wake, hold, err := c.hold(); hold || err != nil {
			return wake, err
		}
		if c.newcomers.putOff >= maxPutOff {
			return c.opt.Now(), nil // there may be others
		}
		it, ok := c.nextItem()
		if !ok {
			if err := c.frontier.Err(); err != nil {
				return time.Time{}, err
			}
			if wake := c.rested(); !wake.IsZero() {
				return wake, nil
			}
			if len(c.newcomers.waits) > 0 {
				return time.Time{}, nil // until one of those before them is over
			}
			if c.refresh.On {
				if c.busy > 0 {
					return time.Time{}, nil
				}
				if err := c.endRefresh(); err != nil {
					return time.Time{}, err
				}
				continue
			}
			return c.leaseLeft()
		}
		c.left = nil // there is a queue again
		j, err := c.prepare(it)
		if err != nil {
			return time.Time{}, err
		}
		c.start(j)
		if len(c.skips) >= maxSkips {
			if err := c.commit(nil); err != nil {
				return time.Time{}, err
			}
		}
	}
	return time.Time{}, nil
}

// start has a job carried out; nil is none.
func (c *Crawler) start(j *job) {
	if j != nil {
		c.busy++
		j.hold(1)
		j.addr = j.asked().address()
		c.newcomers.begin(j)
		c.exec.start(j)
	}
}

// maxSkips bounds the URLs that wait to be journalled as skipped.
const maxSkips = 1000

// prepare decides what to do with a leased URL: skip it, or make a job.
func (c *Crawler) prepare(it frontier.Item) (*job, error) {
	id := store.ID(it.ID)
	birth, queued, err := c.journal.Waiting(id)
	if c.opt.Refresh > 0 && errors.Is(err, store.ErrUnknown) {
		return c.prepareRefresh(it)
	}
	if err != nil {
		return nil, fmt.Errorf("URL %d of the queue: %w", id, err)
	}
	h, err := c.hosts.get(page.Host(birth.URL), birth.URL)
	if err != nil {
		return nil, err
	}
	j := &job{id: id, host: h, birth: birth, queued: queued, target: birth.URL, priority: it.Priority}
	h.health.Reconsider(c.opt.Now())
	why, err := c.farmed(j)
	if err != nil {
		return nil, err
	}
	if why = cmp.Or(why, c.traps.Cut(&h.trap, birth.URL)); why != "" {
		return nil, c.skip(j, string(fetch.StateTrap), why)
	}
	if h.health.Verdict != "" {
		c.logEnded(j)
		return nil, c.skip(j, h.health.Verdict, h.health.Why)
	}
	if why = c.traps.Spent(&h.trap, birth.Depth == 0); why != "" {
		return nil, c.skip(j, string(fetch.StateTrap), why)
	}
	if why = c.hosts.full(h); why != "" {
		return nil, c.skip(j, string(fetch.StateNone), why)
	}
	switch {
	case !h.resolved:
		j.task = taskAddress
		return j, nil
	case !c.newcomers.admits(h):
		c.await(it, j)
		return nil, nil
	case !c.hosts.robotsFresh(h) || h.health.Probed():
		return c.prepareRobots(j)
	case c.sitemapDue(j):
		return c.prepareSitemap(j)
	}
	return c.preparePage(j)
}

// farmed says why a leased URL leads into a farm of hosts, "" when it does not. Nobody
// has to vouch for a start page.
func (c *Crawler) farmed(j *job) (string, error) {
	if !c.traps.HasFarms(j.host.site) || j.birth.Via == store.ViaSeed {
		return "", nil
	}
	finder := j.host.site // as a sitemap is the host's own
	if j.birth.From != 0 {
		from, err := c.journal.Birth(j.birth.From)
		if err != nil {
			return "", fmt.Errorf("URL %d, which led to %s: %w", j.birth.From, j.birth.URL, err)
		}
		finder = page.Site(from.URL)
	}
	why := c.traps.Farmed(&j.host.trap, j.host.Pages, finder)
	if why != "" {
		c.totals.farmed++
	}
	return why, nil
}

// preparePage makes the job that fetches the page, if robots.txt allows it.
func (c *Crawler) preparePage(j *job) (*job, error) {
	h := j.host
	if !h.robots.Allowed(c.opt.Agent, pathOf(j.birth.URL)) {
		return nil, c.skip(j, string(fetch.StateRobotsDenied), denial(h.robots))
	}
	j.task, j.target = taskPage, j.birth.URL
	j.promise, _ = c.promise(j.birth)
	h.sitemaps.PageAsked()
	j.watched = c.traps.Watched(&h.trap)
	c.pagesBusy++
	c.hosts.countSite(h, 1)
	return j, nil
}

// hold counts a job for the hosts that it uses.
func (j *job) hold(n int) {
	j.host.jobs += n
	if j.other != nil {
		j.other.jobs += n
	}
	if j.owner != nil {
		j.owner.jobs += n
	}
}

// prepareRobots makes the job that fetches robots.txt, or its next hop. A hop
// to another host needs that host as well; while it is in use the URL waits.
func (c *Crawler) prepareRobots(j *job) (*job, error) {
	j.task = taskRobots
	j.target = cmp.Or(j.host.hop, robotsURL(j.birth.URL))
	j.request = c.robotsRequest(j)
	if j.host.hop == "" {
		return j, nil
	}
	name := page.Host(j.target)
	if name == j.host.Name {
		return j, nil
	}
	other, err := c.hosts.get(name, j.target)
	if err != nil {
		return nil, err
	}
	if !c.frontier.Take(other.party, j.host.party, c.opt.Now()) {
		c.requeue(j)
		// Not the address: the others there have nothing to do with it.
		until := c.opt.Now().Add(minHopWait)
		if rested := c.frontier.Until(other.party); rested.After(until) {
			until = rested
		}
		c.hosts.holdBack(j.host, until)
		return nil, nil
	}
	if !other.resolved && other.health.Verdict == "" {
		c.requeue(j)
		c.hosts.holdBack(j.host, c.opt.Now().Add(minHopWait))
		return &job{task: taskAddress, host: other, birth: store.Birth{URL: j.target}, target: j.target}, nil
	}
	j.other = other
	return j, nil
}

// minHopWait is how long a host waits at least for another that its robots.txt points to.
const minHopWait = 250 * time.Millisecond

// skip ends a URL without an exchange; its host is free again at once. The queue is
// shorter then, so that new priorities may be due.
func (c *Crawler) skip(j *job, state, reason string) error {
	c.skips = append(c.skips, skip{j.id, j.queued, state, reason})
	c.frontier.Done(j.host.party, time.Time{})
	return c.turns.timed(TurnRescore, c.learned)
}

// requeue puts a leased URL back where it was; a guest's job and a probe have none.
func (c *Crawler) requeue(j *job) {
	if j.old != nil {
		c.pushRefresh(j.old.ID, j.birth.URL, j.priority)
	}
	if j.id == 0 {
		return
	}
	c.frontier.Push(c.item(j.id, j.host.party, j.birth.URL, j.priority))
}

func denial(r *fetch.Robots) string {
	if why := r.Why(); why != "" {
		return why
	}
	return "robots.txt of the host disallows it"
}

func robotsURL(u string) string {
	parsed, err := url.Parse(u)
	if err != nil {
		return u // cannot be: u is in normal form
	}
	return parsed.Scheme + "://" + parsed.Host + "/robots.txt"
}

// pathOf returns path and query, as robots.txt rules see a URL.
func pathOf(u string) string {
	parsed, err := url.Parse(u)
	if err != nil {
		return "/"
	}
	return parsed.RequestURI()
}
