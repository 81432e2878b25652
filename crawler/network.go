package crawler

import (
	"strings"
	"time"

	"fossick/crawler/health"
	"fossick/page"
)

// observe shows the end of an exchange to those who judge hosts and our network.
func (c *Crawler) observe(o *outcome) {
	probe := o.task == taskProbe
	if o.resp == nil || o.aborted {
		return
	}
	if o.excused = !probe && c.network.Excuses(o.resp); o.excused {
		return
	}
	c.network.Observe(&o.asked().health, health.Exchange{
		Response: o.resp, Robots: robotsURL(o.target), Probe: probe,
		Miss: health.Miss{
			Host: o.asked().Name, URL: o.target, ID: o.id, Queued: o.queued,
			Page: o.task == taskPage, First: o.task == taskAddress || o.task == taskRobots,
		},
	})
}

// hold says whether no URL may be leased now because of our network; wake is
// as of leaseAll.
func (c *Crawler) hold() (wake time.Time, hold bool, err error) {
	switch step, until := c.network.Step(c.busy == 0 && c.frontier.Len() == 0); step {
	case health.Go:
		return wake, false, nil
	case health.Hold:
		return wake, true, nil
	case health.Until:
		return until, true, nil
	}
	j, err := c.probe(c.opt.Now())
	switch {
	case err != nil:
		return wake, true, err
	case j != nil:
		c.start(j)
		return wake, true, nil
	case c.network.Down():
		return c.opt.Now().Add(time.Second), true, nil
	}
	return wake, false, nil // all who could tell rest: until one may be asked the crawl goes on
}

// probe makes the job that asks a host that answered before for its robots.txt;
// nil when all of them rest.
func (c *Crawler) probe(now time.Time) (*job, error) {
	for _, k := range c.network.Contacts() {
		h, err := c.hosts.get(k.Host, k.Robots)
		if err != nil {
			return nil, err
		}
		if c.frontier.Claim(h.party, now) {
			c.network.Probes(k)
			return &job{task: taskProbe, host: h, target: k.Robots}, nil
		}
	}
	return nil, nil
}

// applyProbe takes in the answer to a probe.
func (c *Crawler) applyProbe(o *outcome) {
	c.totals.asked(o.host)
	o.note = "to see whether we have a network"
	if o.aborted {
		c.network.Probed(nil)
		return
	}
	c.network.Probed(o.resp)
}

// recall makes a contact of a host that answered in an earlier session.
func (c *Crawler) recall(h *host) {
	if !c.network.Recalls(&h.health) {
		return
	}
	scheme := "http://"
	if strings.HasSuffix(h.Name, ":443") {
		scheme = "https://"
	}
	if u, err := page.Normalize(scheme + h.Name + "/robots.txt"); err == nil {
		c.network.Recall(&h.health, u)
	}
}
