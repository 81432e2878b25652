package crawler

import (
	"time"

	"fossick/crawler/fetch"
	"fossick/crawler/hosts"
	"fossick/crawler/journal"
	"fossick/internal/page"
	"fossick/store"
)

// sitemapDue says whether a sitemap of the host comes before the next of its pages. It
// may be asked once the host's robots.txt is known, which names them.
func (c *Crawler) sitemapDue(j *workJob) bool {
	h := j.Host
	if !c.rules.On {
		return false
	}
	if h.Maps.Record == nil {
		c.rules.Named(&h.Maps, h.Rules.Sitemaps(), j.Birth.URL, j.Queued.Score)
	}
	return h.Maps.Due()
}

// prepareSitemap makes a sitemap's job, of a host that was leased for a page; the
// URL goes back to its place. For a foreign sitemap the host where it lies must be free
// and rested, and its robots.txt holds. Others' sitemaps at this host come first. Where no
// sitemap is due after all, waits is false.
func (c *Crawler) prepareSitemap(j *workJob) (sitemap *workJob, waits bool, err error) {
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
		c.queue.Requeue(j)
		return c.sitemapJob(&workJob{}, h, owner), true, nil
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

// sitemapDenied says why a sitemap cannot be had from the host where it lies, ""
// when it can, or nobody knows yet.
func (c *Crawler) sitemapDenied(at *hosts.Host, target string) string {
	switch {
	case !c.queue.heldPart(target):
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

// sitemapJob makes the job for the next sitemap of owner, which lies at a host that is
// leased; j has what else the job has to know.
func (c *Crawler) sitemapJob(j *workJob, at, owner *hosts.Host) *workJob {
	j.task, j.Host = workSitemap, at
	j.Target, _ = owner.Maps.Next()
	j.Sitemap = &sitemapTask{Owner: owner, Room: c.rules.Begin(&owner.Maps), Parent: owner.Maps.Record.Score}
	return j
}

// prepareForeign makes the job for a foreign sitemap or, when that one is
// not ready, the job that looks its address up or fetches its robots.txt. While it
// is in use or rests the URL waits for some time, and the host's next lease, which
// would come before any that wait, goes to the sitemap.
func (c *Crawler) prepareForeign(j *workJob, at *hosts.Host, target string) (*workJob, error) {
	now, owner := c.opt.Now(), j.Host
	free := c.frontier.Take(at.Party, owner.Party, now)
	c.queue.Requeue(j)
	ready := at.Resolved && c.hosts.RobotsFresh(at) && !at.Health.Probed()
	// Of one party, the lease goes over to the job; else Take has made another.
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

// foreignJob makes what comes next for a sitemap whose host is leased for it: the
// exchange itself, or what must come before.
func (c *Crawler) foreignJob(at, owner *hosts.Host, target string) (*workJob, error) {
	f := &workJob{Host: at, leased: leased{Birth: store.Birth{URL: target}}, Target: target}
	switch {
	case !at.Resolved:
		f.task = address
		return f, nil
	case !c.hosts.RobotsFresh(at) || at.Health.Probed():
		return c.prepareRobots(f)
	}
	return c.sitemapJob(f, at, owner), nil
}

// enterSitemap journals a part of what a sitemap names. A kill between two parts
// leaves the sitemap pending: it is fetched again, and what is known by then is
// passed over.
func (c *Crawler) enterSitemap(b journal.Batch, o *outcome) error {
	if o.Sitemap.Exchange == 0 {
		if err := putExchange(c.hosts, b, o, c.hosts.RestOf(o.Host, o.Resp)); err != nil {
			return err
		}
	}
	birth := store.Birth{Via: store.ViaSitemap, Depth: 1, Exchange: o.Sitemap.Exchange, AtHost: o.Host.Name}
	before := c.totals.URLs()
	for _, f := range o.Listed.Links {
		birth.Modified = f.Modified
		if _, err := c.queue.Discover(b, birth, f, c.queue.linkOf(f)); err != nil {
			return err
		}
	}
	if err := c.queue.listSeeds(b, birth.Depth); err != nil {
		return err
	}
	o.Sitemap.Owner.Maps.Entered(int(c.totals.URLs() - before))
	if err := c.hosts.Put(b, o.Sitemap.Owner); err != nil || o.Sitemap.Owner == o.Host {
		return err
	}
	return c.hosts.Put(b, o.Host)
}

// applySitemap takes in how the exchange for a sitemap ended. The URL for which
// the host was leased goes back to its place.
func (c *Crawler) applySitemap(b journal.Batch, o *outcome) error {
	h, r := o.Host, o.Resp
	c.totals.asked(h.Host)
	ended := hosts.SitemapEnd{State: r.State, Passing: hosts.Transient(r), Maps: o.Listed.Maps}
	if ended.Passing {
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
	c.queue.Requeue(o.workJob)
	if o.Sitemap.Owner == h {
		return nil // apply writes it
	}
	return c.hosts.Put(b, o.Sitemap.Owner)
}

// left is a host that has sitemaps to be read and no URL that waits.
type left struct {
	name  string
	waits int // looks in a row at a host that was not free
}

// maxLeftWaits ends the waiting for one host, two minutes after the queue is empty.
const maxLeftWaits = 480

// maxLeftAtOnce is how many such hosts are looked at in one go.
const maxLeftAtOnce = 512

// leaseLeft hands out jobs for the sitemaps that are pending when no URL waits any
// more: their hosts' turn, which comes with their pages, will not come. It is where
// a crawl ends; the zero time says that nothing is left to do.
func (c *Crawler) leaseLeft() (wake time.Time, err error) {
	if !c.rules.On || c.flight.busy > 0 && c.left == nil {
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

// findLeft asks the store which hosts have sitemaps to be read.
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

// leaseOneLeft hands out the next job for a host's sitemaps if it can be had now;
// false when the host is done with.
func (c *Crawler) leaseOneLeft(l *left) (more bool, err error) {
	owner, err := c.hosts.Get(l.name, "http://"+l.name+"/")
	if err != nil {
		return false, err
	}
	for owner.Maps.Pending() {
		target, ok := owner.Maps.Next()
		if !ok || !c.flight.free() {
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
		c.flight.start(j)
		return true, err
	}
	return false, nil
}
