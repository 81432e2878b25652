package crawler

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"fossick/fetch"
	"fossick/frontier"
	"fossick/page"
	"fossick/store"
)

// host is what the owner knows of one host.
type host struct {
	*store.Host
	site     string
	resolved bool          // its address is known, or a proxy knows it
	robots   *fetch.Robots // nil until fetched in this session or read from the store
	hop      string        // robots.txt was redirected to this URL
	hops     int
	tries    int    // of robots.txt, failed
	verdict  string // state that ends every URL of it, "" while it may answer
	why      string // and the reason
}

// host returns the record of a host, read from the store when it is new here.
func (c *Crawler) host(name, anyURL string) (*host, error) {
	if h, ok := c.hosts[name]; ok {
		return h, nil
	}
	record, err := c.store.Host(name)
	if err != nil {
		return nil, err
	}
	h := &host{Host: record, site: page.Site(anyURL)}
	if record.RobotsAt != 0 {
		h.robots = &fetch.Robots{}
		if err := h.robots.UnmarshalText(record.Robots); err != nil {
			return nil, fmt.Errorf("host %s: stored robots.txt: %w", name, err)
		}
	}
	c.hosts[name] = h
	return h, nil
}

// robotsFresh says whether the rules of h are known and less than a day old.
func (c *Crawler) robotsFresh(h *host) bool {
	return h.robots != nil && c.opt.Now().Sub(time.UnixMilli(h.RobotsAt)) < fetch.RobotsTTL
}

// settleAddress takes note of a host's address and makes it one party with
// those at the same address.
func (c *Crawler) settleAddress(h *host, addr netip.Addr) {
	h.resolved = true
	if !addr.IsValid() {
		return // a proxy looks it up
	}
	h.Address = addr.String()
	c.frontier.Join(h.Name, h.Address)
}

// restAfter returns how long a host rests after an exchange that took so long:
// the longest of the delay asked for, its robots' Crawl-delay, its Retry-After
// and the back-off after failures.
func (c *Crawler) restAfter(h *host, took, retryAfter time.Duration) time.Duration {
	rest := c.opt.Delay.Rest
	if !c.opt.Delay.Fixed {
		rest = max(minAutoRest, autoRestFold*took)
	}
	if h.robots != nil {
		if delay, ok := h.robots.CrawlDelay(c.opt.Agent); ok {
			rest = max(rest, delay)
		}
	}
	return max(rest, retryAfter, backOff(h.Failures))
}

// release lets h rest after an exchange and remembers until when.
func (c *Crawler) release(h *host, rest time.Duration) {
	until := time.Time{}
	if rest > 0 {
		until = c.opt.Now().Add(rest)
		h.Next = until.UnixMilli()
	}
	c.frontier.Done(h.Name, until)
}

// restore puts back the totals, the queue and the rests that the store tells of.
func (c *Crawler) restore() error {
	var err error
	if c.counts, err = c.store.Counts(); err != nil {
		return err
	}
	c.pagesBefore, c.elapsedPast = c.counts.Pages, c.counts.Elapsed
	for record, err := range c.store.Hosts() {
		if err != nil {
			return err
		}
		if err := c.restoreHost(record); err != nil {
			return err
		}
	}
	for w, err := range c.store.Waiters() {
		if err != nil {
			return err
		}
		if w.Visits > 0 {
			c.retried[w.ID] = w.Visits
		}
		c.frontier.Push(frontier.Item{ID: frontier.ID(w.ID), Host: page.Host(w.URL), Priority: w.Queued.Priority})
	}
	return nil
}

// restoreHost makes a host rest as if an exchange had just ended: whether one
// was in flight when the last session was killed, nobody knows.
func (c *Crawler) restoreHost(record *store.Host) error {
	h, err := c.host(record.Name, "http://"+record.Name+"/")
	if err != nil {
		return err
	}
	if record.Pages > 0 {
		c.gaveHosts++
		c.sites[h.site] += record.Pages
	}
	if record.Address != "" {
		c.frontier.Join(h.Name, record.Address)
	}
	until := c.opt.Now().Add(c.restAfter(h, 0, 0))
	if next := time.UnixMilli(record.Next); next.After(until) {
		until = next
	}
	if until.After(c.opt.Now()) {
		c.frontier.Rest(h.Name, until)
	}
	return nil
}

// plant queues the seeds that the store does not know yet.
func (c *Crawler) plant(seeds []string) error {
	b := c.store.Batch()
	for _, seed := range seeds {
		f := found{url: seed, hash: store.HashURL(seed), score: 1, skip: c.opt.Scope.skipURL(seed)}
		if f.skip != "" {
			b.Cancel()
			return fmt.Errorf("start page %s: %s", seed, f.skip)
		}
		if _, err := c.discover(b, store.Birth{Via: store.ViaSeed}, f, frontier.Link{Score: 1}); err != nil {
			b.Cancel()
			return err
		}
	}
	if err := b.PutCounts(&c.counts); err != nil {
		b.Cancel()
		return err
	}
	if err := b.Commit(); err != nil {
		return err
	}
	if c.frontier.Len() == 0 && c.counts.URLs == 0 {
		return errors.New("nothing to crawl: name start pages with --seed or --seeds")
	}
	return nil
}
