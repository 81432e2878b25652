package crawler

import (
	"context"
	"errors"
	"syscall"
	"time"

	"fossick/crawler/frontier"
	"fossick/crawler/hosts"
	"fossick/crawler/journal"
	"fossick/graph/orders"
	"fossick/store"
)

// Crawler is one session of a crawl. Make it with New and call Run once. It is the owner's
// loop; what belongs to the owner is in types that own a part of it each.
type Crawler struct {
	opt     Options
	journal journal.Journal
	reader  *reader
	inbox   *inbox

	// What follows belongs to the owner, the goroutine of Run.
	totals    *running
	hosts     *hosts.Table
	queue     *queue
	endings   *endings
	marks     *Book
	flight    *flight
	outages   *outages
	revisits  *revisits
	arrivals  *arrivals
	leases    *leases
	exchanges *settlement
	turns     *meter
	stopped   Stop      // set: no more leases
	waitUntil time.Time // set at the end: all that is queued rests so long at least
}

// New prepares a crawl of opt.Store: a new one begins with the seeds, one with a
// history goes on where it ended.
func New(opt Options) (*Crawler, error) {
	if err := opt.complete(); err != nil {
		return nil, err
	}
	var err error
	if opt.Scope.Forgotten, err = store.ForgetsOf(opt.Store); err != nil {
		return nil, err
	}
	disk := journal.NewDisk(opt.Store)
	if opt.Replicate {
		disk.Replicate(opt.ReplicateBodies)
	}
	c, err := newCrawler(opt, disk)
	if err != nil {
		return nil, err
	}
	if t, ok := opt.Scorer.(Teller); ok && opt.Sites != nil {
		t.Share(opt.ours) // also what it learns from pages of sessions before
	}
	if err := c.open(); err != nil {
		return nil, errors.Join(err, c.leases.frontier.Close())
	}
	if opt.Sites != nil {
		if err := c.marks.Times.recall(opt.Store); err != nil {
			return nil, errors.Join(err, c.leases.frontier.Close())
		}
	}
	return c, nil
}

// newCrawler returns a crawl with an empty queue; opt is complete. A crawl without a Store
// has no past.
func newCrawler(opt Options, j journal.Journal) (*Crawler, error) {
	parts := orders.Parts(opt.Ordering)
	scored, _ := orders.Scored(opt.Ordering)
	passes := newRescore(opt.Scorer, parts[scored])
	var compress func([]byte) []byte
	var body func(uint64) ([]byte, error)
	var seen func(store.ID) (int64, error)
	if opt.Store != nil {
		compress, body, seen = opt.Store.Compress, opt.Store.Body, opt.Store.URLs().Seen
	}
	before, err := j.Counts()
	if err != nil {
		return nil, err
	}
	opt.Frontier.Orders = len(parts)
	f, err := frontier.New(opt.Frontier)
	if err != nil {
		return nil, err
	}
	c := &Crawler{opt: opt, journal: j, inbox: newInbox(), marks: NewBook(opt.Store, opt.URLs), totals: newTotals(opt.Now), turns: newMeter(opt.Now)}
	book := hosts.NewChances()
	network, traps, maps := hosts.NewNetwork(opt.Now, opt.Log), hosts.NewTraps(opt.FollowTraps, opt.Log), hosts.NewRules(opt.Sitemaps, opt.MaxSitemapURLs, opt.URLs)
	c.reader = newReading(readingOptions{
		URLs: opt.URLs, Scope: opt.Scope, Scorer: opt.Scorer, Threshold: opt.Threshold, FollowTraps: opt.FollowTraps, KeepNear: opt.KeepNear,
		Now: opt.Now, Log: opt.Log, Compress: compress, Body: body, Seen: seen, Text: opt.Text, KeepVersions: opt.KeepVersions, Earlier: before.Pages > 0,
	}, j)
	addresses := newAddresses(&c.opt, c.totals)
	c.hosts = hosts.New(hosts.Options{Agent: opt.Agent, Delay: opt.Delay, MaxPerHost: opt.MaxPerHost, MaxPerSite: opt.MaxPerSite, Now: opt.Now, Fold: addresses.fold}, j, f, network, traps)
	addresses.hosts = c.hosts
	c.queue = newQueue(options{
		Scorer: opt.Scorer, Ordering: opt.Ordering, Scope: opt.Scope, URLs: opt.URLs, Store: opt.Store, Revisits: opt.Revisits != nil, NewPages: opt.NewPages, Sites: opt.Sites, Now: opt.Now, RefetchLost: opt.RefetchLost,
	}, opt.Seeds, j, f, c.totals, c.hosts, passes, book)
	c.endings = newEndings(c.queue)
	newcomers := &newcomers{Newcomers: hosts.NewNewcomers(opt.Workers), now: opt.Now, most: newcomersWaiting * opt.Workers, frontier: f, queue: c.queue}
	c.flight = &flight{workers: opt.Workers, hosts: c.hosts, newcomers: newcomers}
	if opt.Sites != nil {
		c.flight.jobs = map[*workJob]struct{}{}
	}
	c.outages = &outages{opt: &c.opt, network: network, journal: j, frontier: f, totals: c.totals, hosts: c.hosts, queue: c.queue, flight: c.flight, chances: book}
	others := newAcross(c.queue)
	contact := &contact{opt: &c.opt, network: network, frontier: f, totals: c.totals, hosts: c.hosts, queue: c.queue, across: others, endings: c.endings}
	turns := &sitemapTurns{opt: &c.opt, rules: maps, journal: j, frontier: f, totals: c.totals, hosts: c.hosts, queue: c.queue, across: others, contact: contact, flight: c.flight}
	c.arrivals = &arrivals{opt: &c.opt, totals: c.totals, hosts: c.hosts, traps: traps, queue: c.queue, endings: c.endings, marks: c.marks, latest: newLatest(opt.Workers), harvest: NewWatch(opt.MinHarvest),
		duplicates: &duplicates{opt: &c.opt, totals: c.totals, hosts: c.hosts, traps: traps, endings: c.endings}}
	c.revisits = &revisits{opt: &c.opt, frontier: f, totals: c.totals, hosts: c.hosts, queue: c.queue, endings: c.endings, contact: contact, arrivals: c.arrivals, chances: book,
		news: &siteNews{opt: &c.opt, frontier: f, totals: c.totals, hosts: c.hosts, queue: c.queue}}
	c.leases = &leases{opt: &c.opt, journal: j, frontier: f, totals: c.totals, hosts: c.hosts, traps: traps, queue: c.queue, across: others,
		contact: contact, sitemaps: turns, revisits: c.revisits, outages: c.outages, flight: c.flight, turns: c.turns, addresses: addresses,
		choice: newChoice(&c.opt, f, c.totals, c.flight, c.queue)}
	c.exchanges = &settlement{frontier: f, totals: c.totals, hosts: c.hosts, queue: c.queue,
		contact: contact, sitemaps: turns, revisits: c.revisits, arrivals: c.arrivals, outages: c.outages, flight: c.flight, choice: c.leases.choice, chances: book, addresses: addresses}
	return c, nil
}

// open fills the queue: with what the journal tells of, then with the seeds.
func (c *Crawler) open() error {
	if err := c.restore(); err != nil {
		return err
	}
	if err := c.queue.plant(c.opt.Seeds); err != nil {
		return err
	}
	if c.opt.Sites == nil {
		c.opt.Seeds = nil // a million of them are 100 MB, and all are in the journal
	}
	_, err := c.revisits.fill(false)
	return err
}

// Run crawls until a limit is met, the frontier is empty or ctx ends. It returns
// after the last goroutine that it started; what it counted is on disk. When the
// store fails, the error comes with the result so far.
func (c *Crawler) Run(ctx context.Context) (Result, error) {
	p := c.newPool()
	ctx, c.flight.interrupt = context.WithCancel(ctx)
	defer c.flight.interrupt()
	p.begin(ctx)
	return c.run(p)
}

// newPool returns the workers of a real crawl.
func (c *Crawler) newPool() *pool {
	o := &c.opt
	return newPool(workersOptions{Fetcher: o.Fetcher, Workers: o.Workers, MaxTime: o.MaxTime, Grace: o.Grace, Now: o.Now, May: o.may()},
		c.reader, c.leases.sitemaps.rules, c.inbox)
}

// run crawls with an executor that has begun.
func (c *Crawler) run(exec executor) (Result, error) {
	c.flight.exec = exec
	c.totals.begin()
	err := c.own()
	c.inbox.End()
	exec.End(err != nil)
	if err != nil {
		c.stopped = StopError
		if errors.Is(err, store.ErrDiskFull) || errors.Is(err, syscall.ENOSPC) {
			c.stopped = stopDiskFull
		}
		// What was counted after the last commit does not count.
		if counts, readErr := c.journal.Counts(); readErr == nil {
			c.totals.lost(counts)
		}
	}
	err = errors.Join(err, c.leases.frontier.Close())
	outages, _, outage := c.outages.network.Outages()
	return Result{
		Counts: *c.totals.Counts(), Hosts: c.hosts.Gave(), Stopped: c.stopped, WaitUntil: c.waitUntil,
		Outages: outages, OutageTime: outage, Next: c.arrivals.harvest.Estimate(),
		Refreshed: c.revisits.session.RefreshCounts, News: c.revisits.news.session, Attempts: c.totals.Attempts(),
	}, err
}

// own is the owner's loop.
func (c *Crawler) own() error {
	for {
		c.turns.turn(turnsFrontier, c.opt.Now())
		wake, err := c.lease()
		if err != nil {
			return err
		}
		if c.flight.busy == 0 && (c.stopped != "" || wake.IsZero() && c.opt.Sites == nil) {
			return c.end()
		}
		c.turns.End(c.opt.Now())
		if err := c.take(c.flight.exec.Wait(wake)); err != nil {
			return err
		}
	}
}

// lease hands out jobs, and journals in between what ends without one. It returns when the
// next host has rested; the zero time when waiting for that would bring nothing.
func (c *Crawler) lease() (wake time.Time, err error) {
	c.leases.begin()
	for c.stopped == "" {
		if c.arrivals.harvest.Poor() {
			c.stopped = StopMinHarvest
			break
		}
		if wake, c.stopped, err = c.leases.leaseAll(); err != nil || !c.leases.full() {
			return wake, err
		}
		if err := c.commit(nil); err != nil {
			return time.Time{}, err
		}
	}
	return time.Time{}, nil
}

// take takes in what has happened.
func (c *Crawler) take(e event) error {
	switch e.What {
	case jobEnded:
		c.turns.begin(turnsJournal, c.outages.network.Beat()) // before what failed meanwhile is counted
		return c.commit(e.Outcome)
	case ownerAsked:
		c.turns.begin(turnsJournal, c.opt.Now())
		return e.Request.answer()
	case timeToLease:
		c.turns.begin(turnsFrontier, c.opt.Now())
	case tick:
		c.turns.begin(turnsFrontier, c.outages.network.Tick())
		c.opt.Progress(c.progress())
	case deadline:
		c.stopped = StopMaxTime
	case interrupt:
		if c.stopped != StopForget {
			c.stopped = StopInterrupted
		}
	}
	return nil
}

// end journals what is left to tell once nothing is in flight.
func (c *Crawler) end() error {
	c.flight.newcomers.sendHome()
	if c.stopped == "" {
		c.stopped = StopEmpty
		if r, ok := c.opt.Revisits.(counted); ok && r.Done() {
			c.stopped = stopRounds
		}
		c.waitUntil, _ = c.leases.frontier.Wake()
	}
	if (c.stopped == StopEmpty || c.stopped == StopMaxTime) && c.totals.nothingFetched() {
		c.stopped = StopNothing
	}
	c.opt.Progress(c.progress())
	if err := c.commit(nil); err != nil {
		return err
	}
	if err := c.keepChances(true); err != nil {
		return err
	}
	return c.queue.settle()
}
