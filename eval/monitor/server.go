package monitor

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"fossick/crawler"
	"fossick/internal/serving"
	"fossick/internal/usage"
)

// Server shows a running crawl to its owner: /status as JSON, /metrics for
// Prometheus. It knows what the crawl last said of itself.
type Server struct {
	session Session
	whole   whole
	last    atomic.Pointer[crawler.Progress]
	failed  atomic.Pointer[[]Failure]
	server  *serving.Server // nil when it does not listen
	addr    net.Addr        // likewise
}

// answerTime is how long an answer of a Server may take to be written.
const answerTime = 30 * time.Second

// Listen listens at addr until Stop is called; with no addr it does not. With
// profiles it also serves those.
func Listen(addr string, profiles bool, session Session) (*Server, error) {
	if addr == "" {
		return &Server{session: session, whole: whole{ask: session.Whole}}, nil
	}
	l, err := serving.Listen(addr)
	if err != nil {
		return nil, usage.Errorf("--listen: %w; give a free HOST:PORT such as 127.0.0.1:9100", err)
	}
	m := &Server{session: session, whole: whole{ask: session.Whole}, addr: l.Addr()}
	registry := prometheus.NewRegistry()
	registry.MustRegister(m, networkMetrics{m}, turnMetrics{m}, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if session.Whole != nil {
		registry.MustRegister(&m.whole)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", m.ServeStatus)
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	if profiles {
		handleProfiles(mux)
	}
	m.server = serving.Start(l, serving.OwnNames(addr, mux), serving.Options{AnswerTime: answerTime})
	return m, nil
}

// Addr is where it listens, nil when it does not.
func (m *Server) Addr() net.Addr { return m.addr }

// Stop ends the server and waits for it.
func (m *Server) Stop() error {
	if m.server == nil {
		return nil
	}
	return m.server.Stop()
}

// Show takes in where the crawl stands; p's maps are the caller's no more.
func (m *Server) Show(p crawler.Progress) { m.last.Store(&p) }

// ShowFailed takes in which start pages have failed.
func (m *Server) ShowFailed(failed []Failure) { m.failed.Store(&failed) }

// Status is what /status says.
type Status struct {
	Topic    string            `json:"topic"`
	Store    string            `json:"store"`
	Fetched  uint64            `json:"fetched"`
	Relevant uint64            `json:"relevant"`
	Harvest  *float64          `json:"harvest"`
	Requests uint64            `json:"requests"`
	ByState  map[string]uint64 `json:"by_state"`
	Codes    map[int]uint64    `json:"codes"`
	Near     uint64            `json:"near_duplicates"`
	Queue    int               `json:"queue"`
	Hosts    int               `json:"hosts"`
	Busy     int               `json:"busy"`
	Next     *Next             `json:"next"`
	Seconds  float64           `json:"seconds"`
	Network  Network           `json:"network"`
	Owner    Owner             `json:"owner"`
	Patience *Patience         `json:"patience"` // null where the crawl waits for no better links

	SeedsFailed []Failure `json:"seeds_failed"`

	Topics map[string]Topic `json:"topics,omitempty"` // that share the crawl
	Whole  *Whole           `json:"whole,omitempty"`  // where this is one agent's part, and the others' exchange answers
}

// ServeStatus answers with a Status.
func (m *Server) ServeStatus(w http.ResponseWriter, r *http.Request) {
	p := m.progress()
	n := p.Counts
	s := Status{
		Topic: m.session.Topic, Store: m.session.Store, Topics: topicsOf(m.session.Topics, n), Fetched: n.Pages, Relevant: n.Relevant, Harvest: harvestOf(n), Requests: n.Requests,
		ByState: n.States, Codes: n.Codes, Near: n.NearDuplicates, Queue: p.Queue, Hosts: p.Hosts, Busy: p.Busy, Seconds: n.Elapsed.Seconds(),
		Network: networkOf(p), Owner: ownerOf(p.Turns), Patience: patienceOf(p.Patience),
		Next: nextOf(p.Next), Whole: m.whole.now(r.Context()), SeedsFailed: []Failure{},
	}
	if failed := m.failed.Load(); failed != nil {
		s.SeedsFailed = *failed
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(s) // a client that went away needs no answer
}

func (m *Server) progress() crawler.Progress {
	if p := m.last.Load(); p != nil {
		return *p
	}
	return crawler.Progress{}
}

// The metrics.
var (
	metricPages    = prometheus.NewDesc("fossick_pages_total", "Pages stored.", nil, nil)
	metricRelevant = prometheus.NewDesc("fossick_relevant_pages_total", "Stored pages that are on topic.", nil, nil)
	metricRequests = prometheus.NewDesc("fossick_requests_total", "Requests made, robots.txt included.", nil, nil)
	metricBytes    = prometheus.NewDesc("fossick_body_bytes_total", "Bytes of stored bodies, decompressed.", nil, nil)
	metricURLs     = prometheus.NewDesc("fossick_urls_total", "URLs by the state they ended in.", []string{"state"}, nil)
	metricCodes    = prometheus.NewDesc("fossick_codes_total", "Answers to page requests other than 200, by code.", []string{"code"}, nil)
	metricNear     = prometheus.NewDesc("fossick_near_duplicates_total", "Pages not stored because they are near-duplicates of a stored page.", nil, nil)
	metricQueue    = prometheus.NewDesc("fossick_queue_urls", "URLs that wait.", nil, nil)
	metricHosts    = prometheus.NewDesc("fossick_hosts", "Hosts known.", nil, nil)
	metricNext     = prometheus.NewDesc("fossick_next_harvest", "Expected harvest of the next pages, estimated from the last ones.", nil, nil)
	metricTopic    = prometheus.NewDesc("fossick_topic_relevant_pages_total", "Stored pages on each topic that shares the crawl.", []string{"topic"}, nil)
	metricPaid     = prometheus.NewDesc("fossick_topic_paid_pages_total", "Pages charged to each topic.", []string{"topic"}, nil)
	metricBusy     = prometheus.NewDesc("fossick_exchanges", "Exchanges in flight.", nil, nil)
)

// Describe makes Server a prometheus.Collector.
func (m *Server) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		metricPages, metricRelevant, metricRequests, metricBytes, metricURLs, metricCodes, metricNear, metricQueue, metricHosts, metricBusy, metricNext, metricPatience, metricHeld,
		metricTopic, metricPaid,
	} {
		ch <- d
	}
}

// Collect makes Server a prometheus.Collector.
func (m *Server) Collect(ch chan<- prometheus.Metric) {
	p := m.progress()
	send := func(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, kind, v, labels...)
	}
	send(metricPages, prometheus.CounterValue, float64(p.Counts.Pages))
	send(metricRelevant, prometheus.CounterValue, float64(p.Counts.Relevant))
	for name, t := range topicsOf(m.session.Topics, p.Counts) {
		send(metricTopic, prometheus.CounterValue, float64(t.Relevant), name)
		send(metricPaid, prometheus.CounterValue, t.Paid, name)
	}
	send(metricRequests, prometheus.CounterValue, float64(p.Counts.Requests))
	send(metricBytes, prometheus.CounterValue, float64(p.Counts.Bytes))
	for state, n := range p.Counts.States {
		send(metricURLs, prometheus.CounterValue, float64(n), state)
	}
	for code, n := range p.Counts.Codes {
		send(metricCodes, prometheus.CounterValue, float64(n), fmt.Sprint(code))
	}
	send(metricNear, prometheus.CounterValue, float64(p.Counts.NearDuplicates))
	send(metricQueue, prometheus.GaugeValue, float64(p.Queue))
	send(metricHosts, prometheus.GaugeValue, float64(p.Hosts))
	if p.Next.Pages > 0 {
		send(metricNext, prometheus.GaugeValue, p.Next.Harvest)
	}
	send(metricBusy, prometheus.GaugeValue, float64(p.Busy))
	collectPatience(p.Patience, send)
}
