package main

import (
	"fmt"
	"io"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"fossick/crawler"
	"fossick/fetch"
	"fossick/internal/printable"
	"fossick/store"
)

// maxWait turns --max-wait into the crawler's option: not given is its default,
// 0 no wait at all.
func maxWait(d *time.Duration) time.Duration {
	switch {
	case d == nil:
		return 0
	case *d == 0:
		return -1
	}
	return *d
}

// until returns a time for JSON: null when there is none.
func until(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Truncate(time.Second)
	return &t
}

// printWaiting says why a crawl ended with URLs in its queue that nothing but
// time kept from being fetched.
func (r *crawlResult) printWaiting(w io.Writer) {
	if r.WaitingUntil != nil {
		printable.Fprintf(w, "all that waits rests, the first host until %s; a later --resume goes on, or --max-wait with a longer time\n",
			r.WaitingUntil.Format(time.DateTime+" MST"))
	}
}

// printOutages says how long a crawl had no network.
func (r *crawlResult) printOutages(w io.Writer) {
	if r.Outages > 0 {
		printable.Fprintf(w, "own network (or proxy) down for %s, outages: %d; nothing was counted against URLs or hosts\n",
			time.Duration(r.OutageSeconds*float64(time.Second)).Round(time.Second), r.Outages)
	}
}

// networkStatus is what /status says of the crawl's network.
type networkStatus struct {
	DownSince *time.Time `json:"down_since"` // null while it works
	Outages   int        `json:"outages"`
	Seconds   float64    `json:"outage_seconds"`
}

func networkStatusOf(p crawler.Progress) networkStatus {
	return networkStatus{until(p.DownSince), p.Outages, p.OutageTime.Seconds()}
}

// networkMetrics shows the same to Prometheus.
type networkMetrics struct{ m *monitor }

var (
	metricDown    = prometheus.NewDesc("fossick_network_down", "1 while the crawl's own network seems down.", nil, nil)
	metricOutages = prometheus.NewDesc("fossick_network_outages_total", "Outages of the crawl's own network in this session.", nil, nil)
	metricOutage  = prometheus.NewDesc("fossick_network_outage_seconds_total", "Time without a network in this session.", nil, nil)
)

// Describe makes networkMetrics a prometheus.Collector.
func (networkMetrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- metricDown
	ch <- metricOutages
	ch <- metricOutage
}

// Collect makes networkMetrics a prometheus.Collector.
func (n networkMetrics) Collect(ch chan<- prometheus.Metric) {
	p, down := n.m.progress(), 0.0
	if !p.DownSince.IsZero() {
		down = 1
	}
	ch <- prometheus.MustNewConstMetric(metricDown, prometheus.GaugeValue, down)
	ch <- prometheus.MustNewConstMetric(metricOutages, prometheus.CounterValue, float64(p.Outages))
	ch <- prometheus.MustNewConstMetric(metricOutage, prometheus.CounterValue, p.OutageTime.Seconds())
}

// tellNext says when a URL may be visited next: when its host has rested while it
// waits, else by the estimate that the journal keeps; and when the host is silent.
func (r *whyResult) tellNext(l *store.Life, h *store.Host, now time.Time) {
	if l.Fate != nil && l.Fate.Next != 0 {
		r.Times.Next = until(time.UnixMilli(l.Fate.Next))
	}
	if l.Queued == nil {
		return
	}
	switch n := l.Queued.Excused; {
	case n > 0 && n == len(l.Visits) && l.Visits[n-1].State == string(fetch.StateOK):
		r.Reasons = append(r.Reasons, "its page was lost and taken out by fossick repair; it is fetched anew, and its visits so far do not count")
	case n > 0:
		r.Reasons = append(r.Reasons, fmt.Sprintf("%d of its visits do not count: the host, or our network, gave no answer to anybody then", n))
	}
	if h.Silent > 0 {
		r.Reasons = append(r.Reasons, fmt.Sprintf("its host gave no answer to the last %d requests, since %s",
			h.Silent, at(h.SilentSince).Format(time.DateTime)))
	}
	if rest := at(h.Next); rest.After(now) {
		r.Times.Next = until(rest)
		r.tellRest(h, rest)
	}
}

// whyRest is a rest that is longer than the crawl's delay makes it.
type whyRest struct {
	Host    string    `json:"host"` // that asked for it, and that alone rests
	For     string    `json:"for"`  // Retry-After, Crawl-delay or back-off
	Seconds float64   `json:"seconds"`
	Until   time.Time `json:"until"`
}

// tellRest says until when the host rests, who asked for that, and for how long.
func (r *whyResult) tellRest(h *store.Host, until time.Time) {
	reason, length := "its host rests until "+until.Format(time.DateTime), time.Duration(h.RestMillis)*time.Millisecond
	switch h.RestFor {
	case store.RestForRetryAfter:
		reason += fmt.Sprintf(": %s asked for %s in an answer (Retry-After)", h.Name, atLength(length))
	case store.RestForCrawlDelay:
		reason += fmt.Sprintf(": %s asks for %s after each request in its robots.txt (Crawl-delay)", h.Name, atLength(length))
	case store.RestForFailures:
		reason += fmt.Sprintf(": the last requests to %s failed, %d in a row (back-off of %s)", h.Name, h.Failures, atLength(length))
	}
	r.Reasons = append(r.Reasons, reason)
	if h.RestFor != "" {
		r.Rest = &whyRest{h.Name, h.RestFor, length.Seconds(), until}
	}
}

// atLength writes a time that may be a year.
func atLength(d time.Duration) string {
	if d >= 48*time.Hour {
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	}
	return briefly(d)
}
