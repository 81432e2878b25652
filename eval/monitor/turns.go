package monitor

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"fossick/crawler"
)

// Owner is what /status says of the crawl's owner, the one goroutine that
// leases and journals: how long it was busy at a time.
type Owner struct {
	Turns     uint64             `json:"turns"`
	Over100ms uint64             `json:"over_100ms"`
	Longest   float64            `json:"longest_seconds"`
	Parts     map[string]float64 `json:"longest_part_seconds"` // by part of a turn
}

func ownerOf(t crawler.Stats) Owner {
	s := Owner{Longest: t.Longest.Seconds(), Parts: map[string]float64{}}
	for i, n := range t.Within {
		s.Turns += n
		if i >= len(crawler.Bounds) || crawler.Bounds[i] > 100*time.Millisecond {
			s.Over100ms += n
		}
	}
	for p := range crawler.Parts {
		s.Parts[p.String()] = t.Parts[p].Seconds()
	}
	return s
}

var (
	metricTurns = prometheus.NewDesc("fossick_owner_turn_seconds",
		"Longest time that the goroutine which hands out URLs and journals for all workers was busy without a pause.", nil, nil)
	metricTurnTotal = prometheus.NewDesc("fossick_owner_seconds_total",
		"Time that this goroutine spent on each part of its work.", []string{"part"}, nil)
	metricTurnPart = prometheus.NewDesc("fossick_owner_turn_longest_part_seconds",
		"Longest time that one turn of this goroutine spent on each part of its work.", []string{"part"}, nil)
)

// turnMetrics gives the owner's turns to Prometheus.
type turnMetrics struct{ *Server }

// Describe makes turnMetrics a prometheus.Collector.
func (m turnMetrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- metricTurns
	ch <- metricTurnTotal
	ch <- metricTurnPart
}

// Collect makes turnMetrics a prometheus.Collector.
func (m turnMetrics) Collect(ch chan<- prometheus.Metric) {
	t := m.progress().Turns
	count, upTo := uint64(0), map[float64]uint64{}
	for i, n := range t.Within {
		count += n
		if i < len(crawler.Bounds) {
			upTo[crawler.Bounds[i].Seconds()] = count
		}
	}
	ch <- prometheus.MustNewConstHistogram(metricTurns, count, t.Total.Seconds(), upTo)
	for p := range crawler.Parts {
		ch <- prometheus.MustNewConstMetric(metricTurnTotal, prometheus.CounterValue, t.Totals[p].Seconds(), p.String())
		ch <- prometheus.MustNewConstMetric(metricTurnPart, prometheus.GaugeValue, t.Parts[p].Seconds(), p.String())
	}
}
