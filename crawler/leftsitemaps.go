package crawler

import (
	"time"

	"fossick/page"
)

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
	if !c.sitemaps.On || c.busy > 0 && c.left == nil {
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
	owner, err := c.hosts.get(l.name, "http://"+l.name+"/")
	if err != nil {
		return false, err
	}
	for owner.sitemaps.Pending() {
		target, ok := owner.sitemaps.Next()
		if !ok || !c.free() {
			return true, nil
		}
		at, err := c.hosts.get(page.Host(target), target)
		if err != nil {
			return false, err
		}
		if why := c.sitemapDenied(at, target); why != "" {
			c.dropSitemap(owner, why)
			continue
		}
		if !c.frontier.Take(at.party, c.frontier.Host(""), c.opt.Now()) {
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
