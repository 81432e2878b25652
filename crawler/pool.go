package crawler

import (
	"context"
	"sync"
	"time"

	"fossick/crawler/reading"
	"fossick/crawler/sitemaps"
	"fossick/crawler/slow"
	"fossick/fetch"
)

// pool is the executor of a real crawl: workers, which make one exchange at a time
// each, and the clock on the wall.
type pool struct {
	opt                *Options
	reader             *reading.Reader
	rules              sitemaps.Rules
	jobs               chan *job     // owner → workers; the owner closes it
	outcomes           chan *outcome // workers → owner
	workers            sync.WaitGroup
	lookups, exchanges *slow.Room // for what goes on beside the workers
	inbox              *inbox

	// What follows belongs to the owner.
	interrupted     <-chan struct{} // nil once it was told
	deadline, grace <-chan time.Time
	graceEnds       time.Time // zero before the end has begun
	ticker          *time.Ticker
	abort           context.CancelFunc // breaks off what is in flight
}

func newPool(opt *Options, r *reading.Reader, maps sitemaps.Rules, in *inbox) *pool {
	return &pool{
		opt:       opt,
		reader:    r,
		rules:     maps,
		jobs:      make(chan *job, opt.Workers), // never full: at most Workers are in flight
		outcomes:  make(chan *outcome, opt.Workers),
		lookups:   slow.Lookups(opt.Workers, opt.Now),
		exchanges: slow.Exchanges(opt.Workers, opt.Now),
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

func (p *pool) start(j *job) { p.jobs <- j }

func (p *pool) wait(wake time.Time) event {
	var woken <-chan time.Time
	if !wake.IsZero() {
		timer := time.NewTimer(wake.Sub(p.opt.Now()))
		defer timer.Stop()
		woken = timer.C
	}
	for {
		select {
		case o := <-p.outcomes:
			return event{what: jobEnded, outcome: p.inTime(o)}
		case r := <-p.inbox.requests:
			return event{what: ownerAsked, request: r}
		case <-woken:
			return event{what: timeToLease}
		case <-p.ticker.C:
			p.exchanges.Tidy()
			return event{what: tick}
		case <-p.deadline:
			p.beginGrace()
			return event{what: deadline}
		case <-p.interrupted:
			p.interrupted = nil
			p.beginGrace()
			return event{what: interrupt}
		case <-p.grace:
			p.abort()
		}
	}
}

func (p *pool) ready() *outcome {
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
	if o.task == taskPage && !o.slow && !p.graceEnds.IsZero() && !time.Now().Before(p.graceEnds) {
		o.aborted = true
	}
	return o
}

func (p *pool) end(broken bool) {
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
		o := &outcome{job: j}
		room := p.exchanges
		if j.task == taskAddress {
			room = p.lookups
		}
		e, exchange := room.Begin(ctx, func() {
			p.workers.Go(func() { p.work(ctx) })
			p.outcomes <- &outcome{job: j, slow: true}
		})
		p.do(ctx, exchange, o, &e.Pace)
		o.late = e.End()
		p.report(ctx, o)
		if o.late {
			return
		}
	}
}

// ask makes a job's exchange, with the address that the job's party is leased for.
func (p *pool) ask(ctx context.Context, j *job, req fetch.Request, pace *fetch.Pace) *fetch.Response {
	req.Addr, req.Pace = j.addr, pace
	return p.opt.Fetcher.Fetch(ctx, req)
}

// do does a job: its exchange under a context of its own, the rest under ctx.
func (p *pool) do(ctx, exchange context.Context, o *outcome, pace *fetch.Pace) {
	var req fetch.Request
	switch o.task {
	case taskAddress:
		p.resolve(ctx, o)
		return
	case taskSitemap:
		p.readSitemap(ctx, exchange, o, pace)
		return
	case taskRobots:
		req = o.robots.request
	case taskProbe:
		req = fetch.RobotsRequest(o.target)
	case taskPage:
		req = o.pageRequest()
	}
	o.resp = p.ask(exchange, o.job, req, pace)
	if o.task == taskPage && o.resp.State == fetch.StateOK {
		o.read, o.err = p.reader.Read(ctx, o.order(), o.resp)
		if o.err != nil && ctx.Err() != nil {
			o.err, o.aborted = nil, true
		}
	}
}

// resolve looks an address up; a failure is a response, as of any exchange.
func (p *pool) resolve(ctx context.Context, o *outcome) {
	start := p.opt.Now()
	addr, err := p.opt.Fetcher.Resolve(ctx, o.host.Name)
	if err != nil {
		o.resp = &fetch.Response{URL: o.target, State: fetch.StateOf(err), Err: err, Start: start, Took: p.opt.Now().Sub(start)}
		return
	}
	o.found = addr
}

// report sends the owner what came of a job.
func (p *pool) report(ctx context.Context, o *outcome) {
	o.aborted = o.aborted || o.resp != nil && o.resp.State == fetch.StateNone && ctx.Err() != nil
	p.outcomes <- o
}
