package crawler

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"fossick/fetch"
	"fossick/store"
)

const (
	maxVisits   = 3 // exchanges for one URL
	backOffBase = time.Second
	backOffMax  = 10 * time.Minute
	// freeRetries and retryShare bound the requests for URLs that had failed, by
	// host: a host that fails all the time is not asked three times for each URL.
	freeRetries = 10
	retryShare  = 2 // at most one in so many requests
)

// backOff returns the least rest of a host after so many failures in a row: it
// doubles each time.
func backOff(failures int) time.Duration {
	if failures == 0 {
		return 0
	}
	if failures > 10 {
		return backOffMax
	}
	return min(backOffBase<<(failures-1), backOffMax)
}

// transient says whether another try may bring another answer.
func transient(r *fetch.Response) bool {
	switch r.State {
	case fetch.StateConnectError, fetch.StateConnectTimeout, fetch.StateHeaderError, fetch.StateHeaderTimeout,
		fetch.StateBodyError, fetch.StateBodyTimeout, fetch.StateNoIP:
		return true
	case fetch.StateCode:
		switch r.Code {
		case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
			http.StatusServiceUnavailable, http.StatusGatewayTimeout,
			520, 521, 522, 523, 524: // of a network in front of a server that it cannot reach, as Cloudflare says it
			return true
		}
	}
	return false
}

// mayRetry says whether a host's budget has a retry left.
func (h *host) mayRetry() bool { return h.Retries < freeRetries+h.Requests/retryShare }

// retry queues a URL again after a failure that may pass, or gives it up.
func (c *Crawler) retry(b *store.Batch, o *outcome, visits int) error {
	h, r := o.host, o.resp
	q, err := b.Queued(o.id) // what it is excused may have changed while it was in flight
	if err != nil {
		return fmt.Errorf("URL %d of the queue: %w", o.id, err)
	}
	q.Visits = visits
	fate := c.fateBy(o)
	last := visits-q.Excused >= maxVisits
	switch {
	case last && silent(r) && h.probed():
		// Is it the URL or the host? The next request, for robots.txt, tells; if
		// that is answered the URL has one more try.
	case last:
		return c.bury(b, o.id, q, fate)
	case !h.mayRetry():
		fate.Reason = strings.TrimPrefix(fmt.Sprintf("%s; not tried again, since %d of the %d requests to the host were retries",
			fate.Reason, h.Retries, h.Requests), "; ")
		return c.bury(b, o.id, q, fate)
	}
	c.requeue(o.job)
	return c.putQueued(b, o.id, q)
}

// forgive queues a URL again after a failure that counts for nobody.
func (c *Crawler) forgive(b *store.Batch, o *outcome, visits int) error {
	q, err := b.Queued(o.id)
	if err != nil {
		return fmt.Errorf("URL %d of the queue: %w", o.id, err)
	}
	q.Visits = visits
	q.Excused++
	c.requeue(o.job)
	return c.putQueued(b, o.id, q)
}

// forgiveHost does the same for an exchange that is for no page.
func (c *Crawler) forgiveHost(o *outcome) {
	if o.task != taskAddress {
		c.counts.Requests++
		o.asked().Requests++
	}
	if o.owner != nil {
		o.owner.sitemapBusy = false // it is still pending
	}
	c.requeue(o.job)
}
