package monitor

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Whole is how a crawl of several agents stands, of which this one is a part.
type Whole struct {
	Agents         int     `json:"agents"` // that live
	Dead           int     `json:"dead"`
	Partitions     int     `json:"partitions"` // that have an owner
	Fetched        int64   `json:"fetched"`
	Relevant       int64   `json:"relevant"`
	Waiting        int64   `json:"waiting"`
	PagesPerSecond float64 `json:"pages_per_second"`
}

// Of a Whole: how long it is good, as each look at it asks the exchange that all agents
// share, and how long it is waited for.
const (
	wholeHolds = 5 * time.Second
	wholeWait  = 2 * time.Second
)

// whole asks for a Whole, at times.
type whole struct {
	ask func(context.Context) (Whole, error) // nil: the crawl is of one agent

	mu    sync.Mutex // guards the rest, and is held while it asks
	asked time.Time
	last  *Whole // nil when nobody answered
}

// now returns how the whole stands; nil when there is none, or nobody answers.
func (w *whole) now(ctx context.Context) *Whole {
	if w.ask == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Since(w.asked) >= wholeHolds {
		ctx, cancel := context.WithTimeout(ctx, wholeWait)
		defer cancel()
		w.last = nil
		if stands, err := w.ask(ctx); err == nil {
			w.last = &stands
		}
		w.asked = time.Now()
	}
	return w.last
}

var (
	metricUp         = prometheus.NewDesc("fossick_cluster_up", "Whether the agents' exchange answers.", nil, nil)
	metricAgents     = prometheus.NewDesc("fossick_cluster_agents", "Agents of the whole crawl.", []string{"state"}, nil)
	metricPartitions = prometheus.NewDesc("fossick_cluster_partitions", "Partitions of the whole crawl that have an owner, of 1,024.", nil, nil)
	metricAllPages   = prometheus.NewDesc("fossick_cluster_pages_total", "Pages stored by all agents, by their last reports.", nil, nil)
	metricAllOnTopic = prometheus.NewDesc("fossick_cluster_relevant_pages_total", "Of these, pages on topic.", nil, nil)
	metricAllQueue   = prometheus.NewDesc("fossick_cluster_queue_urls", "URLs that wait, at all agents together.", nil, nil)
	metricAllRate    = prometheus.NewDesc("fossick_cluster_pages_per_second", "Pages a second of all agents.", nil, nil)
)

// Describe makes whole a prometheus.Collector.
func (w *whole) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{metricUp, metricAgents, metricPartitions, metricAllPages, metricAllOnTopic, metricAllQueue, metricAllRate} {
		ch <- d
	}
}

// Collect makes whole a prometheus.Collector.
func (w *whole) Collect(ch chan<- prometheus.Metric) {
	send := func(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, kind, v, labels...)
	}
	n := w.now(context.Background())
	if n == nil {
		send(metricUp, prometheus.GaugeValue, 0)
		return
	}
	send(metricUp, prometheus.GaugeValue, 1)
	send(metricAgents, prometheus.GaugeValue, float64(n.Agents), "alive")
	send(metricAgents, prometheus.GaugeValue, float64(n.Dead), "dead")
	send(metricPartitions, prometheus.GaugeValue, float64(n.Partitions))
	send(metricAllPages, prometheus.CounterValue, float64(n.Fetched))
	send(metricAllOnTopic, prometheus.CounterValue, float64(n.Relevant))
	send(metricAllQueue, prometheus.GaugeValue, float64(n.Waiting))
	send(metricAllRate, prometheus.GaugeValue, n.PagesPerSecond)
}
