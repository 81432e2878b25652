package crawler

import (
	"time"

	"fossick/crawler/health"
	"fossick/crawler/journal"
	"fossick/crawler/sitemaps"
	"fossick/fetch"
	"fossick/page"
	"fossick/store"
)

// SitemapScorer is a Scorer that has an opinion of a URL that no fetched page
// links to. Without it such a URL is worth what the URL is for whose sake the
// host was asked.
type SitemapScorer interface {
	Scorer
	// ScoreUnlinked returns the score of a URL, in [0,1]. parent is the score of
	// the URL for whose sake the host was asked.
	ScoreUnlinked(url string, parent float64) float64
}

// sitemapDue says whether a sitemap of the host comes before the next of its pages. It
// may be asked once the host's robots.txt is known, which names them.
func (c *Crawler) sitemapDue(j *job) bool {
	h := j.host
	if !c.sitemaps.On {
		return false
	}
	if h.sitemaps.Record == nil {
		c.sitemaps.Named(&h.sitemaps, h.robots.Sitemaps(), j.birth.URL, j.queued.Score)
	}
	return h.sitemaps.Due()
}

// prepareSitemap makes a sitemap's job, of a host that was leased for a page; the
// URL goes back to its place. For a foreign sitemap the host where it lies must be free
// and rested, and its robots.txt holds. Others' sitemaps at this host come first.
func (c *Crawler) prepareSitemap(j *job) (*job, error) {
	h := j.host
	for name, ok := h.sitemaps.NextOwner(); ok; name, ok = h.sitemaps.NextOwner() {
		owner, err := c.hosts.get(name, "http://"+name+"/")
		if err != nil {
			return nil, err
		}
		target, waits := owner.sitemaps.Next()
		if !waits || page.Host(target) != h.Name {
			continue // it had its turn already
		}
		if why := c.sitemapDenied(h, target); why != "" {
			c.dropSitemap(owner, why)
			continue
		}
		c.requeue(j)
		return c.sitemapJob(&job{}, h, owner), nil
	}
	for c.sitemapDue(j) {
		target, _ := h.sitemaps.Next()
		at, err := c.hosts.get(page.Host(target), target)
		if err != nil {
			return nil, err
		}
		switch why := c.sitemapDenied(at, target); {
		case why != "":
			c.dropSitemap(h, why)
		case at == h:
			return c.sitemapJob(j, h, h), nil
		default:
			return c.prepareForeign(j, at, target)
		}
	}
	return c.preparePage(j)
}

// sitemapDenied says why a sitemap cannot be had from the host where it lies, ""
// when it can, or nobody knows yet.
func (c *Crawler) sitemapDenied(at *host, target string) string {
	switch {
	case at.health.Verdict != "":
		return at.health.Why
	case at.resolved && c.hosts.robotsFresh(at) && !at.robots.Allowed(c.opt.Agent, pathOf(target)):
		return denial(at.robots)
	}
	return ""
}

func (c *Crawler) dropSitemap(owner *host, why string) {
	c.opt.Log.Info("sitemap left out", "url", owner.sitemaps.Record.Pending[0].URL, "host", owner.Name, "reason", why)
	owner.sitemaps.Record.Drop()
}

// sitemapJob makes the job for the next sitemap of owner, which lies at a host that is
// leased; j has what else the job has to know.
func (c *Crawler) sitemapJob(j *job, at, owner *host) *job {
	j.task, j.host, j.owner = taskSitemap, at, owner
	j.target, _ = owner.sitemaps.Next()
	j.room = c.sitemaps.Begin(&owner.sitemaps)
	j.parent = owner.sitemaps.Record.Score
	return j
}

// prepareForeign makes the job for a foreign sitemap or, when that one is
// not ready, the job that looks its address up or fetches its robots.txt. While it
// is in use or rests the URL waits for some time, and the host's next lease, which
// would come before any that wait, goes to the sitemap.
func (c *Crawler) prepareForeign(j *job, at *host, target string) (*job, error) {
	now, owner := c.opt.Now(), j.host
	free := c.frontier.Take(at.party, owner.party, now)
	c.requeue(j)
	ready := at.resolved && c.hosts.robotsFresh(at) && !at.health.Probed()
	// Of one party, the lease goes over to the job; else Take has made another.
	if !free || !c.frontier.OneParty(at.party, owner.party) {
		wait := now.Add(minHopWait)
		if free && ready {
			wait = time.Time{}
		}
		c.hosts.holdBack(owner, wait)
	}
	if !free {
		owner.sitemaps.Wait()
		at.sitemaps.Await(owner.Name)
		return nil, nil
	}
	return c.foreignJob(at, owner, target)
}

// foreignJob makes what comes next for a sitemap whose host is leased for it: the
// exchange itself, or what must come before.
func (c *Crawler) foreignJob(at, owner *host, target string) (*job, error) {
	f := &job{host: at, birth: store.Birth{URL: target}, target: target}
	switch {
	case !at.resolved:
		f.task = taskAddress
		return f, nil
	case !c.hosts.robotsFresh(at) || at.health.Probed():
		return c.prepareRobots(f)
	}
	return c.sitemapJob(f, at, owner), nil
}

// enterSitemap journals a part of what a sitemap names. A kill between two parts
// leaves the sitemap pending: it is fetched again, and what is known by then is
// passed over.
func (c *Crawler) enterSitemap(b journal.Batch, o *outcome) error {
	if o.exchange == 0 {
		if err := c.putExchange(b, o, c.hosts.restOf(o.host, o.resp)); err != nil {
			return err
		}
	}
	birth := store.Birth{Via: store.ViaSitemap, Depth: 1, Exchange: o.exchange, AtHost: o.host.Name}
	before := c.totals.URLs
	for _, f := range o.links {
		birth.Modified = f.modified
		if _, err := c.discover(b, birth, f, c.linkOf(f)); err != nil {
			return err
		}
	}
	o.owner.sitemaps.Entered(int(c.totals.URLs - before))
	if err := c.hosts.put(b, o.owner); err != nil || o.owner == o.host {
		return err
	}
	return c.hosts.put(b, o.host)
}

// applySitemap takes in how the exchange for a sitemap ended. The URL for which
// the host was leased goes back to its place.
func (c *Crawler) applySitemap(b journal.Batch, o *outcome) error {
	h, r := o.host, o.resp
	c.totals.asked(h)
	ended := sitemaps.Ended{State: r.State, Passing: health.Transient(r), Maps: o.maps}
	if ended.Passing {
		h.Failures++
	} else {
		h.Failures = 0
	}
	if r.State == fetch.StateRedirect {
		if target, err := c.targetOf(r); err == nil {
			ended.Target = target
		}
	}
	c.sitemaps.End(&o.owner.sitemaps, &h.sitemaps, ended)
	c.requeue(o.job)
	if o.owner == h {
		return nil // apply writes it
	}
	return c.hosts.put(b, o.owner)
}
