package crawler

import (
	"time"

	"fossick/crawler/fetch"
	"fossick/crawler/hosts"
	"fossick/crawler/journal"
	"fossick/internal/page"
	"fossick/store"
)

// sitemapDue reports whether a sitemap of the host comes before its next page. The host's
// robots.txt, which names the sitemaps, must be known.
func (c *Crawler) sitemapDue(j *job) bool {
	h := j.Host
	if !c.rules.On {
		return false
	}
	if h.Maps.Record == nil {
		c.rules.Named(&h.Maps, h.Rules.Sitemaps(), j.Discovery.URL, j.Queued.Score)
	}
	return h.Maps.Due()
}

// prepareSitemap makes the job of a sitemap, at a host that was leased for a page; the page's
// URL goes back to the queue. A foreign sitemap needs its own host to be free and rested, and
// obeys that host's robots.txt. Other hosts' sitemaps at this host go first. waits is false if
// no sitemap is due after all.
func (c *Crawler) prepareSitemap(j *job) (sitemap *job, waits bool, err error) {
	h := j.Host
	for name, ok := h.Maps.NextOwner(); ok; name, ok = h.Maps.NextOwner() {
		owner, err := c.hosts.Get(name, "http://"+name+"/")
		if err != nil {
			return nil, false, err
		}
		target, pending := owner.Maps.Next()
		if !pending || page.Host(target) != h.Name {
			continue // it had its turn already
		}
		if why := c.sitemapDenied(h, target); why != "" {
			c.dropSitemaps(owner, why)
			continue
		}
		c.requeue(j)
		return c.sitemapJob(&job{}, h, owner), true, nil
	}
	for c.sitemapDue(j) {
		target, _ := h.Maps.Next()
		at, err := c.hosts.Get(page.Host(target), target)
		if err != nil {
			return nil, false, err
		}
		switch why := c.sitemapDenied(at, target); {
		case why != "":
			c.dropSitemaps(h, why)
		case at == h:
			return c.sitemapJob(j, h, h), true, nil
		default:
			sitemap, err := c.prepareForeign(j, at, target)
			return sitemap, true, err
		}
	}
	return nil, false, nil
}

// sitemapDenied says why a sitemap cannot be fetched from a host, "" if it can or nobody knows
// yet.
func (c *Crawler) sitemapDenied(at *hosts.Host, target string) string {
	switch {
	case !c.owns(target):
		return Reason
	case at.Health.Verdict != "":
		return at.Health.Why
	case at.Resolved && c.hosts.RobotsFresh(at) && !at.Rules.Allowed(c.opt.Agent, page.Path(target)):
		return denial(at.Rules)
	}
	return ""
}

func (c *Crawler) dropSitemaps(owner *hosts.Host, why string) {
	c.opt.Log.Info("sitemap left out", "url", owner.Maps.Record.Pending[0].URL, "host", owner.Name, "reason", why)
	owner.Maps.Record.Drop()
}

// sitemapJob fills in j for the next sitemap of owner, at a host that is leased.
func (c *Crawler) sitemapJob(j *job, at, owner *hosts.Host) *job {
	j.task, j.Host = taskSitemap, at
	j.Target, _ = owner.Maps.Next()
	j.Sitemap = &sitemapTask{Owner: owner, Room: c.rules.Begin(&owner.Maps), Parent: owner.Maps.Record.Score}
	return j
}

// prepareForeign makes the job for a foreign sitemap, or the one that must come first for its
// host. If that host is busy or rests, the URL waits, and the host's next lease goes to the
// sitemap.
func (c *Crawler) prepareForeign(j *job, at *hosts.Host, target string) (*job, error) {
	now, owner := c.opt.Now(), j.Host
	free := c.frontier.Take(at.Party, owner.Party, now)
	c.requeue(j)
	ready := at.Resolved && c.hosts.RobotsFresh(at) && !at.Health.Probed()
	// Within one party the job takes over the lease; otherwise Take has made another.
	if !free || !c.frontier.OneParty(at.Party, owner.Party) {
		wait := now.Add(minHopWait)
		if free && ready {
			wait = time.Time{}
		}
		c.hosts.HoldBack(owner, wait)
	}
	if !free {
		owner.Maps.Wait()
		at.Maps.Await(owner.Name)
		return nil, nil
	}
	return c.foreignJob(at, owner, target)
}

// foreignJob makes the next job for a sitemap whose host is leased for it: the fetch itself,
// or what must come first.
func (c *Crawler) foreignJob(at, owner *hosts.Host, target string) (*job, error) {
	f := &job{Host: at, leased: leased{Discovery: store.Discovery{URL: target}}, Target: target}
	switch {
	case !at.Resolved:
		f.task = taskAddress
		return f, nil
	case !c.hosts.RobotsFresh(at) || at.Health.Probed():
		return c.prepareRobots(f)
	}
	return c.sitemapJob(f, at, owner), nil
}

// enterSitemap journals a part of a sitemap. After a kill between two parts, the sitemap is
// fetched again, and known URLs are passed over.
func (c *Crawler) enterSitemap(b journal.Batch, o *jobResult) error {
	if o.Sitemap.Exchange == 0 {
		if err := putExchange(c.hosts, b, o, c.hosts.RestOf(o.Host, o.Resp)); err != nil {
			return err
		}
	}
	discovery := store.Discovery{Via: store.ViaSitemap, Depth: 1, Exchange: o.Sitemap.Exchange, AtHost: o.Host.Name}
	before := c.totals.URLs
	for _, f := range o.Listed.Links {
		discovery.Modified = f.Modified
		if _, err := c.discover(b, discovery, f, c.listedLink(f)); err != nil {
			return err
		}
	}
	if err := c.sendLinks(b, Parcel{Via: store.ViaAgent, Depth: discovery.Depth}); err != nil {
		return err
	}
	o.Sitemap.Owner.Maps.Entered(int(c.totals.URLs - before))
	if err := c.hosts.Put(b, o.Sitemap.Owner); err != nil || o.Sitemap.Owner == o.Host {
		return err
	}
	return c.hosts.Put(b, o.Host)
}

// applySitemap takes in how the exchange for a sitemap ended. The leased URL goes back to the
// queue.
func (c *Crawler) applySitemap(b journal.Batch, o *jobResult) error {
	h, r := o.Host, o.Resp
	c.totals.asked(h.Host)
	ended := hosts.SitemapEnd{State: r.State, Passing: hosts.Transient(r), Maps: o.Listed.Maps}
	if backsOff(r) {
		h.Failures++
	} else {
		h.Failures = 0
	}
	if r.State == fetch.StateRedirect {
		if target, err := redirectTarget(c.opt.URLs, r); err == nil {
			ended.Target = target
		}
	}
	c.rules.End(&o.Sitemap.Owner.Maps, &h.Maps, ended)
	c.requeue(o.job)
	if o.Sitemap.Owner == h {
		return nil // settle writes it
	}
	return c.hosts.Put(b, o.Sitemap.Owner)
}

// left is a host with unread sitemaps and no waiting URL.
type left struct {
	name  string
	waits int // failed attempts in a row to lease its host
}

// maxLeftWaits bounds these attempts to about two minutes.
const maxLeftWaits = 480

// maxLeftAtOnce bounds how many such hosts are tried in one turn.
const maxLeftAtOnce = 512

// leaseLeft starts jobs for pending sitemaps at the end of a crawl, when no URL waits any more
// whose host would get its turn. The zero time says that nothing is left to do.
func (c *Crawler) leaseLeft() (wake time.Time, err error) {
	if !c.rules.On || len(c.jobs) > 0 && c.left == nil {
		return time.Time{}, nil
	}
	if c.left == nil {
		if err := c.findLeft(); err != nil {
			return time.Time{}, err
		}
	}
	kept := c.left[:0]
	for i, l := range c.left {
		if i >= maxLeftAtOnce {
			kept = append(kept, c.left[i:]...)
			break
		}
		more, err := c.leaseOneLeft(&l)
		if err != nil {
			return time.Time{}, err
		}
		if more {
			kept = append(kept, l)
		}
	}
	if c.left = kept; len(kept) == 0 {
		return time.Time{}, nil
	}
	return c.opt.Now().Add(minHopWait), nil
}

// findLeft lists the hosts with pending sitemaps.
func (c *Crawler) findLeft() error {
	c.left = []left{}
	for h, err := range c.journal.Hosts() {
		if err != nil {
			return err
		}
		if h.Sitemaps != nil && len(h.Sitemaps.Pending) > 0 {
			c.left = append(c.left, left{name: h.Name})
		}
	}
	return nil
}

// leaseOneLeft starts the next job for a host's sitemaps if possible; false if the host is
// done.
func (c *Crawler) leaseOneLeft(l *left) (more bool, err error) {
	owner, err := c.hosts.Get(l.name, "http://"+l.name+"/")
	if err != nil {
		return false, err
	}
	for owner.Maps.Pending() {
		target, ok := owner.Maps.Next()
		if !ok || !c.workerFree() {
			return true, nil
		}
		at, err := c.hosts.Get(page.Host(target), target)
		if err != nil {
			return false, err
		}
		if why := c.sitemapDenied(at, target); why != "" {
			c.dropSitemaps(owner, why)
			continue
		}
		if !c.frontier.Take(at.Party, c.frontier.Host(""), c.opt.Now()) {
			l.waits++
			return l.waits <= maxLeftWaits, nil
		}
		l.waits = 0
		j, err := c.foreignJob(at, owner, target)
		c.start(j)
		return true, err
	}
	return false, nil
}
