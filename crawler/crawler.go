package crawler

import (
	"context"
	"errors"
	"hash/maphash"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"fossick/frontier"
	"fossick/store"
)

// Crawler is one session of a crawl. Make it with New and call Run once.
type Crawler struct {
	opt      Options
	store    *store.Store
	jobs     chan *job     // owner → workers; the owner closes it
	outcomes chan *outcome // workers → owner
	// cores lets no more pages be parsed and scored at once than there are cores:
	// more would only divide the caches of words and stems.
	cores              chan struct{}
	workers            sync.WaitGroup
	lookups, exchanges *room // for what goes on beside the workers
	// storedPages are the pages that a look-up which begins now can see.
	storedPages atomic.Uint64

	// What follows belongs to the owner, the goroutine of Run.
	seed         maphash.Seed // of looks
	frontier     *frontier.Frontier
	hosts        hostCache
	resolved     map[frontier.Host]int64 // hosts whose address was looked up, and when; Unix seconds
	kinds        linkKinds
	places       places
	latest       latest
	farms        farms
	budgets      budgets
	refresh      refreshing
	sites        map[string]uint64 // pages a site, those in flight included; see countSite
	counts       store.Counts
	newcomers    newcomers
	marginal     marginal
	busy         int    // jobs in flight
	slow         int    // of these, those that go on beside the workers
	pagesBusy    uint64 // of these, pages
	skips        []skip // URLs that end without an exchange, to be journalled
	stopped      Stop   // set: no more leases
	began        time.Time
	pagesBefore  uint64
	statesBefore map[string]uint64 // URLs by state when the session began
	elapsedPast  time.Duration
	attempts     Attempts
	left         []left // hosts with sitemaps and no URL that waits; nil until the queue is empty
	gaveHosts    int
	knownHosts   int // with a record in the store
	rescored     rescoring
	network      network
	dead         map[string]time.Time // addresses with port at which a host was given up → until when that is remembered
	beatAt       time.Time            // the owner ran last
	waitUntil    time.Time            // set at the end: all that is queued rests so long at least
	marks        map[store.ID]bool    // what people said of URLs: on topic or not
	turns        turnMeter

	requests chan request  // to the owner, from others than workers; see inTurn
	ended    chan struct{} // closed when the owner answers no more
}

// New prepares a crawl of opt.Store: a new one begins with the seeds, one with a
// history goes on where it ended.
func New(opt Options) (*Crawler, error) {
	if err := opt.complete(); err != nil {
		return nil, err
	}
	c := &Crawler{
		opt: opt, store: opt.Store,
		jobs:      make(chan *job, opt.Workers), // never full: at most Workers are in flight
		outcomes:  make(chan *outcome, opt.Workers),
		lookups:   newRoom(lookupPatience, slowLookups*opt.Workers, opt.Now),
		exchanges: newRoom(exchangePatience, slowExchanges*opt.Workers, opt.Now),
		cores:     make(chan struct{}, runtime.GOMAXPROCS(0)),
		seed:      maphash.MakeSeed(),
		kinds:     newLinkKinds(opt.Ordering, opt.Seeds),
		hosts:     newHostCache(hostsInMemory),
		resolved:  map[frontier.Host]int64{},
		places:    make(places, placesInMemory),
		sites:     map[string]uint64{},
		dead:      map[string]time.Time{},
		marks:     map[store.ID]bool{},
		requests:  make(chan request),
		ended:     make(chan struct{}),
		newcomers: newNewcomers(opt.Workers),
		rescored:  rescoring{atOnce: rescoreAtOnce},
	}
	var err error
	opt.Frontier.Expect = c.rescored.expect
	if c.frontier, err = frontier.New(opt.Frontier); err != nil {
		return nil, err
	}
	c.store.FilterSeen()
	c.refresh.on = opt.Refresh > 0
	if err = c.restore(); err == nil {
		err = c.plant(opt.Seeds)
		c.opt.Seeds = nil // a million of them are 100 MB, and all are in the store
	}
	if err == nil {
		err = c.beginRefresh()
	}
	if err != nil {
		return nil, errors.Join(err, c.frontier.Close())
	}
	return c, nil
}

// Run crawls until a limit is met, the frontier is empty or ctx ends. It returns
// after the last goroutine that it started; what it counted is on disk. When the
// store fails, the error comes with the result so far.
func (c *Crawler) Run(ctx context.Context) (Result, error) {
	// Exchanges outlive ctx by the grace, so that an interrupt loses no answer.
	work, abort := context.WithCancel(context.WithoutCancel(ctx))
	defer abort()
	for range c.opt.Workers {
		c.workers.Go(func() { c.work(work) })
	}
	c.began = c.opt.Now()
	err := c.own(ctx, abort)
	close(c.ended)
	close(c.jobs)
	if err != nil {
		abort()
		c.stopped = StopError
		if errors.Is(err, store.ErrDiskFull) || errors.Is(err, syscall.ENOSPC) {
			c.stopped = StopDiskFull
		}
	}
	c.drain()
	if err != nil { // what was counted after the last commit does not count
		if counts, readErr := c.store.Counts(); readErr == nil {
			c.counts = counts
		}
	}
	err = errors.Join(err, c.frontier.Close())
	_, outage := c.network.outage(c.opt.Now())
	return Result{
		Counts: c.counts, Hosts: c.gaveHosts, Stopped: c.stopped, WaitUntil: c.waitUntil,
		Outages: c.network.outages, OutageTime: outage, Next: c.marginal.estimate(),
		Refreshed: c.refresh.Refreshed, Attempts: c.attempted(),
	}, err
}

// drain waits for the workers. What they still send nobody wants.
func (c *Crawler) drain() {
	done := make(chan struct{})
	go func() {
		c.workers.Wait()
		close(done)
	}()
	for {
		select {
		case <-c.outcomes:
		case <-done:
			return
		}
	}
}

// own is the owner's loop.
func (c *Crawler) own(ctx context.Context, abort func()) error {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	var deadline, grace <-chan time.Time
	if c.opt.MaxTime > 0 {
		deadline = time.After(c.opt.MaxTime)
	}
	interrupted := ctx.Done()
	for {
		c.turns.turn(TurnFrontier, c.opt.Now())
		wake, err := c.leaseAll()
		if err != nil {
			return err
		}
		if c.busy == 0 && (c.stopped != "" || wake == nil) {
			return c.end()
		}
		c.turns.end(c.opt.Now())
		select {
		case o := <-c.outcomes:
			c.turns.begin(TurnJournal, c.beat()) // before what failed meanwhile is counted
			err = c.commit(o)
		case r := <-c.requests:
			c.turns.begin(TurnJournal, c.opt.Now())
			err = c.answer(r)
		case <-wake:
			c.turns.begin(TurnFrontier, c.opt.Now())
		case <-tick.C:
			c.turns.begin(TurnFrontier, c.beat())
			c.exchanges.tidy()
			c.opt.Progress(c.progress())
		case <-deadline:
			c.stopped = StopMaxTime
			grace = time.After(c.opt.Grace)
		case <-interrupted:
			c.stopped = StopInterrupted
			interrupted = nil
			grace = time.After(c.opt.Grace)
		case <-grace:
			abort()
		}
		if err != nil {
			return err
		}
	}
}

// end journals what is left to tell once nothing is in flight.
func (c *Crawler) end() error {
	c.sendHome()
	if c.stopped == "" {
		c.stopped = StopEmpty
		c.waitUntil, _ = c.frontier.Wake()
	}
	if (c.stopped == StopEmpty || c.stopped == StopMaxTime) && c.nothingFetched() {
		c.stopped = StopNothing
	}
	c.opt.Progress(c.progress())
	if err := c.commit(nil); err != nil {
		return err
	}
	return c.settle()
}
