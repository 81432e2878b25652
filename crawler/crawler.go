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

// Crawler is one session of a crawl. Make it with New and call Run once. The owner, which is
// Run's goroutine, alone uses all fields but opt, reader and inbox.
type Crawler struct {
	opt     Options
	journal journal.Journal
	reader  *reader
	inbox   *inbox

	// Waiting URLs, and the jobs under way.
	frontier *frontier.Frontier
	queue    *queue
	choice   *choice
	flight   *flight
	skips    []skip // leased URLs that end without a request, not yet journalled

	// Hosts, and this machine's network.
	hosts   *hosts.Table
	traps   *hosts.TrapDetector
	network *hosts.Network
	chances *hosts.Chances

	// Sitemaps.
	rules hosts.SitemapRules
	left  []left // hosts with unread sitemaps; nil until the queue is empty

	// Revisits of stored pages.
	refreshed     RefreshCounts
	revisitsOver  bool      // all revisits are done, and the queue follows
	revisitsAsked bool      // Options.Revisits had no page when asked last
	revisitsAgain time.Time // when it may have one; zero: when the frontier is idle
	newsClaims    newsClaims
	news          NewsCounts

	// Addresses of hosts, which several agents share.
	addressClaims   claims
	addressesTold   page.Recent[struct{}] // hosts whose address was announced
	addressesShared page.Recent[[]uint16] // parts with sites at an address

	// Results.
	totals    *running
	marks     *Book
	latest    *latest
	harvest   Watch
	turns     *meter
	stopped   Stop      // if set, nothing more is leased
	waitUntil time.Time // when the first host with URLs is rested, set at the end
}

// New prepares a crawl of opt.Store. A new store begins with the seeds; another one goes on
// where it ended.
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
	if t, ok := opt.Scorer.(Learner); ok && opt.Sites != nil {
		t.Share(opt.ours) // includes what it learns from the pages of earlier sessions
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

// newCrawler returns a crawl with an empty queue; opt is complete.
func newCrawler(opt Options, j journal.Journal) (*Crawler, error) {
	parts := orders.Parts(opt.Ordering)
	scored, _ := orders.Scored(opt.Ordering)
	passes := newPasses(opt.Scorer, parts[scored])
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
	c.reader = newReader(&c.opt, before.Pages > 0, j)
	c.hosts = hosts.New(hosts.Options{Agent: opt.Agent, Delay: opt.Delay, MaxPerHost: opt.MaxPerHost, MaxPerSite: opt.MaxPerSite, Now: opt.Now, Fold: c.foldAddress}, j, f, c.network, c.traps)
	c.queue = newQueue(&c.opt, j, f, c.totals, c.hosts, passes, c.chances)
	c.flight = &flight{workers: opt.Workers, hosts: c.hosts, newcomers: &newcomers{Newcomers: hosts.NewNewcomers(opt.Workers), now: opt.Now, most: newcomersWaiting * opt.Workers, frontier: f, queue: c.queue}}
	if opt.Sites != nil {
		c.flight.jobs = map[*job]struct{}{}
	}
	c.choice = newChoice(&c.opt, f, c.totals, c.flight, c.queue)
	return c, nil
}

// open fills the queue from the journal, then with the seeds.
func (c *Crawler) open() error {
	if err := c.restore(); err != nil {
		return err
	}
	if err := c.queue.enqueueSeeds(c.opt.Seeds); err != nil {
		return err
	}
	if c.opt.Sites == nil {
		c.opt.Seeds = nil // a million of them are 100 MB, and all are in the journal
	}
	_, err := c.fillRevisits(false)
	return err
}

// Run crawls until a limit is met, the frontier is empty or ctx ends. It returns after the
// last goroutine that it started, with all counts on disk. If the store fails, the error comes
// with the result so far.
func (c *Crawler) Run(ctx context.Context) (Result, error) {
	p := newPool(&c.opt, c.reader, c.rules, c.inbox)
	ctx, c.flight.interrupt = context.WithCancel(ctx)
	defer c.flight.interrupt()
	p.begin(ctx)
	return c.run(p)
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
		Refreshed: c.refreshed, News: c.news, Attempts: c.totals.Attempts(),
	}, err
}

// own is the owner's loop.
func (c *Crawler) own() error {
	for {
		c.turns.turn(partFrontier, c.opt.Now())
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

// lease starts jobs, and journals URLs that end without one. It returns when the next host is
// rested; zero if waiting for that cannot help.
func (c *Crawler) lease() (wake time.Time, err error) {
	c.flight.newcomers.putOff = 0
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

// take handles one event.
func (c *Crawler) take(e event) error {
	switch e.What {
	case jobEnded:
		c.turns.begin(partJournal, c.network.Beat()) // before failures since then are counted
		return c.commit(e.Outcome)
	case ownerAsked:
		c.turns.begin(partJournal, c.opt.Now())
		return e.Request.answer()
	case timeToLease:
		c.turns.begin(partFrontier, c.opt.Now())
	case tick:
		c.turns.begin(partFrontier, c.network.Tick())
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

// end finishes the session once no job is under way.
func (c *Crawler) end() error {
	c.flight.newcomers.requeueAll()
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

// An executor carries out jobs. All events reach the owner through Wait, so a virtual executor
// also controls the time. Only the owner calls its methods. Each started job yields one final
// outcome.
type executor interface {
	// Start begins a job. Without the slow ones, no more jobs are under way than there are
	// workers.
	Start(j *job)
	// Wait returns the next event, at the wake time at the latest; the zero time is never.
	Wait(wake time.Time) event
	// Ready returns an outcome that is already there, or nil.
	Ready() *jobResult
	// End returns after the last job, whose outcome is lost. After an error of the crawl it
	// aborts all jobs.
	End(broken bool)
}

// ErrEnded reports that a crawl has ended and takes no more requests.
var ErrEnded = errors.New("the crawl has just ended")

// inbox passes requests to the owner. It is safe for concurrent use.
type inbox struct {
	requests chan request
	ended    chan struct{} // closed when the owner has stopped
}

func newInbox() *inbox { return &inbox{make(chan request), make(chan struct{})} }

// End refuses all further requests.
func (in *inbox) End() { close(in.ended) }

// request is a function that the owner runs in its turn. The first error of do goes to the
// caller; the second one also ends the crawl.
type request struct {
	do   func() (error, error)
	done chan error
}

// inTurn has the owner run do, and waits for it.
func (in *inbox) inTurn(ctx context.Context, do func() (error, error)) error {
	r := request{do, make(chan error, 1)}
	select {
	case in.requests <- r:
	case <-in.ended:
		return ErrEnded
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return <-r.done
}

// answer runs the request; its error ends the crawl.
func (r request) answer() error {
	refused, err := r.do()
	r.done <- errors.Join(refused, err)
	return err
}

// flight counts the jobs under way, and starts them.
type flight struct {
	exec      executor
	interrupt func() // ends the session after Options.Grace
	hosts     *hosts.Table
	newcomers *newcomers
	workers   int
	busy      int               // jobs
	slow      int               // of these, those that no longer occupy a worker
	pages     uint64            // of the jobs, those that fetch a new page
	jobs      map[*job]struct{} // under way; nil without Options.Sites
}

// start begins a job; nil is none.
func (f *flight) start(j *job) {
	if j != nil {
		f.busy++
		j.hold(1)
		j.Addr = j.asked().Addr()
		f.newcomers.begin(j)
		if j.task == taskPage && j.Old == nil {
			f.pages++
			f.hosts.CountSite(j.Host, 1)
		}
		if f.jobs != nil {
			f.jobs[j] = struct{}{}
		}
		f.exec.Start(j)
	}
}

// landed removes an ended job.
func (f *flight) landed(o *jobResult) {
	f.busy--
	delete(f.jobs, o.job)
	f.newcomers.End(&o.Ticket)
	if o.Late {
		f.slow--
	}
	o.hold(-1)
	if o.task == taskPage && o.Old == nil {
		f.pages--
		f.hosts.CountSite(o.Host, -1) // counted again when it is stored
	}
}

// aside records that a job no longer occupies a worker.
func (f *flight) aside(o *jobResult) {
	f.slow++
	f.newcomers.Aside(&o.Ticket)
}

// free reports whether a worker is free.
func (f *flight) free() bool { return f.busy-f.slow < f.workers }

// elsewhere counts the jobs at hosts that belong to another agent by now.
func (f *flight) elsewhere(sites Sites) (n int) {
	for j := range f.jobs {
		if !sites.Mine(sites.Part("http://" + j.asked().Name + "/")) {
			n++
		}
	}
	return n
}

// commit journals first, which may be nil, all outcomes that are ready, and the skipped URLs,
// in one batch or a few. No URL is leased between the first change in memory and the commit,
// so memory is never ahead of the disk for an observer.
func (c *Crawler) commit(first *jobResult) error {
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
	if err := c.undoMisses(c.finish); err != nil {
		return err
	}
	if err := c.keepChances(false); err != nil {
		return err
	}
	return c.rescore()
}

// rescore gives the queue new priorities once the scorer has learned enough. An agent that
// stores no pages needs this too, because it learns from other agents.
func (c *Crawler) rescore() error { return c.turns.timed(partRescore, c.queue.learned) }

func (c *Crawler) finish(b journal.Batch) error {
	if err := c.turns.timed(Commit, func() error { return c.totals.Commit(b) }); err != nil {
		return err
	}
	c.reader.Stored(c.totals.lastPage())
	c.opt.Committed()
	return nil
}

// keepChances journals what was learned of failures when that is due; last says that the
// session ends.
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

// restore puts back the totals, the queue and the rests from the store.
func (c *Crawler) restore() error {
	counts, err := c.journal.Counts()
	if err != nil {
		return err
	}
	c.totals.restore(counts)
	c.reportSpending()
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
		if err := c.queue.reopen(StateLost, func(*store.Ended) bool { return true }); err != nil {
			return err
		}
	}
	if c.opt.KeepNear {
		if err := c.queue.reopen(fetch.StateDuplicate, func(e *store.Ended) bool { return e.Resemblance > 0 }); err != nil {
			return err
		}
	}
	if !c.queue.held {
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

// pageRelevant reports whether a page was relevant when it was stored.
func (c *Crawler) pageRelevant(number uint64) (bool, error) {
	p, err := c.opt.Store.Page(number)
	if err != nil {
		return false, err
	}
	return p.Relevant, nil
}
