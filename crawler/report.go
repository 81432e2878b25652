package crawler

import (
	"context"
	"time"

	"fossick/internal/page"
	"fossick/store"
)

// Progress is how far a crawl is.
type Progress struct {
	Counts  store.Counts // totals over all sessions
	Queue   int
	Hosts   int           // hosts that were asked
	Busy    int           // exchanges under way
	Elapsed time.Duration // this session's
	Pages   uint64        // stored in this session
	Next    Marginal      // harvest of the next pages
	Turns   Stats         // the owner's turns in this session

	MaxPages         uint64        // the present limit; 0: none
	MaxTime          time.Duration // likewise, of this session
	Shared           bool          // several agents share the limits, which are not told here
	Paused, Stopping bool

	Refreshed RefreshCounts // revisits of this session
	Round     int           // of a watch, over all sessions; 0 without rounds

	Patience *Patience // nil if the crawl never waits for better links
	// RestUntil is when the next host may be asked, if nothing is under way.
	RestUntil time.Time
	Resting   int // resting hosts with URLs; hosts at one address count once
	// DownSince is when our own network went down, zero if it is up.
	DownSince  time.Time
	Outages    int           // of our own network in this session
	OutageTime time.Duration // of all of them
}

// Stop says why a crawl ended (cli.md, stopped_because).
type Stop string

// The reasons to stop.
const (
	StopMaxPages    Stop = "max_pages"
	StopMaxTime     Stop = "max_time"
	StopEmpty       Stop = "frontier_empty"
	StopNothing     Stop = "nothing_fetched" // in place of the two before; see Attempts
	stopRounds      Stop = "rounds"          // all rounds of a watch have ended
	StopMinHarvest  Stop = "min_harvest"
	StopInterrupted Stop = "interrupted"
	StopForget      Stop = "forget" // pages are to be forgotten first; see Crawler.Forget
	stopDiskFull    Stop = "disk_full"
	StopError       Stop = "error"
)

// Result is the result of a crawl, over all its sessions.
type Result struct {
	Counts  store.Counts
	Hosts   int // hosts with at least one page
	Stopped Stop
	Next    Marginal // expected harvest of more pages
	// WaitUntil is when the first host with queued URLs is rested, if that was too long to
	// wait for; else zero.
	WaitUntil time.Time

	Refreshed RefreshCounts // revisits of this session
	News      NewsCounts    `json:",omitzero"` // from sitemaps and feeds, with Options.News
	Attempts  Attempts

	Outages    int           // of our own network in this session
	OutageTime time.Duration // of all of them
}

// After adds the result of an earlier session that the user sees as one with this.
func (r Result) After(before Result) Result {
	r.Refreshed = r.Refreshed.plus(before.Refreshed)
	r.News = before.News.plus(r.News)
	r.Attempts = r.Attempts.After(before.Attempts)
	r.Outages += before.Outages
	r.OutageTime += before.OutageTime
	return r
}

// After adds the progress of an earlier session.
func (p Progress) After(before Progress) Progress {
	if p.MaxTime > 0 {
		p.MaxTime += before.Elapsed
	}
	p.Elapsed += before.Elapsed
	p.Pages += before.Pages
	p.Refreshed = p.Refreshed.plus(before.Refreshed)
	p.Outages += before.Outages
	p.OutageTime += before.OutageTime
	return p
}

func (c *Crawler) progress() Progress {
	rest := time.Time{}
	if len(c.jobs) == 0 {
		rest, _ = c.frontier.Wake()
	}
	outages, down, outage := c.network.Outages()
	elapsed, pages := c.totals.session()
	round := 0
	if r, ok := c.opt.Revisits.(counted); ok {
		round = r.Round()
	}
	return Progress{
		Refreshed: c.refreshed, Round: round,
		Patience: c.waitProgress(), RestUntil: rest, Resting: c.frontier.Resting(), DownSince: down, Outages: outages, OutageTime: outage,
		Counts: c.totals.snapshot(), Queue: c.waiting(), Hosts: c.hosts.Known(), Busy: len(c.jobs),
		Elapsed: elapsed, Pages: pages,
		Next: c.harvest.Estimate(), Turns: c.turns.Stats,
		MaxPages: c.opt.MaxPages, MaxTime: c.opt.MaxTime, Shared: c.opt.several(), Paused: c.paused, Stopping: c.stopped != "",
	}
}

// Progress returns how far the crawl has come; not to be called during Run.
func (c *Crawler) Progress() Progress { return c.progress() }

// Standing is how a URL of the queue stands to what a crawl waits for.
type Standing struct {
	Price float64          // least priority of a link that is taken now; -Inf for any
	Wait  *store.Wait      // the URL's part in waits; nil if none is remembered
	File  *store.FilePrice // what lowers the URL's priority; nil for none
}

// Standing returns how a URL, in normal form, compares with the price while Run goes on; nil
// if the crawl never waits for better links and nothing lowers the priority. It is safe for concurrent use.
func (c *Crawler) Standing(ctx context.Context, url string) (s *Standing, err error) {
	err = c.inTurn(ctx, func() (error, error) {
		key := page.Key(url)
		if file := c.fileOf(key); c.keeper != nil || file != nil {
			s = &Standing{Price: c.leastPriority(), Wait: c.waits.of(key, c.opt.Now()), File: file}
		}
		return nil, nil
	})
	return s, err
}

// Stats tells how long the owner was busy per turn: from an event until it waited for the
// next. A long turn delays all workers, because the owner alone leases and journals.
type Stats struct {
	// Within counts the turns of at most Bounds[i] that are longer than Bounds[i-1], and in
	// its last place the longer ones.
	Within  [len(Bounds) + 1]uint64
	Total   time.Duration // of all turns
	Longest time.Duration
	// Parts has the longest time that a turn spent on each part of its work, Totals the sum
	// over all turns.
	Parts, Totals [Parts]time.Duration
}

// Bounds are the upper bounds by which turns are counted.
var Bounds = [...]time.Duration{
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2500 * time.Millisecond, 5 * time.Second,
}

// Plus combines the turns of several owners.
func (s Stats) Plus(o Stats) Stats {
	for i, n := range o.Within {
		s.Within[i] += n
	}
	s.Total += o.Total
	s.Longest = max(s.Longest, o.Longest)
	for p := range Parts {
		s.Parts[p] = max(s.Parts[p], o.Parts[p])
		s.Totals[p] += o.Totals[p]
	}
	return s
}

// part is a part of the owner's work.
type part int

// The parts of a turn; Parts is their number.
const (
	partFrontier part = iota // leasing, with its reads of the store
	partJournal              // what follows from exchanges
	Commit                   // the store's commit
	partRescore              // new priorities for the queue
	Parts
)

func (p part) String() string { return [...]string{"frontier", "journal", "commit", "rescore"}[p] }

// meter measures turns.
type meter struct {
	Stats
	now   func() time.Time
	began time.Time // begin of this turn; zero while the owner waits
	parts [Parts]time.Duration
	part  part      // present part
	since time.Time // begin of that part
}

// begin starts a turn with one of its parts.
func (m *meter) begin(part part, now time.Time) {
	m.began, m.since, m.part = now, now, part
	m.parts = [Parts]time.Duration{}
}

// turn goes on to another part and returns the one before.
func (m *meter) turn(to part, now time.Time) (from part) {
	m.parts[m.part] += now.Sub(m.since)
	from = m.part
	m.part, m.since = to, now
	return from
}

// end ends the turn, if one has begun.
func (m *meter) end(now time.Time) {
	if m.began.IsZero() {
		return
	}
	m.turn(m.part, now)
	took := now.Sub(m.began)
	m.began = time.Time{}
	m.Total += took
	m.Longest = max(m.Longest, took)
	at := 0
	for at < len(Bounds) && took > Bounds[at] {
		at++
	}
	m.Within[at]++
	for p, took := range m.parts {
		m.Parts[p] = max(m.Parts[p], took)
		m.Totals[p] += took
	}
}

// timed measures f as a part of the turn.
func (m *meter) timed(part part, f func() error) error {
	before := m.turn(part, m.now())
	defer func() { m.turn(before, m.now()) }()
	return f()
}
