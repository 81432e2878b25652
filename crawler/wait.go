package crawler

import "time"

// defaultMaxWait is longer than the longest back-off, and than the longest pause
// between two probes of a host that gives no answer: it cuts off what hosts ask
// for by Retry-After and Crawl-delay, not what the crawler rests by itself.
const defaultMaxWait = 15 * time.Minute

// rested returns when the next host with a URL has rested; the zero time when there is
// none, or when nothing is in flight and that is longer off
// than a crawl should sit and wait. What waits stays queued, for a later session;
// see end.
func (c *Crawler) rested() time.Time {
	at, resting := c.frontier.Wake()
	if !resting {
		return time.Time{}
	}
	wait := at.Sub(c.opt.Now())
	if c.busy == 0 && wait > max(0, c.opt.MaxWait) {
		return time.Time{}
	}
	return at
}
