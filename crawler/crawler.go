package crawler

import (
	"context"
	"errors"
	"iter"
	"math"
	"runtime"
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
// Run's goroutine, alone uses all fields but opt, reader, requests and ended.
type Crawler struct {
	opt      Options
	journal  journal.Journal
	reader   *reader
	exec     executor
	requests chan request  // to the owner
	ended    chan struct{} // closed when the owner has stopped

	// Waiting URLs: queue.go, discover.go, rescore.go.
	frontier *frontier.Frontier
	orders   []orders.Ordering // of the frontier: the parts of a mix, or the only one
	scored   int               // index of the ordering that goes by scores, if any does
	kinds    linkKinds
	passes   *passes
	held     bool     // new URLs wait in the journal alone, behind the stored pages
	outgoing outgoing // links to other agents' sites

	// The best URL, and the price that it must be worth: choice.go, patience.go.
	mix            *orders.Turns // whose turn it is in a mix; nil for one ordering
	fresh          rescorer      // nil: priorities are taken as they are; see nextFrom
	keeper         *Keeper       // nil: the crawl takes the best free URL
	waits          *waits
	allowed        Allowance
	price          float64
	pricedAt       time.Time     // when the price was set
	pricedRequests uint64        // requests at that time
	pricedTaken    int           // URLs taken since then
	priceFor       int           // requests and URLs until the next price
	lastTaken      time.Time     // when the last URL was taken
	before         taking        // the last URL
	pagesTried     uint64        // pages asked for in this session
	cycle          time.Duration // recent mean of an exchange and the rest after it
	exchangeTook   time.Duration // recent mean of the exchange alone

	// Renderings that are worth their seconds: yields.go.
	cores  float64   // of this machine
	paced  time.Time // until when Counts.Yields has the crawl's time; zero at the start
	owed   float64   // seconds of renderings that are not yet part of that
	bid    float64   // score of a link that is good enough to be fetched soon
	bidFor int       // quotes until the next bid
	// takenUp are pages whose rendering was declined, and that are rendered since nothing else is left.
	takenUp map[store.ID]struct{}

	// Jobs under way: lease.go, workers.go.
	interrupt func()              // ends the session after Options.Grace
	until     func(time.Duration) // ends it, in time, after this duration; 0 for never; nil in virtual time
	paused    bool                // nothing is leased; see Change
	jobs      map[*job]struct{}   // under way
	slow      int                 // of these, those that no longer occupy a worker
	fetching  uint64              // of these, those that fetch a new page
	newcomers hosts.Newcomers
	awaiting  []waitingNewcomer // leased newcomers without a place, in order of arrival
	putOff    int               // newcomers put off in this turn
	skips     []skip            // leased URLs that end without a request, not yet journalled

	// Hosts, and this machine's network: robots.go, outages.go, addresses.go.
	hosts           *hosts.Table
	traps           *hosts.TrapDetector
	network         *hosts.Network
	chances         *hosts.Chances
	files           *files                // nil: the ordering does not go by scores alone
	filesPutBack    int                   // since the last job
	lookups         []*lookup             // of hosts that claim their address, in order of their start
	claims          []string              // hosts whose claim is not answered yet
	addressesTold   page.Recent[struct{}] // hosts whose address was announced to other agents
	addressesShared page.Recent[[]uint16] // parts with sites at an address

	// Sitemaps: sitemap.go.
	rules hosts.SitemapRules
	left  []left // hosts with unread sitemaps; nil until the queue is empty

	// Revisits of stored pages: refresh.go, news.go.
	refreshed     RefreshCounts
	revisitsOver  bool      // all revisits are done, and the queue follows
	revisitsAsked bool      // Options.Revisits had no page when asked last
	revisitsAgain time.Time // when it may have one; zero: when the frontier is idle
	newsClaims    newsClaims
	news          NewsCounts

	// Results.
	latest    latest // pages stored last
	marks     *Book
	totals    totals
	harvest   Watch
	turns     meter
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
	if t, ok := opt.Scorer.(Learner); ok && opt.several() {
		t.Share(c.opt.ours) // includes what it learns from the pages of earlier sessions
	}
	err = c.open()
	if err == nil && opt.several() {
		err = c.marks.Times.recall(opt.Store)
	}
	if err != nil {
		return nil, errors.Join(err, c.frontier.Close())
	}
	return c, nil
}

// newCrawler returns a crawl with an empty queue; opt is complete.
func newCrawler(opt Options, j journal.Journal) (*Crawler, error) {
	before, err := j.Counts()
	if err != nil {
		return nil, err
	}
	parts := orders.Parts(opt.Ordering)
	opt.Frontier.Orders = len(parts)
	f, err := frontier.New(opt.Frontier)
	if err != nil {
		return nil, err
	}
	c := &Crawler{
		opt: opt, journal: j, requests: make(chan request), ended: make(chan struct{}),
		frontier: f, orders: parts, kinds: newLinkKinds(opt.Ordering, opt.Seeds), held: opt.Revisits != nil && !opt.NewPages,
		outgoing: newOutgoing(opt.Sites),
		fresh:    secondLook(&opt), waits: newWaits(), allowed: opt.allowance(), price: math.Inf(-1),
		jobs: map[*job]struct{}{}, newcomers: hosts.NewNewcomers(opt.Workers),
		traps: hosts.NewTrapDetector(opt.FollowTraps, opt.Log), network: hosts.NewNetwork(opt.Now, opt.Log), chances: hosts.NewChances(),
		addressesTold: page.NewRecent[struct{}](addressesInMemory), addressesShared: page.NewRecent[[]uint16](addressesInMemory),
		rules:  hosts.NewSitemapRules(opt.Sitemaps, opt.MaxSitemapURLs, opt.URLs),
		latest: latest{room: rememberPages * opt.Workers}, marks: NewBook(opt.Store, opt.URLs),
		paused: opt.Paused, totals: totals{now: opt.Now}, harvest: NewWatch(opt.MinHarvest), turns: meter{now: opt.Now}, cores: float64(runtime.GOMAXPROCS(0)),
	}
	c.scored, _ = orders.Scored(opt.Ordering)
	c.passes = newPasses(opt.Scorer, parts[c.scored])
	if factor := opt.WaitsUpTo(); factor > 1 {
		c.keeper = NewPatience(PatienceOptions{Factor: factor, Chances: c.promises()})
	}
	if m, mixed := opt.Ordering.(*orders.Mix); mixed {
		c.mix = m.Turns()
	} else if orders.ByScore(opt.Ordering) {
		c.files = newFiles()
	}
	c.reader = newReader(&c.opt, before.Pages > 0, j)
	further := 0
	if opt.RenderLeft {
		further = opt.RenderRequests
	}
	c.hosts = hosts.New(hosts.Options{Agent: opt.Agent, Further: further, Delay: opt.Delay, MaxPerHost: opt.MaxPerHost, MaxPerSite: opt.MaxPerSite, Now: opt.Now, Fold: c.foldAddress}, j, f, c.network, c.traps)
	return c, nil
}

// open fills the queue from the journal, then with the seeds.
func (c *Crawler) open() error {
	if err := c.restore(); err != nil {
		return err
	}
	if err := c.queueSeeds(c.opt.Seeds); err != nil {
		return err
	}
	if !c.opt.several() {
		c.opt.Seeds = nil // a million of them are 100 MB, and all are in the journal
	}
	_, err := c.fillRevisits(false)
	return err
}

// Run crawls until a limit is met, the frontier is empty or ctx ends. It returns after the
// last goroutine that it started, with all counts on disk. If the store fails, the error comes
// with the result so far.
func (c *Crawler) Run(ctx context.Context) (Result, error) {
	p := newPool(&c.opt, c.reader, c.rules, c.requests)
	p.lend, p.quote, c.until = c.lend, c.quote, p.until
	ctx, c.interrupt = context.WithCancel(ctx)
	defer c.interrupt()
	p.begin(ctx)
	return c.run(p)
}

// run crawls with an executor that has begun.
func (c *Crawler) run(exec executor) (Result, error) {
	c.exec = exec
	c.totals.begin()
	err := c.own()
	close(c.ended)
	exec.End(err != nil)
	if err != nil {
		c.stopped = StopError
		if errors.Is(err, store.ErrDiskFull) || errors.Is(err, syscall.ENOSPC) {
			c.stopped = stopDiskFull
		}
		// What was counted after the last commit does not count.
		if counts, readErr := c.journal.Counts(); readErr == nil {
			c.totals.Counts = counts
		}
	}
	err = errors.Join(err, c.frontier.Close())
	outages, _, outage := c.network.Outages()
	return Result{
		Counts: c.totals.Counts, Hosts: c.hosts.Gave(), Stopped: c.stopped, WaitUntil: c.waitUntil,
		Outages: outages, OutageTime: outage, Next: c.harvest.Estimate(),
		Refreshed: c.refreshed, News: c.news, Attempts: c.totals.sessionAttempts(),
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
		if len(c.jobs) == 0 && (c.stopped != "" || wake.IsZero() && !c.paused && !c.opt.several()) {
			return c.end()
		}
		c.turns.end(c.opt.Now())
		if err := c.take(c.exec.Wait(wake)); err != nil {
			return err
		}
	}
}

// lease starts jobs, and journals URLs that end without one. It returns when the next host is
// rested; zero if waiting for that cannot help.
func (c *Crawler) lease() (wake time.Time, err error) {
	c.putOff = 0
	for c.stopped == "" && !c.paused {
		if c.harvest.Poor() {
			c.stopped = StopMinHarvest
			break
		}
		if wake, c.stopped, err = c.leaseAll(); err != nil || len(c.skips) < maxSkips {
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
		refused, err := e.Request.do()
		e.Request.done <- errors.Join(refused, err)
		return err
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
	c.requeueNewcomers()
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
	return c.settleScores()
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

// event is something that happens to a crawl.
type event struct {
	What    kind
	Outcome *jobResult // of jobEnded
	Request request    // of ownerAsked
}

type kind int

const (
	jobEnded    kind = iota
	ownerAsked       // there is a request to the owner
	timeToLease      // the wake time has come
	tick             // twice a second
	deadline         // Options.MaxTime is over
	interrupt        // the context of Run has ended
)

// ErrEnded reports that a crawl has ended and takes no more requests.
var ErrEnded = errors.New("the crawl has just ended")

// request is a function that the owner runs in its turn. The first error of do goes to the
// caller; the second one also ends the crawl.
type request struct {
	do   func() (error, error)
	done chan error
}

// inTurn has the owner run do, and waits for it. It is safe for concurrent use.
func (c *Crawler) inTurn(ctx context.Context, do func() (error, error)) error {
	r := request{do, make(chan error, 1)}
	select {
	case c.requests <- r:
	case <-c.ended:
		return ErrEnded
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return <-r.done
}

// start begins a job; nil is none.
func (c *Crawler) start(j *job) {
	if j == nil {
		return
	}
	c.filesPutBack = 0
	c.jobs[j] = struct{}{}
	j.hold(1)
	j.Addr = j.asked().Addr()
	if j.task != taskAddress && j.Host.Health.Newcomer() {
		j.Ticket = c.newcomers.Begin(j.Host.Addr())
	}
	if j.task == taskPage && j.Old == nil {
		c.fetching++
		c.hosts.CountSite(j.Host, 1)
	}
	c.exec.Start(j)
}

// landed removes an ended job.
func (c *Crawler) landed(o *jobResult) {
	delete(c.jobs, o.job)
	c.newcomers.End(&o.Ticket)
	if o.Late {
		c.slow--
	}
	o.hold(-1)
	if o.task == taskPage && o.Old == nil {
		c.fetching--
		c.hosts.CountSite(o.Host, -1) // counted again when it is stored
	}
}

// workerFree reports whether a worker is free.
func (c *Crawler) workerFree() bool {
	return len(c.jobs)-c.slow < min(c.opt.Workers, c.allowed.Workers)
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
	for o := first; o != nil; o = c.exec.Ready() {
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
		if err := c.conclude(b, s.id, s.queued, c.outcome(s.state, s.reason)); err != nil {
			return err
		}
	}
	c.skips = c.skips[:0]
	if err := c.finish(b); err != nil {
		return err
	}
	if err := c.undoMisses(); err != nil {
		return err
	}
	if err := c.keepChances(false); err != nil {
		return err
	}
	return c.rescore()
}

// rescore gives the queue new priorities once the scorer has learned enough. An agent that
// stores no pages needs this too, because it learns from other agents.
func (c *Crawler) rescore() error { return c.turns.timed(partRescore, c.rescoreDue) }

func (c *Crawler) finish(b journal.Batch) error {
	if err := c.turns.timed(Commit, func() error { return c.totals.commit(b) }); err != nil {
		return err
	}
	c.reader.Stored(c.totals.LastPage())
	c.opt.Committed()
	return nil
}

// inBatches calls do for each of all, and commits in as few batches as possible.
func inBatches[T any](c *Crawler, all iter.Seq2[T, error], commit func(b journal.Batch) error, do func(b journal.Batch, x T) error) error {
	var b journal.Batch
	defer func() {
		if b != nil {
			b.Cancel() // of no effect after Commit
		}
	}()
	for x, err := range all {
		if err != nil {
			return err
		}
		if b != nil && b.Full() {
			if err := commit(b); err != nil {
				return err
			}
			b = nil
		}
		if b == nil {
			b = c.journal.Batch()
		}
		if err := do(b, x); err != nil {
			return err
		}
	}
	if b == nil {
		return nil
	}
	return commit(b)
}

// sure yields values without an error.
func sure[T any](all []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, x := range all {
			if !yield(x, nil) {
				return
			}
		}
	}
}

// keepChances journals what was learned of failures when that is due; last says that the
// session ends.
func (c *Crawler) keepChances(last bool) error {
	if c.opt.Store == nil || !c.chances.Due(last) {
		return nil
	}
	b := c.journal.Batch()
	defer b.Cancel() // of no effect after Commit
	if err := store.PutChances(journal.Stored(b), c.chances.Kept()); err != nil {
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
	if c.totals.URLs == 0 {
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
		if c.files != nil {
			c.files.Recall(record)
		}
	}
	all := func(*store.Ended) bool { return true }
	near := func(e *store.Ended) bool { return e.Resemblance > 0 }
	for _, again := range []struct {
		wanted bool
		state  fetch.State
		of     func(*store.Ended) bool
	}{{c.opt.FollowTraps, fetch.StateTrap, all}, {c.opt.RefetchLost, StateLost, all}, {c.opt.KeepNear, fetch.StateDuplicate, near}} {
		if again.wanted {
			if err := c.reopen(again.state, again.of); err != nil {
				return err
			}
		}
	}
	if !c.held {
		if err := c.restoreQueue(); err != nil {
			return err
		}
	}
	if err := c.harvest.restore(int(c.totals.LastPage()), func(number uint64) (bool, error) {
		p, err := c.opt.Store.Page(number)
		return err == nil && p.Relevant, err
	}); err != nil {
		return err
	}
	learned, err := c.marks.Replay(c.opt.Scorer, c.totals.LastPage())
	if err == nil && learned {
		c.rescoreNow()
	}
	return err
}
