package monitor

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"fossick/crawler"
)

// Network is what /status says of the crawl's network.
type Network struct {
	DownSince *time.Time `json:"down_since"` // null while it works
	Outages   int        `json:"outages"`
	Seconds   float64    `json:"outage_seconds"`
}

func networkOf(p crawler.Progress) Network {
	return Network{utc(p.DownSince), p.Outages, p.OutageTime.Seconds()}
}

// networkMetrics shows the same to Prometheus.
type networkMetrics struct{ m *Server }

var (
	metricDown    = prometheus.NewDesc("fossick_network_down", "1 while this machine's network seems down.", nil, nil)
	metricOutages = prometheus.NewDesc("fossick_network_outages_total", "Outages of this machine's network in this session.", nil, nil)
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

// until returns a time for JSON: null when there is none.
func utc(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Truncate(time.Second)
	return &t
}
