package monitor

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"fossick/crawler"
	"fossick/internal/report"
	"fossick/internal/serving"
	"fossick/internal/terminal"
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
	registry.MustRegister(metrics{m}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
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
	Next     *furtherPages     `json:"next"`
	Seconds  float64           `json:"seconds"`
	Network  networkStatus     `json:"network"`
	Owner    ownerStatus       `json:"owner"`
	Patience *patienceStatus   `json:"patience"` // null where the crawl waits for no better links

	SeedsFailed []Failure `json:"seeds_failed"`

	Topics map[string]topicStatus `json:"topics,omitempty"` // that share the crawl
	Whole  *Whole                 `json:"whole,omitempty"`  // where this is one agent's part, and the others' exchange answers
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

type networkStatus struct {
	DownSince *time.Time `json:"down_since"` // null while it works
	Outages   int        `json:"outages"`
	Seconds   float64    `json:"outage_seconds"`
}

func networkOf(p crawler.Progress) networkStatus {
	return networkStatus{utc(p.DownSince), p.Outages, p.OutageTime.Seconds()}
}

// utc returns a time for JSON: null when there is none.
func utc(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Truncate(time.Second)
	return &t
}

// ownerStatus is what /status says of the crawl's owner, the one goroutine that
// leases and journals: how long it was busy at a time.
type ownerStatus struct {
	Turns     uint64             `json:"turns"`
	Over100ms uint64             `json:"over_100ms"`
	Longest   float64            `json:"longest_seconds"`
	Parts     map[string]float64 `json:"longest_part_seconds"` // by part of a turn
}

func ownerOf(t crawler.Stats) ownerStatus {
	s := ownerStatus{Longest: t.Longest.Seconds(), Parts: map[string]float64{}}
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

type patienceStatus struct {
	Waiting bool     `json:"waiting"` // a free worker does now
	Price   *float64 `json:"price"`   // that a link must promise to be fetched; null for any
	Best    *float64 `json:"best"`    // of what waits
	Free    *float64 `json:"free"`    // best that was free
	Hosts   int      `json:"hosts"`   // with links worth the price
	Seconds float64  `json:"seconds"` // that free workers waited so, in this session
}

// patienceOf is nil where a crawl waits for none.
func patienceOf(p *crawler.Patience) *patienceStatus {
	if p == nil {
		return nil
	}
	s := &patienceStatus{Waiting: p.Waits, Price: finite(p.Price), Hosts: p.Hosts, Seconds: p.Held.Seconds()}
	if p.Waits {
		s.Best, s.Free = finite(p.Best), finite(p.Free)
	}
	return s
}

// finite is null for what is no number of JSON's.
func finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}

func (s *Line) patience(p crawler.Progress) terminal.Part {
	if p.Patience == nil || !p.Patience.Waits || p.Patience.Hosts == 0 {
		return terminal.Part{}
	}
	return terminal.Part{Rank: 4, Text: fmt.Sprintf("waits for better links at %s", report.Count(p.Patience.Hosts, "host"))}
}

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

// handleProfiles serves Go's profiles of the running crawl under /debug/pprof,
// to the machine itself only: they tell more of it than others should know. A CPU
// profile also costs it some time, so no page in a browser may have one made.
//
//	go tool pprof http://127.0.0.1:9100/debug/pprof/profile?seconds=30
func handleProfiles(mux *http.ServeMux) {
	mux.HandleFunc("GET /debug/pprof/", localOnly(pprof.Index)) // heap, goroutine, block, mutex…
	mux.HandleFunc("GET /debug/pprof/profile", localOnly(pprof.Profile))
	mux.HandleFunc("GET /debug/pprof/symbol", localOnly(pprof.Symbol))
	mux.HandleFunc("GET /debug/pprof/trace", localOnly(pprof.Trace))
}

// localOnly refuses requests that do not come over loopback, and those that a browser
// makes for a page from elsewhere.
func localOnly(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		from, err := netip.ParseAddrPort(r.RemoteAddr)
		if err != nil || !from.Addr().Unmap().IsLoopback() {
			http.Error(w, "profiles are served to this machine only; ask for them from here", http.StatusForbidden)
			return
		}
		if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "none" && site != "same-origin" {
			http.Error(w, "profiles are not served to other web pages; ask for them by their own address", http.StatusForbidden)
			return
		}
		h(w, r)
	}
}
