package crawler

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"time"

	"fossick/crawler/fetch"
	"fossick/crawler/hosts"
)

// ExchangeMaker makes one exchange; fetch.Fetcher is one.
type Fetcher interface {
	Fetch(ctx context.Context, req fetch.Request) *fetch.Response
	// Resolve returns the address at which a host (name:port) takes connections; the
	// zero address when a proxy will look it up.
	Resolve(ctx context.Context, host string) (netip.Addr, error)
}

// workersOptions are settings of a pool; see crawler.Options.
type workersOptions struct {
	Fetcher Fetcher
	Workers int
	MaxTime time.Duration // 0 is without end
	Grace   time.Duration
	Now     func() time.Time

	// May says whether a URL may be asked for at this moment; nil: any may. It is asked right
	// before each request.
	May func(url string) bool
}

// pool is the executor of a real crawl: workers, which make one exchange at a time
// each, and the clock on the wall.
type pool struct {
	opt                workersOptions
	reader             *reader
	rules              hosts.SitemapRules
	jobs               chan *workJob // owner → workers; the owner closes it
	outcomes           chan *outcome // workers → owner
	workers            sync.WaitGroup
	lookups, exchanges *room // for what goes on beside the workers
	inbox              *inbox

	// What follows belongs to the owner.
	interrupted     <-chan struct{} // nil once it was told
	deadline, grace <-chan time.Time
	graceEnds       time.Time // zero before the end has begun
	ticker          *time.Ticker
	abort           context.CancelFunc // breaks off what is in flight
}

// errNotOurs is why a request is not made: it is as if it had been broken off.
var errNotOurs = errors.New("another agent owns its site now")

// newPool returns a pool whose workers begin with begin.
func newPool(opt workersOptions, r *reader, maps hosts.SitemapRules, in *inbox) *pool {
	return &pool{
		opt:       opt,
		reader:    r,
		rules:     maps,
		jobs:      make(chan *workJob, opt.Workers), // never full: at most Workers are in flight
		outcomes:  make(chan *outcome, opt.Workers),
		lookups:   lookups(opt.Workers, opt.Now),
		exchanges: slowExchanges(opt.Workers, opt.Now),
		inbox:     in,
	}
}

// begin starts the workers. Exchanges outlive ctx by the grace, so that an interrupt
// loses no answer.
func (p *pool) begin(ctx context.Context) {
	work, abort := context.WithCancel(context.WithoutCancel(ctx))
	p.abort, p.interrupted = abort, ctx.Done()
	for range p.opt.Workers {
		p.workers.Go(func() { p.work(work) })
	}
	p.ticker = time.NewTicker(500 * time.Millisecond)
	if p.opt.MaxTime > 0 {
		p.deadline = time.After(p.opt.MaxTime)
	}
}

// Start has a worker do a job. It never waits: no more jobs are under way than workers.
func (p *pool) Start(j *workJob) { p.jobs <- j }

// Wait returns what happens next.
func (p *pool) Wait(wake time.Time) event {
	var woken <-chan time.Time
	if !wake.IsZero() {
		timer := time.NewTimer(wake.Sub(p.opt.Now()))
		defer timer.Stop()
		woken = timer.C
	}
	for {
		select {
		case o := <-p.outcomes:
			return event{What: jobEnded, Outcome: p.inTime(o)}
		case r := <-p.inbox.requests:
			return event{What: ownerAsked, Request: r}
		case <-woken:
			return event{What: timeToLease}
		case <-p.ticker.C:
			p.exchanges.tidy()
			return event{What: tick}
		case <-p.deadline:
			p.beginGrace()
			return event{What: deadline}
		case <-p.interrupted:
			p.interrupted = nil
			p.beginGrace()
			return event{What: interrupt}
		case <-p.grace:
			p.abort()
		}
	}
}

// Ready returns an outcome that waits, nil when there is none.
func (p *pool) Ready() *outcome {
	select {
	case o := <-p.outcomes:
		return p.inTime(o)
	default:
		return nil
	}
}

func (p *pool) beginGrace() {
	p.grace = time.After(p.opt.Grace)
	p.graceEnds = time.Now().Add(p.opt.Grace)
}

// inTime breaks off a page that comes after the grace, as if it were still on
// its way. It may have so many links that their commit takes longer than the
// grace.
func (p *pool) inTime(o *outcome) *outcome {
	if o.task == workPage && !o.Slow && !p.graceEnds.IsZero() && !time.Now().Before(p.graceEnds) {
		o.Aborted = true
	}
	return o
}

// End returns after the last worker; where the crawl is broken, jobs under way are too.
func (p *pool) End(broken bool) {
	p.ticker.Stop()
	close(p.jobs)
	if broken {
		p.abort()
	}
	p.drain()
	p.abort()
}

// drain waits for the workers. What they still send nobody wants.
func (p *pool) drain() {
	done := make(chan struct{})
	go func() {
		p.workers.Wait()
		close(done)
	}()
	for {
		select {
		case <-p.outcomes:
		case <-done:
			return
		}
	}
}

// work does jobs until the owner has no more, or one of them has taken so long that
// another worker has its place.
func (p *pool) work(ctx context.Context) {
	for j := range p.jobs {
		o := &outcome{workJob: j}
		room := p.exchanges
		if j.task == address {
			room = p.lookups
		}
		e, exchange := room.begin(ctx, func() {
			p.workers.Go(func() { p.work(ctx) })
			p.outcomes <- &outcome{workJob: j, Slow: true}
		})
		p.do(ctx, exchange, o, &e.Pace)
		o.Late = e.End()
		p.report(ctx, o)
		if o.Late {
			return
		}
	}
}

// ask makes a job's exchange, with the address that the job's party is leased for.
func (p *pool) ask(ctx context.Context, j *workJob, req fetch.Request, pace *fetch.Pace) *fetch.Response {
	req.Addr, req.Pace = j.Addr, pace
	if p.opt.May != nil && !p.opt.May(req.URL) {
		return &fetch.Response{URL: req.URL, State: fetch.StateNone, Err: errNotOurs, Start: p.opt.Now()}
	}
	return p.opt.Fetcher.Fetch(ctx, req)
}

// do does a job: its exchange under a context of its own, the rest under ctx.
func (p *pool) do(ctx, exchange context.Context, o *outcome, pace *fetch.Pace) {
	var req fetch.Request
	switch o.task {
	case address:
		p.resolve(ctx, o)
		return
	case workSitemap:
		p.readSitemap(ctx, exchange, o, pace)
		return
	case news:
		p.readNews(exchange, o, pace)
		return
	case robots:
		req = o.Robots.Request
	case tdmRep:
		req = fetch.TDMRepRequest(o.Target)
	case probe:
		req = fetch.RobotsRequest(o.Target)
	case workPage:
		req = o.pageRequest()
	}
	o.Resp = p.ask(exchange, o.workJob, req, pace)
	if o.task == workPage && o.Resp.State == fetch.StateOK {
		o.Read, o.Err = p.reader.Read(ctx, o.order(), o.Resp)
		if o.Err != nil && ctx.Err() != nil {
			o.Err, o.Aborted = nil, true
		}
	}
	if o.task == workPage {
		o.Wire = p.reader.wire(o.Resp, o.Read)
	}
}

// resolve looks an address up; a failure is a response, as of any exchange.
func (p *pool) resolve(ctx context.Context, o *outcome) {
	start := p.opt.Now()
	addr, err := p.opt.Fetcher.Resolve(ctx, o.Host.Name)
	if err != nil {
		o.Resp = &fetch.Response{URL: o.Target, State: fetch.StateOf(err), Err: err, Start: start, Took: p.opt.Now().Sub(start)}
		return
	}
	o.Found = addr
}

// report sends the owner what came of a job.
func (p *pool) report(ctx context.Context, o *outcome) {
	o.Aborted = o.Aborted || o.Resp != nil && o.Resp.State == fetch.StateNone && (ctx.Err() != nil || o.Resp.Err == errNotOurs)
	p.outcomes <- o
}

const (
	// lookupPatience is how long a look-up may hold a place among the workers. Nearly all
	// are done in a tenth of a second.
	lookupPatience = 500 * time.Millisecond
	// exchangePatience is the same for an exchange.
	exchangePatience = time.Second
	// lookupsAside and ExchangesAside are how many may go on beside the workers, for each of
	// these. A look-up costs next to nothing but time, an exchange a connection too.
	lookupsAside   = 8
	exchangesAside = 4
	// slowBytes bounds what the bodies of these exchanges hold in memory.
	slowBytes = 64 << 20
	// leastStay is how long an exchange may go on beside the workers, whoever waits.
	leastStay = 3 * time.Second
	// askAgain is when a job that found no room asks again.
	askAgain = 250 * time.Millisecond
)

// A Room holds the jobs of one kind that go on beside the workers. It is safe for
// concurrent use.
type room struct {
	patience time.Duration
	places   int
	endable  bool // its jobs can be told to end
	now      func() time.Time

	mu      sync.Mutex // guards the rest
	taken   map[*job]stay
	asked   map[*job]struct{} // those of taken that were told to end
	waiting map[*job]struct{} // found no place so far
}

// stay is since when a job has a place, and how far it was then.
type stay struct {
	since time.Time
	wire  int64 // bytes
}

// lookups returns the room for look-ups beside so many workers.
func lookups(workers int, now func() time.Time) *room {
	return newRoom(lookupPatience, lookupsAside*workers, now)
}

// slowExchanges returns the room for exchanges, which are told to end where others wait.
func slowExchanges(workers int, now func() time.Time) *room {
	r := newRoom(exchangePatience, exchangesAside*workers, now)
	r.endable = true
	return r
}

func newRoom(patience time.Duration, places int, now func() time.Time) *room {
	return &room{patience: patience, places: places, now: now, taken: map[*job]stay{}, asked: map[*job]struct{}{}, waiting: map[*job]struct{}{}}
}

// enter gives e a place. Where there is none, the slowest job in the room is told to end,
// one for each that waits.
func (r *room) enter(e *job) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.taken) < r.places && r.held()+e.Pace.HeldBytes() <= slowBytes {
		r.taken[e] = stay{r.now(), e.Pace.WireBytes()}
		delete(r.waiting, e)
		return true
	}
	r.waiting[e] = struct{}{}
	if len(r.asked) < len(r.waiting) {
		r.end(r.slowest())
	}
	return false
}

// leave ends the stay, or the waiting, of a job that is over.
func (r *room) leave(e *job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.taken, e)
	delete(r.asked, e)
	delete(r.waiting, e)
}

// tidy ends the exchange that holds the most, where all together hold too much: they
// grow after they have entered.
func (r *room) tidy() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held() <= slowBytes {
		return
	}
	var most *job
	for e := range r.taken {
		if _, asked := r.asked[e]; !asked && (most == nil || e.Pace.HeldBytes() > most.Pace.HeldBytes()) {
			most = e
		}
	}
	r.end(most)
}

// held is the memory of the bodies; mu is held.
func (r *room) held() (bytes int64) {
	for e := range r.taken {
		bytes += e.Pace.HeldBytes()
	}
	return bytes
}

// slowest returns the exchange that got the fewest bytes a second since it has its place,
// nil when all are new; mu is held.
func (r *room) slowest() (slowest *job) {
	least, now := 0.0, r.now()
	for e, s := range r.taken {
		age := now.Sub(s.since)
		if _, asked := r.asked[e]; asked || age < leastStay || e.cancel == nil {
			continue
		}
		rate := float64(e.Pace.WireBytes()-s.wire) / age.Seconds()
		if slowest == nil || rate < least || rate == least && s.since.Before(r.taken[slowest].since) {
			slowest, least = e, rate
		}
	}
	return slowest
}

// end tells an exchange to end; nil is none; mu is held.
func (r *room) end(e *job) {
	if e != nil {
		r.asked[e] = struct{}{}
		e.cancel(fetch.ErrPlaceWanted)
	}
}

// A Job is under way, and may outlast the patience of its worker.
type job struct {
	Pace fetch.Pace // of its exchange

	room   *room
	goesOn func()                  // tells that it goes on beside the workers
	cancel context.CancelCauseFunc // of the exchange; nil for a look-up
	told   chan struct{}           // closed when goesOn is through

	mu    sync.Mutex // guards the rest
	timer *time.Timer
	over  bool
	asked bool // for a place beside the workers
	aside bool // goes on there
}

// begin begins a job; it goes on under the context that is returned. Once it has lost its
// worker's patience and has a place beside, goesOn is called, from another goroutine.
func (r *room) begin(ctx context.Context, goesOn func()) (*job, context.Context) {
	e := &job{room: r, goesOn: goesOn, told: make(chan struct{})}
	if r.endable {
		ctx, e.cancel = context.WithCancelCause(ctx)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.timer = time.AfterFunc(r.patience, e.late)
	return e, ctx
}

// late gives the worker's place to another one, as soon as there is room beside.
func (e *job) late() {
	if e.ask() {
		e.goesOn()
		close(e.told)
	}
}

// ask asks for a place beside the workers, and again later where there is none.
func (e *job) ask() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over {
		return false
	}
	e.asked, e.aside = true, e.room.enter(e)
	if !e.aside {
		e.timer.Reset(askAgain)
	}
	return e.aside
}

// End says whether the job was late: another worker has its place by now.
func (e *job) End() (late bool) {
	e.mu.Lock()
	e.timer.Stop()
	e.over, late = true, e.aside
	asked := e.asked
	e.mu.Unlock()
	if e.cancel != nil {
		e.cancel(nil)
	}
	if late {
		<-e.told // what came of it follows
	}
	if asked {
		e.room.leave(e)
	}
	return late
}

// readNews fetches a sitemap or a feed, on condition that it changed, and looks up what it
// says of stored pages.
func (p *pool) readNews(exchange context.Context, o *outcome, pace *fetch.Pace) {
	r := p.rules.NewReading(o.Host.Name, o.Host.Name)
	req := r.Request(o.Target)
	req.ETag, req.LastModified = o.Source.ETag, o.Source.Modified
	if o.Resp = p.ask(exchange, o.workJob, req, pace); o.Resp.State == fetch.StateOK {
		o.Listed.Maps = r.Maps
		o.Told, o.Err = p.reader.Told(r.Pages)
	}
	o.Note = r.Note(o.Resp.State)
}

// sitemapPart is how many URLs of a sitemap a worker hands at a time to the owner: they
// fit into a batch with others.
const sitemapPart = 250

// readSitemap fetches a sitemap and sends what it names to the owner, part by
// part. The outcome itself, which ends the job, comes last.
func (p *pool) readSitemap(ctx, exchange context.Context, o *outcome, pace *fetch.Pace) {
	r := p.rules.NewReading(o.Host.Name, o.Sitemap.Owner.Name)
	o.Resp = p.ask(exchange, o.workJob, r.Request(o.Target), pace)
	if o.Resp.State == fetch.StateOK {
		o.Listed.Maps = r.Maps
		p.sendSitemap(ctx, o, r)
	}
	o.Note = r.Note(o.Resp.State)
}

// sendSitemap looks the pages up and sends those that are new, as long as the
// host has room for them.
func (p *pool) sendSitemap(ctx context.Context, o *outcome, r *hosts.SitemapReading) {
	for at := 0; at < len(r.Pages) && o.Err == nil && !o.Aborted; at += sitemapPart {
		part := r.Pages[at:min(at+sitemapPart, len(r.Pages))]
		var links []link
		if links, o.Err = p.reader.unknown(part); o.Err != nil {
			return
		}
		if room := o.Sitemap.Room - r.Fresh; len(links) > room {
			links, r.Full = links[:room], true
		}
		r.Fresh += len(links)
		if len(links) > 0 {
			p.reader.rateUnlinked(links, o.Sitemap.Parent)
			select {
			case p.outcomes <- &outcome{workJob: o.workJob, Resp: o.Resp, Listed: listed{Links: links, Partial: true}}:
			case <-ctx.Done():
				o.Aborted = true // what was sent stays, the rest comes with the next try
			}
		}
		if r.Full && r.Fresh >= o.Sitemap.Room {
			return
		}
	}
}
