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
	"fossick/crawler/cluster"
	"fossick/eval"
	"fossick/internal/cli"
	"fossick/internal/report"
	"fossick/internal/serving"
	"fossick/internal/stats"
	"fossick/store"
)

// Server serves a running crawl's last progress: /status as JSON, /metrics for Prometheus.
type Server struct {
	session Session
	whole   whole
	last    atomic.Pointer[crawler.Progress]
	now     atomic.Pointer[moving]
	pace    pace // of the caller of Show
	failed  atomic.Pointer[[]startFailure]
	server  *serving.Server // nil when it does not listen
	addr    net.Addr        // nil when it does not listen
}

const answerTime = 30 * time.Second

// Listen serves at addr until Stop; an empty addr does not listen. profiles adds Go's profiles.
func Listen(addr string, profiles bool, session Session) (*Server, error) {
	if addr == "" {
		return &Server{session: session, whole: whole{ask: session.Whole}}, nil
	}
	l, err := serving.Listen(addr)
	if err != nil {
		return nil, cli.Usagef("--listen: %w; give a free HOST:PORT such as 127.0.0.1:9100", err)
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

// Addr returns the address; nil when it does not listen.
func (m *Server) Addr() net.Addr { return m.addr }

// Stop ends the server and waits for it.
func (m *Server) Stop() error {
	if m.server == nil {
		return nil
	}
	return m.server.Stop()
}

// Show stores the progress; the caller must not change p's maps afterwards. For one goroutine.
func (m *Server) Show(p crawler.Progress) {
	now := moving{started: time.Now().Add(-p.Elapsed), speed: m.pace.speed(p)}
	if left, known := m.pace.timeLeft(p, p.MaxPages, p.MaxTime); known && !p.Paused {
		seconds := left.Seconds()
		now.left = &seconds
	}
	m.now.Store(&now)
	m.last.Store(&p)
}

// moving is what a crawl's progress tells only while it runs.
type moving struct {
	started time.Time
	speed   float64  // pages a second
	left    *float64 // seconds; nil if unknown
}

// ShowFailed stores the failed start pages.
func (m *Server) ShowFailed(failed []startFailure) { m.failed.Store(&failed) }

// Status is the JSON of /status.
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
	Next     *eval.NextPages   `json:"next"`
	Seconds  float64           `json:"seconds"`
	Network  networkStatus     `json:"network"`
	Owner    ownerStatus       `json:"owner"`
	Patience *patienceStatus   `json:"patience"` // null when the crawl does not hold workers back

	SeedsFailed []startFailure `json:"seeds_failed"`

	Topics map[string]topicStatus `json:"topics,omitempty"` // when several topics share the crawl
	Whole  *Whole                 `json:"whole,omitempty"`  // for one agent of a multi-agent crawl, while the message exchange answers

	Running         bool        `json:"running"`
	Paused          bool        `json:"paused"`
	Stopping        bool        `json:"stopping"`
	Started         *time.Time  `json:"started"` // of this session; null without a running crawl
	Limits          limits      `json:"limits"`
	PagesPerSecond  *float64    `json:"pages_per_second"` // of the last seconds; null without a running crawl
	SecondsLeft     *float64    `json:"seconds_left"`     // null if unknown
	HarvestInterval *[2]float64 `json:"harvest_interval"` // 95 %; null without pages
	Last            *lastPages  `json:"last"`             // null without pages
}

// limits are the present ones; null for none.
type limits struct {
	MaxPages   *uint64  `json:"max_pages"`
	MaxSeconds *float64 `json:"max_seconds"` // of this session
}

// lastPages is the harvest of the pages that were stored last.
type lastPages struct {
	Pages    int        `json:"pages"`
	Relevant int        `json:"relevant"`
	Harvest  float64    `json:"harvest"`
	Interval [2]float64 `json:"interval"` // 95 %
}

// ServeStatus writes a Status.
func (m *Server) ServeStatus(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(m.Status(r.Context())) // a client that has gone needs no answer
}

// Status returns the state of the crawl as it was shown last.
func (m *Server) Status(ctx context.Context) Status {
	p := m.progress()
	n := p.Counts
	s := Status{
		Topic: m.session.Topic, Store: m.session.Store, Topics: topicsOf(m.session.Topics, n), Fetched: n.Pages, Relevant: n.Relevant, Harvest: harvestOf(n), Requests: n.Requests,
		ByState: n.States, Codes: n.Codes, Near: n.NearDuplicates, Queue: p.Queue, Hosts: p.Hosts, Busy: p.Busy, Seconds: n.Elapsed.Seconds(),
		Network: networkStatus{utc(p.DownSince), p.Outages, p.OutageTime.Seconds()}, Owner: ownerOf(p.Turns), Patience: patienceOf(p.Patience),
		Next: eval.NextPagesOf(p.Next), Whole: m.whole.now(ctx), SeedsFailed: []startFailure{},
		Running: true, Paused: p.Paused, Stopping: p.Stopping,
	}
	if failed := m.failed.Load(); failed != nil {
		s.SeedsFailed = *failed
	}
	s.move(p, m.now.Load())
	return s
}

// StatusOf returns the state of a crawl that does not run; relevant tells of its pages, in their order.
func StatusOf(s *store.Store, relevant []bool) (Status, error) {
	counts, err := s.Counts()
	if err != nil {
		return Status{}, err
	}
	info := s.Info()
	session := Session{Topic: info.Topic, Store: s.Dir()}
	for _, name := range info.Topics {
		session.Topics = append(session.Topics, Goal{Name: name})
	}
	p := crawler.Progress{Counts: counts, Next: crawler.Of(relevant)}
	queue := counts.URLs - min(counts.URLs, counts.Skipped)
	for _, n := range counts.States {
		queue -= min(queue, n)
	}
	p.Queue = int(queue)
	for h, err := range s.Hosts() {
		if err != nil {
			return Status{}, err
		}
		if h.Requests > 0 {
			p.Hosts++
		}
	}
	m := Server{session: session}
	m.last.Store(&p)
	status := m.Status(context.Background())
	status.Running = false
	return status, nil
}

// move adds what changes as a crawl goes on; now is nil without a running crawl.
func (s *Status) move(p crawler.Progress, now *moving) {
	if now != nil {
		started := now.started.UTC().Truncate(time.Second)
		s.Started, s.PagesPerSecond, s.SecondsLeft = &started, &now.speed, now.left
	}
	if p.MaxPages > 0 {
		s.Limits.MaxPages = &p.MaxPages
	}
	if p.MaxTime > 0 {
		seconds := p.MaxTime.Seconds()
		s.Limits.MaxSeconds = &seconds
	}
	if n := p.Counts; n.Pages > 0 {
		interval := stats.Wilson(int(n.Relevant), int(n.Pages))
		s.HarvestInterval = &interval
	}
	if next := p.Next; next.Pages > 0 {
		hits := int(math.Round(next.Harvest * float64(next.Pages)))
		s.Last = &lastPages{next.Pages, hits, next.Harvest, stats.Wilson(hits, next.Pages)}
	}
}

func (m *Server) progress() crawler.Progress {
	if p := m.last.Load(); p != nil {
		return *p
	}
	return crawler.Progress{}
}

type networkStatus struct {
	DownSince *time.Time `json:"down_since"` // null while the network works
	Outages   int        `json:"outages"`
	Seconds   float64    `json:"outage_seconds"`
}

// utc returns a time for JSON; null for the zero time.
func utc(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Truncate(time.Second)
	return &t
}

// ownerStatus describes the busy times of the scheduler, the goroutine that leases URLs and writes the journal.
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
	Waiting bool     `json:"waiting"` // a free worker is waiting now
	Price   *float64 `json:"price"`   // score from which a link is fetched; null for any
	Best    *float64 `json:"best"`    // best score waiting
	Free    *float64 `json:"free"`    // best score on a free host
	Hosts   int      `json:"hosts"`   // hosts with links worth the price
	Seconds float64  `json:"seconds"` // total waiting time of free workers in this session
}

// patienceOf returns nil for a crawl that does not hold workers back.
func patienceOf(p *crawler.Patience) *patienceStatus {
	if p == nil {
		return nil
	}
	s := &patienceStatus{Waiting: p.Waits, Price: stats.Known(p.Price), Hosts: p.Hosts, Seconds: p.Held.Seconds()}
	if p.Waits {
		s.Best, s.Free = stats.Known(p.Best), stats.Known(p.Free)
	}
	return s
}

func (s *Line) patience(p crawler.Progress) cli.Part {
	if p.Patience == nil || !p.Patience.Waits || p.Patience.Hosts == 0 {
		return cli.Part{}
	}
	return cli.Part{Rank: 4, Text: fmt.Sprintf("waits for better links at %s", report.Count(p.Patience.Hosts, "host"))}
}

// Agents is what the agents of one crawl last reported: the JSON of fossick cluster status.
type Agents struct {
	Agents      []Agent  `json:"agents"`
	Coordinator string   `json:"coordinator"`
	Partitions  int      `json:"partitions"` // with an owner
	Fetched     int64    `json:"fetched"`
	Relevant    int64    `json:"relevant"`
	Lost        int64    `json:"lost"`                 // pages lost with an agent
	Stopped     string   `json:"stopped_because"`      // "" while the crawl goes on
	Unreadable  []string `json:"unreadable,omitempty"` // keys whose values no agent wrote
}

// Agent is one agent of a multi-agent crawl.
type Agent struct {
	Name           string     `json:"name"`
	Place          string     `json:"place"` // machine and store; "" if unknown
	Partitions     int        `json:"partitions"`
	Fetched        int64      `json:"fetched"`
	Relevant       int64      `json:"relevant"`
	Waiting        int64      `json:"waiting"`
	Lost           int64      `json:"lost"` // pages of its sites that were lost with another agent
	PagesPerSecond float64    `json:"pages_per_second"`
	State          string     `json:"state"`           // "", dead or leaving
	Heard          *time.Time `json:"heard,omitempty"` // when its last report came; nil if unknown
}

// AgentsOf returns what agents last reported.
func AgentsOf(s *cluster.Status) Agents {
	all := Agents{Agents: []Agent{}, Coordinator: string(s.Coordinator), Partitions: s.Partitions, Stopped: s.Ended, Unreadable: s.Unreadable}
	for i := range s.Agents {
		one := &s.Agents[i]
		state := ""
		switch {
		case one.Dead:
			state = "dead"
		case one.Leaving:
			state = "leaving"
		}
		r := &one.Report
		all.Agents = append(all.Agents, Agent{string(one.ID), one.Place, one.Partitions, r.Pages, r.Relevant, r.Waiting, r.Lost, r.Rate, state, nil})
		all.Fetched += r.Pages
		all.Relevant += r.Relevant
		if !one.Dead { // other agents have its sites now, and count their lost pages
			all.Lost += r.Lost
		}
	}
	return all
}

// WholeOf returns the state of a multi-agent crawl with a limit of pages, 0 for none.
func WholeOf(s cluster.Status, maxPages uint64) Whole {
	w := Whole{Partitions: s.Partitions, MaxPages: maxPages, Each: AgentsOf(&s), Owner: s.Owner}
	w.Fetched, w.Relevant = w.Each.Fetched, w.Each.Relevant
	for _, a := range w.Each.Agents {
		if a.State == "dead" {
			w.Dead++
			continue
		}
		w.Agents++
		w.PagesPerSecond += a.PagesPerSecond
		w.Waiting += a.Waiting
	}
	return w
}

// Whole is the state of a multi-agent crawl.
type Whole struct {
	Agents         int     `json:"agents"`
	Dead           int     `json:"dead"`
	Partitions     int     `json:"partitions"` // with an owner
	Fetched        int64   `json:"fetched"`
	Relevant       int64   `json:"relevant"`
	Waiting        int64   `json:"waiting"`
	PagesPerSecond float64 `json:"pages_per_second"`
	MaxPages       uint64  `json:"max_pages,omitempty"` // of all agents together

	Each  Agents                                          `json:"-"`
	Owner func(url string) (id cluster.AgentID, part int) `json:"-"` // of the URL's site
}

// wholeHolds is how long an answer of the shared message exchange is reused; wholeWait is its timeout.
const (
	wholeHolds = 5 * time.Second
	wholeWait  = 2 * time.Second
)

type whole struct {
	ask func(context.Context) (Whole, error) // nil for a single crawler

	mu    sync.Mutex // guards the fields below; held while asking
	asked time.Time
	last  *Whole // nil when the message exchange did not answer
}

// now returns the state of the multi-agent crawl; nil without one, or without an answer.
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

// handleProfiles serves Go's profiles under /debug/pprof to this machine only, since they reveal
// internals. Web pages in a local browser are refused too, because a CPU profile costs time.
//
//	go tool pprof http://127.0.0.1:9100/debug/pprof/profile?seconds=30
func handleProfiles(mux *http.ServeMux) {
	mux.HandleFunc("GET /debug/pprof/", localOnly(pprof.Index)) // heap, goroutine, block, mutex…
	mux.HandleFunc("GET /debug/pprof/profile", localOnly(pprof.Profile))
	mux.HandleFunc("GET /debug/pprof/symbol", localOnly(pprof.Symbol))
	mux.HandleFunc("GET /debug/pprof/trace", localOnly(pprof.Trace))
}

// localOnly refuses requests from other machines, and a browser's requests for pages of other sites.
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
