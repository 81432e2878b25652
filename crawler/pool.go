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
	rules              hosts.Rules
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
func newPool(opt workersOptions, r *reader, maps hosts.Rules, in *inbox) *pool {
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
