package monitor

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"fossick/crawler"
)

// metrics exports a crawl's progress to Prometheus. It is unchecked, since some metrics depend on the crawl.
type metrics struct{ *Server }

func (metrics) Describe(chan<- *prometheus.Desc) {}

func (m metrics) Collect(ch chan<- prometheus.Metric) {
	s := sender{ch}
	p := m.progress()
	n := p.Counts
	s.counter("pages_total", "Pages stored.", float64(n.Pages))
	s.counter("relevant_pages_total", "Stored pages that are on topic.", float64(n.Relevant))
	for name, t := range topicsOf(m.session.Topics, n) {
		s.counter("topic_relevant_pages_total", "Stored pages on each topic that shares the crawl.", float64(t.Relevant), "topic", name)
		s.counter("topic_paid_pages_total", "Pages charged to each topic.", t.Paid, "topic", name)
	}
	s.counter("requests_total", "Requests made, robots.txt included.", float64(n.Requests))
	s.counter("body_bytes_total", "Bytes of stored bodies, decompressed.", float64(n.Bytes))
	for state, k := range n.States {
		s.counter("urls_total", "URLs by the state they ended in.", float64(k), "state", state)
	}
	for code, k := range n.Codes {
		s.counter("codes_total", "Answers to page requests other than 200, by code.", float64(k), "code", fmt.Sprint(code))
	}
	s.counter("near_duplicates_total", "Pages not stored because they are near-duplicates of a stored page.", float64(n.NearDuplicates))
	s.gauge("queue_urls", "URLs that wait.", float64(p.Queue))
	s.gauge("hosts", "Hosts known.", float64(p.Hosts))
	if p.Next.Pages > 0 {
		s.gauge("next_harvest", "Expected harvest of the next pages, estimated from the last ones.", p.Next.Harvest)
	}
	s.gauge("exchanges", "Exchanges in flight.", float64(p.Busy))
	s.gauge("network_down", "1 while this machine's network seems down.", zeroOrOne(!p.DownSince.IsZero()))
	s.counter("network_outages_total", "Outages of this machine's network in this session.", float64(p.Outages))
	s.counter("network_outage_seconds_total", "Time without a network in this session.", p.OutageTime.Seconds())
	if p.Patience != nil {
		s.gauge("patience_waits", "Whether a free worker waits for better links.", zeroOrOne(p.Patience.Waits))
		s.counter("patience_seconds_total", "Time in which a free worker waited for better links.", p.Patience.Held.Seconds())
	}
	s.turns(p.Turns)
	if m.session.Whole != nil {
		s.whole(m.whole.now(context.Background()))
	}
}

type sender struct{ ch chan<- prometheus.Metric }

// counter sends a counter; label is empty, or a name and a value.
func (s sender) counter(name, help string, v float64, label ...string) {
	s.send(prometheus.CounterValue, name, help, v, label)
}

func (s sender) gauge(name, help string, v float64, label ...string) {
	s.send(prometheus.GaugeValue, name, help, v, label)
}

func (s sender) send(kind prometheus.ValueType, name, help string, v float64, label []string) {
	var names, values []string
	if len(label) > 0 {
		names, values = label[:1], label[1:]
	}
	s.ch <- prometheus.MustNewConstMetric(prometheus.NewDesc("fossick_"+name, help, names, nil), kind, v, values...)
}

// turns sends how long the scheduler goroutine was busy per turn.
func (s sender) turns(t crawler.Stats) {
	count, upTo := uint64(0), map[float64]uint64{}
	for i, n := range t.Within {
		count += n
		if i < len(crawler.Bounds) {
			upTo[crawler.Bounds[i].Seconds()] = count
		}
	}
	s.ch <- prometheus.MustNewConstHistogram(prometheus.NewDesc("fossick_owner_turn_seconds",
		"Longest time that the goroutine which hands out URLs and journals for all workers was busy without a pause.", nil, nil), count, t.Total.Seconds(), upTo)
	for p := range crawler.Parts {
		s.counter("owner_seconds_total", "Time that this goroutine spent on each part of its work.", t.Totals[p].Seconds(), "part", p.String())
		s.gauge("owner_turn_longest_part_seconds", "Longest time that one turn of this goroutine spent on each part of its work.", t.Parts[p].Seconds(), "part", p.String())
	}
}

// whole sends the state of a multi-agent crawl; nil when the message exchange does not answer.
func (s sender) whole(n *Whole) {
	s.gauge("cluster_up", "Whether the agents' exchange answers.", zeroOrOne(n != nil))
	if n == nil {
		return
	}
	s.gauge("cluster_agents", "Agents of the whole crawl.", float64(n.Agents), "state", "alive")
	s.gauge("cluster_agents", "Agents of the whole crawl.", float64(n.Dead), "state", "dead")
	s.gauge("cluster_partitions", "Partitions of the whole crawl that have an owner, of 1,024.", float64(n.Partitions))
	s.counter("cluster_pages_total", "Pages stored by all agents, by their last reports.", float64(n.Fetched))
	s.counter("cluster_relevant_pages_total", "Of these, pages on topic.", float64(n.Relevant))
	s.gauge("cluster_queue_urls", "URLs that wait, at all agents together.", float64(n.Waiting))
	s.gauge("cluster_pages_per_second", "Pages a second of all agents.", n.PagesPerSecond)
}

func zeroOrOne(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
