package crawler

import (
	"context"
	"errors"
	"syscall"
	"time"

	"fossick/crawler/fetch"
	"fossick/crawler/frontier"
	"fossick/crawler/hosts"
	"fossick/crawler/journal"
	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/store"
)

// Crawler is one session of a crawl. Make it with New and call Run once. All but opt,
// reader and inbox belong to the owner, the goroutine of Run.
type Crawler struct {
	opt     Options
	journal journal.Journal
	reader  *reader
	inbox   *inbox

	// What waits, and the jobs under way.
	frontier *frontier.Frontier
	queue    *queue
	choice   *choice
	flight   *flight
	skips    []skip // leased URLs that need no request, to be journalled

	// What is known of hosts, and of our own network.
	hosts   *hosts.Table
	traps   *hosts.TrapDetector
	network *hosts.Network
	chances *hosts.Chances

	// Sitemaps.
	rules hosts.SitemapRules
	left  []left // hosts with sitemaps and no URL that waits; nil until the queue is empty

	// Stored pages that are asked for again.
	refreshed     session
	revisitsOver  bool      // the queue has its turn
	revisitsAsked bool      // Options.Revisits has no page by now
	revisitsAgain time.Time // when it may have one; zero: not before the frontier is idle
	newsClaims    sitenewsClaims
	news          NewsCounts

	// Addresses of hosts, which several agents share.
	addressClaims   claims
	addressesTold   page.Recent[struct{}] // hosts at their addresses that the other agents know
	addressesShared page.Recent[[]uint16] // parts with sites at an address, where there are several

	// Results.
	totals    *running
	marks     *Book
	latest    *latest
	harvest   Watch
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
		return nil, errors.Join(err, c.frontier.Close())
	}
	if opt.Sites != nil {
		if err := c.marks.Times.recall(opt.Store); err != nil {
			return nil, errors.Join(err, c.frontier.Close())
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
	c := &Crawler{
		opt: opt, journal: j, inbox: newInbox(), frontier: f,
		totals: newTotals(opt.Now), turns: newMeter(opt.Now), marks: NewBook(opt.Store, opt.URLs), latest: newLatest(opt.Workers), harvest: NewWatch(opt.MinHarvest),
		chances: hosts.NewChances(), network: hosts.NewNetwork(opt.Now, opt.Log), traps: hosts.NewTrapDetector(opt.FollowTraps, opt.Log), rules: hosts.NewSitemapRules(opt.Sitemaps, opt.MaxSitemapURLs, opt.URLs),
		addressesTold: page.NewRecent[struct{}](addressesInMemory), addressesShared: page.NewRecent[[]uint16](addressesInMemory),
	}
	c.reader = newReading(readingOptions{
		URLs: opt.URLs, Scope: opt.Scope, Scorer: opt.Scorer, Threshold: opt.Threshold, FollowTraps: opt.FollowTraps, KeepNear: opt.KeepNear,
		Now: opt.Now, Log: opt.Log, Compress: compress, Body: body, Seen: seen, Text: opt.Text, KeepVersions: opt.KeepVersions, Earlier: before.Pages > 0,
	}, j)
	c.hosts = hosts.New(hosts.Options{Agent: opt.Agent, Delay: opt.Delay, MaxPerHost: opt.MaxPerHost, MaxPerSite: opt.MaxPerSite, Now: opt.Now, Fold: c.foldAddress}, j, f, c.network, c.traps)
	c.queue = newQueue(options{
		Scorer: opt.Scorer, Ordering: opt.Ordering, Scope: opt.Scope, URLs: opt.URLs, Store: opt.Store, Revisits: opt.Revisits != nil, NewPages: opt.NewPages, Sites: opt.Sites, Now: opt.Now, RefetchLost: opt.RefetchLost,
	}, opt.Seeds, j, f, c.totals, c.hosts, passes, c.chances)
	c.flight = &flight{workers: opt.Workers, hosts: c.hosts, newcomers: &newcomers{Newcomers: hosts.NewNewcomers(opt.Workers), now: opt.Now, most: newcomersWaiting * opt.Workers, frontier: f, queue: c.queue}}
	if opt.Sites != nil {
		c.flight.jobs = map[*workJob]struct{}{}
	}
	c.choice = newChoice(&c.opt, f, c.totals, c.flight, c.queue)
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
	_, err := c.fillRevisits(false)
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
		c.reader, c.rules, c.inbox)
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
	err = errors.Join(err, c.frontier.Close())
	outages, _, outage := c.network.Outages()
	return Result{
		Counts: *c.totals.Counts(), Hosts: c.hosts.Gave(), Stopped: c.stopped, WaitUntil: c.waitUntil,
		Outages: outages, OutageTime: outage, Next: c.harvest.Estimate(),
		Refreshed: c.refreshed.RefreshCounts, News: c.news, Attempts: c.totals.Attempts(),
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
	c.beginLeases()
	for c.stopped == "" {
		if c.harvest.Poor() {
			c.stopped = StopMinHarvest
			break
		}
		if wake, c.stopped, err = c.leaseAll(); err != nil || !c.skipsFull() {
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
		c.turns.begin(turnsJournal, c.network.Beat()) // before what failed meanwhile is counted
		return c.commit(e.Outcome)
	case ownerAsked:
		c.turns.begin(turnsJournal, c.opt.Now())
		return e.Request.answer()
	case timeToLease:
		c.turns.begin(turnsFrontier, c.opt.Now())
	case tick:
		c.turns.begin(turnsFrontier, c.network.Tick())
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
		c.waitUntil, _ = c.frontier.Wake()
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

// An executor carries out jobs, and it is the owner's time: all that happens to a crawl
// comes through Wait. Its methods are for the owner alone.
//
// Of each job that was started comes one outcome, the last of those that name it.
type executor interface {
	// Start has a job carried out. No more are under way than there are workers, those
	// that told to be slow left aside.
	Start(j *workJob)
	// Wait returns what happens next, at the wake time at the latest; the zero time is
	// never.
	Wait(wake time.Time) event
	// Ready returns an outcome that there is already, nil when there is none.
	Ready() *outcome
	// End returns after the last job; what comes of those under way is lost. A crawl that
	// is broken waits for none.
	End(broken bool)
}

// ErrEnded reports that a crawl cannot take anything in any more.
var ErrEnded = errors.New("the crawl has just ended")

// inbox is where others than the executor ask the owner to do something. Safe for
// concurrent use.
type inbox struct {
	requests chan request
	ended    chan struct{} // closed when the owner answers no more
}

// newInbox returns an inbox of an owner that is at work.
func newInbox() *inbox { return &inbox{make(chan request), make(chan struct{})} }

// End refuses what is asked from now on.
func (in *inbox) End() { close(in.ended) }

// request is something that the owner is to do in its turn, and where it says how
// that went. do's first error is the asker's, its second ends the crawl.
type request struct {
	do   func() (error, error)
	done chan error
}

// inTurn has the owner do something, and waits for it.
func (in *inbox) inTurn(ctx context.Context, do func() (error, error)) error {
	r := request{do, make(chan error, 1)}
	select {
	case in.requests <- r:
	case <-in.ended:
		return ErrEnded
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return <-r.done // the owner is at it
}

// answer does what was asked; its error ends the crawl.
func (r request) answer() error {
	refused, err := r.do()
	r.done <- errors.Join(refused, err)
	return err
}

// flight counts the jobs under way, and has them carried out.
type flight struct {
	exec      executor
	interrupt func() // ends the session of a real crawl, with the grace for what is under way
	hosts     *hosts.Table
	newcomers *newcomers
	workers   int
	busy      int                   // jobs
	slow      int                   // of these, those that go on beside the workers
	pages     uint64                // of the jobs, those that fetch a new page
	jobs      map[*workJob]struct{} // under way; nil where this agent crawls alone
}

// start has a job carried out; nil is none.
func (f *flight) start(j *workJob) {
	if j != nil {
		f.busy++
		j.hold(1)
		j.Addr = j.asked().Addr()
		f.newcomers.begin(j)
		if j.task == workPage && j.Old == nil {
			f.pages++
			f.hosts.CountSite(j.Host, 1)
		}
		if f.jobs != nil {
			f.jobs[j] = struct{}{}
		}
		f.exec.Start(j)
	}
}

// landed counts a job out that was in flight.
func (f *flight) landed(o *outcome) {
	f.busy--
	delete(f.jobs, o.workJob)
	f.newcomers.End(&o.Ticket)
	if o.Late {
		f.slow--
	}
	o.hold(-1)
	if o.task == workPage && o.Old == nil {
		f.pages--
		f.hosts.CountSite(o.Host, -1) // counted again when it is stored
	}
}

// aside takes note of a job that goes on beside the workers.
func (f *flight) aside(o *outcome) {
	f.slow++
	f.newcomers.Aside(&o.Ticket)
}

// free says whether a worker is.
func (f *flight) free() bool { return f.busy-f.slow < f.workers }

// elsewhere counts the jobs at hosts that are another agent's by now.
func (f *flight) elsewhere(sites Sites) (n int) {
	for j := range f.jobs {
		if !sites.Mine(sites.Part("http://" + j.asked().Name + "/")) {
			n++
		}
	}
	return n
}

// commit journals first and all outcomes that wait behind it, and what was
// skipped, in one batch or a few; first may be nil. Between the first change in
// memory and the commit no URL is leased, so memory is never ahead of the disk
// for anybody to see.
func (c *Crawler) commit(first *outcome) error {
	b := c.journal.Batch()
	defer func() { b.Cancel() }() // of no effect after Commit
	room := func() error {
		if !b.Full() {
			return nil
		}
		err := c.finish(b)
		b = c.journal.Batch()
		return err
	}
	for o := first; o != nil; o = c.flight.exec.Ready() {
		if err := room(); err != nil {
			return err
		}
		if err := c.settle(b, o); err != nil {
			return err
		}
	}
	for _, s := range c.skips {
		if err := room(); err != nil {
			return err
		}
		if err := c.queue.conclude(b, s.id, s.queued, c.queue.outcome(s.state, s.reason)); err != nil {
			return err
		}
	}
	c.skips = c.skips[:0]
	if err := c.finish(b); err != nil {
		return err
	}
	if err := c.takeBackMisses(c.finish); err != nil {
		return err
	}
	if err := c.keepChances(false); err != nil {
		return err
	}
	return c.rescore()
}

// rescore has the queue hear of what the scorer has learned, also from others: an agent that
// stores nothing, since its links are below the price, would offer them as of when it did.
func (c *Crawler) rescore() error { return c.turns.timed(rescore, c.queue.learned) }

func (c *Crawler) finish(b journal.Batch) error {
	if err := c.turns.timed(Commit, func() error { return c.totals.Commit(b) }); err != nil {
		return err
	}
	c.reader.Stored(c.totals.lastPage())
	c.opt.Committed()
	return nil
}

// keepChances journals what was learned of failures, where it is due; last says that the
// session ends. A journal in memory has no later session.
func (c *Crawler) keepChances(last bool) error {
	book := c.chances
	if c.opt.Store == nil || !book.Due(last) {
		return nil
	}
	b := c.journal.Batch()
	defer b.Cancel() // of no effect after Commit
	if err := store.PutChances(journal.Stored(b), book.Kept()); err != nil {
		return err
	}
	return b.Commit(nil)
}

// restore puts back the totals, the queue and the rests that the store tells of.
func (c *Crawler) restore() error {
	counts, err := c.journal.Counts()
	if err != nil {
		return err
	}
	c.totals.restore(counts)
	c.tellPaid()
	if c.totals.URLs() == 0 {
		return nil // a new crawl
	}
	now := c.opt.Now()
	if err := c.chances.Restore(c.opt.Store); err != nil {
		return err
	}
	c.frontier.RestAll(now.Add(c.opt.Delay.Load(0)))
	for record, err := range c.journal.Hosts() {
		if err != nil {
			return err
		}
		h, err := c.hosts.Restore(record, now)
		if err != nil {
			return err
		}
		c.recallHost(h)
		c.chances.Recall(record)
	}
	if c.opt.FollowTraps {
		if err := c.queue.reopen(fetch.StateTrap, func(*store.Ended) bool { return true }); err != nil {
			return err
		}
	}
	if c.opt.RefetchLost {
		if err := c.refetchLost(); err != nil {
			return err
		}
	}
	if c.opt.KeepNear {
		if err := c.queue.reopen(fetch.StateDuplicate, func(e *store.Ended) bool { return e.Resemblance > 0 }); err != nil {
			return err
		}
	}
	if !c.queue.Held() {
		if err := c.queue.restore(); err != nil {
			return err
		}
	}
	if err := c.harvest.restore(int(c.totals.lastPage()), c.pageRelevant); err != nil {
		return err
	}
	learned, err := c.marks.Replay(c.opt.Scorer, c.totals.lastPage())
	if err == nil && learned {
		c.queue.Rescore()
	}
	return err
}

// pageRelevant says whether a page was relevant when it was stored.
func (c *Crawler) pageRelevant(number uint64) (bool, error) {
	p, err := c.opt.Store.Page(number)
	if err != nil {
		return false, err
	}
	return p.Relevant, nil
}
