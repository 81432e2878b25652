package crawler

import (
	"net/netip"
	"time"

	"fossick/fetch"
	"fossick/frontier"
	"fossick/store"
)

// host is what the owner knows of one host.
type host struct {
	*store.Host
	party    frontier.Host
	known    bool // to the store
	jobs     int  // in flight that use it
	site     string
	resolved bool          // its address is known, or a proxy knows it
	robots   *fetch.Robots // nil until fetched in this session or read from the store
	hop      string        // robots.txt was redirected to this URL
	hops     int
	tries    int                 // of robots.txt, failed
	patterns map[string]*pattern // what came back, by patternOf
	answers  int                 // pages that were compared with those of its site's other hosts
	verdict  string              // state that ends every URL of it, "" while it may answer
	why      string              // and the reason

	sitemapTurn bool     // a page was fetched since the last sitemap
	sitemapBusy bool     // one of its sitemaps is in flight
	guests      []string // hosts that have sitemaps here
	waits       int      // for another host, where the next sitemap lies
	passed      int      // sitemaps that were put off after such waits

	misses   []miss    // failures of pages since it last answered
	probedAt time.Time // when the last probe failed
}

// settleAddress takes note of a host's address and makes it one party with
// those at the same address.
func (c *Crawler) settleAddress(h *host, addr netip.Addr) {
	h.resolved = true
	c.resolved[h.party] = struct{}{}
	if !addr.IsValid() {
		return // a proxy looks it up
	}
	h.Address = addr.String()
	c.frontier.Join(h.party, h.Address)
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

// release lets h rest after an exchange and remembers until when. The pause
// between two probes is no rest that is due to the host: it ends with the session.
func (c *Crawler) release(h *host, rest time.Duration) {
	now, until := c.opt.Now(), time.Time{}
	if rest > 0 {
		until = now.Add(rest)
		h.Next = until.UnixMilli()
	}
	if pause := h.pause(); pause > rest {
		until = now.Add(pause)
	}
	c.frontier.Done(h.party, until)
}
