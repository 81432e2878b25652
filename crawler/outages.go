package crawler

import (
	"slices"
	"strings"
	"time"

	"fossick/crawler/hosts"
	"fossick/crawler/journal"
	"fossick/internal/page"
)

// observeNetwork shows an ended exchange to the judges of the host and of our network.
func (c *Crawler) observeNetwork(o *jobResult) {
	probe := o.task == taskProbe
	if o.Resp == nil || o.Aborted {
		return
	}
	if o.Excused = !probe && c.network.Excuses(o.Resp); o.Excused {
		return
	}
	c.network.Observe(&o.asked().Health, hosts.Exchange{
		Response: o.Resp, Robots: page.RobotsURL(o.Target), Probe: probe,
		Miss: hosts.Miss{
			Host: o.asked().Name, URL: o.Target, ID: o.ID, Queued: o.Queued,
			Page: o.task == taskPage, First: o.task == taskAddress || o.task == taskRobots,
		},
	})
}

// holdForNetwork reports whether no URL may be leased now because of our network; wake is that
// of leaseAll.
func (c *Crawler) holdForNetwork() (wake time.Time, hold bool, err error) {
	switch step, until := c.network.Step(len(c.jobs) == 0 && c.frontier.Len() == 0); step {
	case hosts.Go:
		return wake, false, nil
	case hosts.Hold:
		return wake, true, nil
	case hosts.Until:
		return until, true, nil
	}
	j, err := c.probeNetwork(c.opt.Now())
	switch {
	case err != nil:
		return wake, true, err
	case j != nil:
		c.start(j)
		return wake, true, nil
	case c.network.Down():
		return c.opt.Now().Add(time.Second), true, nil
	}
	return wake, false, nil // all hosts for a probe rest; until then the crawl goes on
}

// probeNetwork makes the job that asks an earlier contact for its robots.txt; nil if all of
// them rest.
func (c *Crawler) probeNetwork(now time.Time) (*job, error) {
	for _, k := range c.network.Contacts() {
		h, err := c.hosts.Get(k.Host, k.Robots)
		if err != nil {
			return nil, err
		}
		if c.frontier.Claim(h.Party, now) {
			c.network.Probes(k)
			return &job{task: taskProbe, Host: h, Target: k.Robots}, nil
		}
	}
	return nil, nil
}

// networkProbed takes in the answer to a probe.
func (c *Crawler) networkProbed(o *jobResult) {
	c.totals.asked(o.Host.Host)
	o.Note = "to test the network of this machine"
	c.paced = c.opt.Now() // an outage is no time of the crawl
	if o.Aborted {
		c.network.Probed(nil)
		return
	}
	c.network.Probed(o.Resp)
}

// recallHost makes a contact of a host that answered in an earlier session.
func (c *Crawler) recallHost(h *hosts.Host) {
	if !c.network.Recalls(&h.Health) {
		return
	}
	scheme := "http://"
	if strings.HasSuffix(h.Name, ":443") {
		scheme = "https://"
	}
	if robots, err := page.Normalize(scheme + h.Name + "/robots.txt"); err == nil {
		c.network.Recall(&h.Health, robots)
	}
}

// undoMisses undoes the failures that were counted while an outage of our network built up.
func (c *Crawler) undoMisses() error {
	misses := c.network.TakeBack()
	if len(misses) == 0 {
		return nil
	}
	if c.network.Down() {
		c.chances.TakeBack()
	}
	slices.Reverse(misses) // the last miss of a URL has its latest place
	return inBatches(c, sure(misses), c.finish, func(b journal.Batch, m hosts.Miss) error {
		if err := c.pardonHost(b, m); err != nil {
			return err
		}
		return c.pardon(b, []hosts.Miss{m})
	})
}

// jobEnded records a URL that ends by the verdict on its host, in case that verdict is undone.
func (c *Crawler) jobEnded(j *job) {
	c.network.Ended(hosts.Miss{Host: j.Host.Name, URL: j.Discovery.URL, ID: j.ID, Queued: j.Queued})
}

// pardonHost undoes a failure of a host.
func (c *Crawler) pardonHost(b journal.Batch, m hosts.Miss) error {
	if m.Ended {
		return nil
	}
	h, err := c.hosts.Get(m.Host, m.URL)
	if err != nil {
		return err
	}
	h.Health.Forgive(m)
	return c.hosts.Put(b, h)
}
