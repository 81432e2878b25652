package crawler

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"time"

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

	newcomer bool         // has one of the places that newcomers have among the workers
	site     netip.Prefix // net in which it is the only exchange with a newcomer

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

// leaseAll hands out jobs until all workers are busy or no host is free. The
// channel fires when the next host has rested; it is nil when waiting for that
// would bring nothing.
func (c *Crawler) leaseAll() (<-chan time.Time, error) {
	c.newcomers.putOff = 0
	for c.stopped == "" && c.free() {
		if c.opt.MaxPages > 0 && !c.refresh.on && c.counts.Pages+c.pagesBusy >= c.opt.MaxPages {
			if c.pagesBusy == 0 {
				c.stopped = StopMaxPages
			}
			return nil, nil
		}
		if wake, hold, err := c.hold(); hold || err != nil {
			return wake, err
		}
		if c.newcomers.putOff >= maxPutOff {
			return time.After(0), nil // there may be others
		}
		it, ok := c.nextItem()
		if !ok {
			if err := c.frontier.Err(); err != nil {
				return nil, err
			}
			if wake := c.rested(); wake != nil {
				return wake, nil
			}
			if len(c.newcomers.waits) > 0 {
				return nil, nil // until one of those before them is over
			}
			if c.refresh.on {
				if c.busy > 0 {
					return nil, nil
				}
				if err := c.endRefresh(); err != nil {
					return nil, err
				}
				continue
			}
			return c.leaseLeft()
		}
		c.left = nil // there is a queue again
		j, err := c.prepare(it)
		if err != nil {
			return nil, err
		}
		c.start(j)
		if len(c.skips) >= maxSkips {
			if err := c.commit(nil); err != nil {
				return nil, err
			}
		}
	}
	return nil, nil
}

// start hands a job to the workers; nil is none.
func (c *Crawler) start(j *job) {
	if j != nil {
		c.busy++
		j.hold(1)
		j.addr = j.asked().address()
		c.newcomers.begin(j)
		c.jobs <- j
	}
}

// maxSkips bounds the URLs that wait to be journalled as skipped.
const maxSkips = 1000

// prepare decides what to do with a leased URL: skip it, or make a job.
func (c *Crawler) prepare(it frontier.Item) (*job, error) {
	id := store.ID(it.ID)
	birth, queued, err := c.store.Waiting(id)
	if c.opt.Refresh > 0 && errors.Is(err, store.ErrUnknown) {
		return c.prepareRefresh(it)
	}
	if err != nil {
		return nil, fmt.Errorf("URL %d of the queue: %w", id, err)
	}
	h, err := c.host(page.Host(birth.URL), birth.URL)
	if err != nil {
		return nil, err
	}
	j := &job{id: id, host: h, birth: birth, queued: queued, target: birth.URL, priority: it.Priority}
	c.reconsider(h)
	if farmed, err := c.skipFarm(j); farmed || err != nil {
		return nil, err
	}
	switch {
	case c.trapped(h, birth.URL) != "":
		return nil, c.skip(j, string(fetch.StateTrap), c.trapped(h, birth.URL))
	case h.verdict != "":
		c.logEnded(j)
		return nil, c.skip(j, h.verdict, h.why)
	}
	if why := c.overBudget(h, birth.Depth); why != "" {
		return nil, c.skip(j, string(fetch.StateTrap), why)
	}
	switch {
	case c.opt.MaxPerHost > 0 && h.Pages >= c.opt.MaxPerHost:
		return nil, c.skip(j, string(fetch.StateNone), fmt.Sprintf("the host has its %d pages", c.opt.MaxPerHost))
	case c.opt.MaxPerSite > 0 && c.sites[h.site] >= c.opt.MaxPerSite:
		return nil, c.skip(j, string(fetch.StateNone), fmt.Sprintf("the site has its %d pages", c.opt.MaxPerSite))
	case !h.resolved:
		j.task = taskAddress
		return j, nil
	case !c.newcomers.admits(h):
		c.await(it, j)
		return nil, nil
	case !c.robotsFresh(h) || h.probed():
		return c.prepareRobots(j)
	case c.sitemapsWait(j):
		return c.prepareSitemap(j)
	}
	return c.preparePage(j)
}

// preparePage makes the job that fetches the page, if robots.txt allows it.
func (c *Crawler) preparePage(j *job) (*job, error) {
	h := j.host
	if !h.robots.Allowed(c.opt.Agent, pathOf(j.birth.URL)) {
		return nil, c.skip(j, string(fetch.StateRobotsDenied), denial(h.robots))
	}
	j.task, j.target = taskPage, j.birth.URL
	j.promise, _ = c.promise(j.birth)
	h.sitemapTurn = true
	j.watched = c.watched(h)
	c.pagesBusy++
	c.countSite(h, 1)
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
	other, err := c.host(name, j.target)
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
		c.holdBack(j.host, until)
		return nil, nil
	}
	if !other.resolved && other.verdict == "" {
		c.requeue(j)
		c.holdBack(j.host, c.opt.Now().Add(minHopWait))
		return &job{task: taskAddress, host: other, birth: store.Birth{URL: j.target}, target: j.target}, nil
	}
	j.other = other
	return j, nil
}

// minHopWait is how long a host waits at least for another that its robots.txt points to.
const minHopWait = 250 * time.Millisecond

// skip ends a URL without an exchange; its host is free again at once.
func (c *Crawler) skip(j *job, state, reason string) error {
	c.skips = append(c.skips, skip{j.id, j.queued, state, reason})
	c.frontier.Done(j.host.party, time.Time{})
	return nil
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
