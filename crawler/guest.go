package crawler

import (
	"slices"
	"time"

	"fossick/store"
)

// prepareGuest makes the job for a sitemap at another host, or, when that one is
// not ready, the job that looks its address up or fetches its robots.txt. While it
// is in use or rests the URL waits for some time, and the host's next lease, which
// would come before any that wait, goes to the sitemap.
func (c *Crawler) prepareGuest(j *job, at *host, target string) (*job, error) {
	now, owner := c.opt.Now(), j.host
	free := c.frontier.Take(at.party, owner.party, now)
	c.requeue(j)
	ready := at.resolved && c.robotsFresh(at) && !at.probed()
	// Of one party, the lease goes over to the job; else Take has made another.
	if !free || !c.frontier.OneParty(at.party, owner.party) {
		wait := now.Add(minHopWait)
		if free && ready {
			wait = time.Time{}
		}
		c.holdBack(owner, wait)
	}
	if !free {
		c.wait(owner)
		if len(at.guests) < maxGuests && !slices.Contains(at.guests, owner.Name) {
			at.guests = append(at.guests, owner.Name)
		}
		return nil, nil
	}
	return c.guestJob(at, owner, target)
}

// guestJob makes what comes next for a sitemap whose host is leased for it: the
// exchange itself, or what must come before.
func (c *Crawler) guestJob(at, owner *host, target string) (*job, error) {
	g := &job{host: at, birth: store.Birth{URL: target}, target: target}
	switch {
	case !at.resolved:
		g.task = taskAddress
		return g, nil
	case !c.robotsFresh(at) || at.probed():
		return c.prepareRobots(g)
	}
	return c.sitemapJob(g, at, owner), nil
}

// wait counts how often a host looked for the other one where its next sitemap
// lies. After some time another sitemap is the next, and when none can be had, the
// host's pages go on.
func (c *Crawler) wait(owner *host) {
	pending := owner.Sitemaps.Pending
	if owner.waits++; owner.waits <= maxGuestWaits || owner.passed+1 >= len(pending) {
		return
	}
	owner.passed++
	owner.waits = 0
	owner.Sitemaps.Pending = append(pending[1:], pending[0])
}
