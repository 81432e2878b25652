package crawler

import (
	"context"
	"errors"
	"runtime"
	"syscall"
	"time"

	"fossick/crawler/health"
	"fossick/crawler/journal"
	"fossick/crawler/refresh"
	"fossick/crawler/rescore"
	"fossick/crawler/sitemaps"
	"fossick/crawler/traps"
	"fossick/frontier"
	"fossick/store"
)

// Crawler is one session of a crawl. Make it with New and call Run once.
type Crawler struct {
	opt     Options
	journal journal.Journal
	archive *store.Store // what a crawl with a past asks beside its journal
	exec    executor
	reader  *reader
	inbox   *inbox

	// What follows belongs to the owner, the goroutine of Run.
	frontier  *frontier.Frontier
	hosts     *hostTable
	kinds     linkKinds
	latest    latest
	traps     *traps.Detector
	refresh   refresh.Session
	sitemaps  sitemaps.Rules
	totals    *totals
	newcomers newcomers
	marginal  marginal
	busy      int    // jobs in flight
	slow      int    // of these, those that go on beside the workers
	pagesBusy uint64 // of these, pages
	skips     []skip // URLs that end without an exchange, to be journalled
	stopped   Stop   // set: no more leases
	left      []left // hosts with sitemaps and no URL that waits; nil until the queue is empty
	passes    *rescore.Passes
	network   *health.Network
	waitUntil time.Time         // set at the end: all that is queued rests so long at least
	marks     map[store.ID]bool // what people said of URLs: on topic or not
	turns     turnMeter
}

// New prepares a crawl of opt.Store: a new one begins with the seeds, one with a
// history goes on where it ended.
func New(opt Options) (*Crawler, error) {
	if err := opt.complete(); err != nil {
		return nil, err
	}
	c, err := newCrawler(opt, journal.NewDisk(opt.Store))
	if err != nil {
		return nil, err
	}
	c.archive, c.reader.compress = opt.Store, opt.Store.Compress
	if err := c.open(); err != nil {
		return nil, errors.Join(err, c.frontier.Close())
	}
	return c, nil
}

// newCrawler returns a crawl with an empty queue; opt is complete.
func newCrawler(opt Options, j journal.Journal) (*Crawler, error) {
	c := &Crawler{
		opt: opt, journal: j, inbox: newInbox(),
		kinds:     newLinkKinds(opt.Ordering, opt.Seeds),
		totals:    &totals{now: opt.Now},
		turns:     turnMeter{now: opt.Now},
		marginal:  marginal{least: opt.MinHarvest},
		marks:     map[store.ID]bool{},
		newcomers: newcomers{Newcomers: health.NewNewcomers(opt.Workers)},
		network:   health.NewNetwork(opt.Now, opt.Log),
		sitemaps:  sitemaps.NewRules(opt.Sitemaps, opt.MaxSitemapURLs, opt.URLs),
		traps:     traps.New(opt.FollowTraps, opt.Log),
		passes:    rescore.New(opt.Scorer, opt.Ordering),
	}
	c.reader = &reader{opt: &c.opt, journal: j, sitemaps: c.sitemaps, prints: traps.NewFingerprinter(), cores: make(chan struct{}, runtime.GOMAXPROCS(0))}
	var err error
	opt.Frontier.Expect = c.passes.Expect
	if c.frontier, err = frontier.New(opt.Frontier); err != nil {
		return nil, err
	}
	c.hosts = newHostTable(&c.opt, j, c.frontier, c.network)
	return c, nil
}

// open fills the queue: with what the journal tells of, then with the seeds.
func (c *Crawler) open() error {
	c.refresh.On = c.opt.Refresh > 0
	if err := c.restore(); err != nil {
		return err
	}
	if err := c.plant(c.opt.Seeds); err != nil {
		return err
	}
	c.opt.Seeds = nil // a million of them are 100 MB, and all are in the journal
	return c.beginRefresh()
}

// Run crawls until a limit is met, the frontier is empty or ctx ends. It returns
// after the last goroutine that it started; what it counted is on disk. When the
// store fails, the error comes with the result so far.
func (c *Crawler) Run(ctx context.Context) (Result, error) {
	p := newPool(c.reader, c.inbox)
	p.begin(ctx)
	return c.run(p)
}

// run crawls with an executor that has begun.
func (c *Crawler) run(exec executor) (Result, error) {
	c.exec = exec
	c.totals.began = c.opt.Now()
	err := c.own()
	close(c.inbox.ended)
	exec.end(err != nil)
	if err != nil {
		c.stopped = StopError
		if errors.Is(err, store.ErrDiskFull) || errors.Is(err, syscall.ENOSPC) {
			c.stopped = StopDiskFull
		}
		// What was counted after the last commit does not count.
		if counts, readErr := c.journal.Counts(); readErr == nil {
			c.totals.Counts = counts
		}
	}
	err = errors.Join(err, c.frontier.Close())
	outages, _, outage := c.network.Outages()
	return Result{
		Counts: c.totals.Counts, Hosts: c.hosts.gave, Stopped: c.stopped, WaitUntil: c.waitUntil,
		Outages: outages, OutageTime: outage, Next: c.marginal.estimate(),
		Refreshed: c.refresh.Counts, Attempts: c.totals.attempted(),
	}, err
}

// own is the owner's loop.
func (c *Crawler) own() error {
	for {
		c.turns.turn(TurnFrontier, c.opt.Now())
		if c.stopped == "" && c.marginal.poor {
			c.stopped = StopMinHarvest
		}
		wake, err := c.leaseAll()
		if err != nil {
			return err
		}
		if c.busy == 0 && (c.stopped != "" || wake.IsZero()) {
			return c.end()
		}
		c.turns.end(c.opt.Now())
		if err := c.take(c.exec.wait(wake)); err != nil {
			return err
		}
	}
}

// take takes in what has happened.
func (c *Crawler) take(e event) error {
	switch e.what {
	case jobEnded:
		c.turns.begin(TurnJournal, c.network.Beat()) // before what failed meanwhile is counted
		return c.commit(e.outcome)
	case ownerAsked:
		c.turns.begin(TurnJournal, c.opt.Now())
		return e.request.answer()
	case timeToLease:
		c.turns.begin(TurnFrontier, c.opt.Now())
	case tick:
		c.turns.begin(TurnFrontier, c.network.Tick())
		c.opt.Progress(c.progress())
	case deadline:
		c.stopped = StopMaxTime
	case interrupt:
		c.stopped = StopInterrupted
	}
	return nil
}

// end journals what is left to tell once nothing is in flight.
func (c *Crawler) end() error {
	c.sendHome()
	if c.stopped == "" {
		c.stopped = StopEmpty
		c.waitUntil, _ = c.frontier.Wake()
	}
	if (c.stopped == StopEmpty || c.stopped == StopMaxTime) && c.totals.nothingFetched() {
		c.stopped = StopNothing
	}
	c.opt.Progress(c.progress())
	if err := c.commit(nil); err != nil {
		return err
	}
	return c.settle()
}
