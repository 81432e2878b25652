package crawler

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"time"

	"fossick/crawler/fetch"
	"fossick/crawler/hosts"
	"fossick/store"
)

// Fetcher makes one exchange; fetch.Fetcher is one.
type Fetcher interface {
	Fetch(ctx context.Context, req fetch.Request) *fetch.Response
	// Resolve returns the address at which a host (name:port) takes connections; the zero
	// address if a proxy looks it up.
	Resolve(ctx context.Context, host string) (netip.Addr, error)
}

// pool is the executor of a real crawl: workers, which make one exchange at a time each, and
// the real clock.
type pool struct {
	opt                *Options
	reader             *reader
	rules              hosts.SitemapRules
	jobs               chan *job       // owner → workers; the owner closes it
	outcomes           chan *jobResult // workers → owner
	workers            sync.WaitGroup
	lookups, exchanges *room          // for slow jobs
	requests           <-chan request // to the owner
	// lend asks the owner for the host of a request of a page's scripts.
	lend func(ctx context.Context, j *job, url string, f *finding) loan
	// quote asks the owner whether rendering a page is worth its seconds.
	quote   func(ctx context.Context, o *jobResult) (*store.Quote, error)
	scripts scriptCache
	// noBrowser logs once that no browser runs.
	noBrowser sync.Once

	// The fields below belong to the owner.
	interrupted     <-chan struct{} // nil once reported
	deadline, grace <-chan time.Time
	graceEnds       time.Time // zero before the grace
	ticker          *time.Ticker
	abort           context.CancelFunc // breaks off the jobs under way
}

// errNotOurs is why a request is not made; it counts as broken off.
var errNotOurs = errors.New("another agent owns its site now")

// newPool returns a pool; begin starts its workers.
func newPool(opt *Options, r *reader, maps hosts.SitemapRules, requests <-chan request) *pool {
	return &pool{
		opt:       opt,
		reader:    r,
		rules:     maps,
		jobs:      make(chan *job, opt.Workers), // never full: at most Workers are in flight
		outcomes:  make(chan *jobResult, opt.Workers),
		lookups:   newRoom(lookupPatience, lookupsAside*opt.Workers, false, opt.Now),
		exchanges: newRoom(exchangePatience, exchangesAside*opt.Workers, true, opt.Now),
		requests:  requests,
	}
}

// begin starts the workers. Exchanges survive ctx by the grace, so that an interrupt loses no
// answer.
func (p *pool) begin(ctx context.Context) {
	work, abort := context.WithCancel(context.WithoutCancel(ctx))
	p.abort, p.interrupted = abort, ctx.Done()
	for range p.opt.Workers {
		p.workers.Go(func() { p.work(work) })
	}
	p.ticker = time.NewTicker(500 * time.Millisecond)
	p.until(p.opt.MaxTime)
}

// until sets the deadline, counted from now; 0 for none.
func (p *pool) until(left time.Duration) {
	if p.deadline = nil; left > 0 {
		p.deadline = time.After(left)
	}
}

// Start never blocks, because no more jobs are under way than workers.
func (p *pool) Start(j *job) { p.jobs <- j }

// Wait implements executor.
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
		case r := <-p.requests:
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

// Ready implements executor.
func (p *pool) Ready() *jobResult {
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

// inTime breaks off a page that comes after the grace. It may have so many links that their
// commit would take long.
func (p *pool) inTime(o *jobResult) *jobResult {
	if o.task == taskPage && !o.Slow && !p.graceEnds.IsZero() && !time.Now().Before(p.graceEnds) {
		o.Aborted = true
	}
	return o
}

// End returns after the last worker; with broken it aborts the jobs first.
func (p *pool) End(broken bool) {
	p.ticker.Stop()
	close(p.jobs)
	if broken {
		p.abort()
	}
	p.drain()
	p.abort()
}

// drain discards results until the workers have ended.
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

// work does jobs until there are no more, or until one was so slow that another worker took
// its place.
func (p *pool) work(ctx context.Context) {
	for j := range p.jobs {
		o := &jobResult{job: j}
		room := p.exchanges
		if j.task == taskAddress {
			room = p.lookups
		}
		e, exchange := room.begin(ctx, func() {
			p.workers.Go(func() { p.work(ctx) })
			p.outcomes <- &jobResult{job: j, Slow: true}
		})
		p.do(ctx, exchange, o, &e.Pace)
		o.Late = e.End()
		o.Aborted = o.Aborted || o.Resp != nil && o.Resp.State == fetch.StateNone && (ctx.Err() != nil || o.Resp.Err == errNotOurs)
		p.outcomes <- o
		if o.Late {
			return
		}
	}
}

// ask makes a job's exchange, with the address that its party is leased for.
func (p *pool) ask(ctx context.Context, j *job, req fetch.Request, pace *fetch.Pace) *fetch.Response {
	req.Addr, req.Pace = j.Addr, pace
	if !p.opt.Sites.Mine(p.opt.Sites.Part(req.URL)) {
		return &fetch.Response{URL: req.URL, State: fetch.StateNone, Err: errNotOurs, Start: p.opt.Now()}
	}
	return p.opt.Fetcher.Fetch(ctx, req)
}

// do does a job: the exchange under a context of its own, the rest under ctx.
func (p *pool) do(ctx, exchange context.Context, o *jobResult, pace *fetch.Pace) {
	var req fetch.Request
	switch o.task {
	case taskAddress:
		p.resolve(ctx, o)
		return
	case taskSitemap:
		p.readSitemap(ctx, exchange, o, pace)
		return
	case taskNews:
		p.readNews(exchange, o, pace)
		return
	case taskRobots:
		req = o.Robots.Request
	case taskTDMRep:
		req = fetch.TDMRepRequest(o.Target)
	case taskProbe:
		req = fetch.RobotsRequest(o.Target)
	case taskPage:
		req = o.pageRequest()
	}
	o.Resp = p.ask(exchange, o.job, req, pace)
	if o.task == taskPage && o.Resp.State == fetch.StateOK {
		body := o.Resp.Body
		o.Read, o.Err = p.reader.Read(ctx, o.order(), o.Resp)
		if o.Err != nil && ctx.Err() != nil {
			o.Err, o.Aborted = nil, true
		}
		if o.Read != nil {
			p.render(ctx, o, body)
		}
	}
	if o.task == taskPage {
		o.Wire = p.reader.wire(o.Resp, o.Read)
	}
}

// resolve looks an address up; a failure becomes a response.
func (p *pool) resolve(ctx context.Context, o *jobResult) {
	start := p.opt.Now()
	addr, err := p.opt.Fetcher.Resolve(ctx, o.Host.Name)
	if err != nil {
		o.Resp = &fetch.Response{URL: o.Target, State: fetch.StateOf(err), Err: err, Start: start, Took: p.opt.Now().Sub(start)}
		return
	}
	o.Found = addr
}

const (
	// lookupPatience is how long a look-up may occupy a worker, exchangePatience how long an
	// exchange may.
	lookupPatience   = 500 * time.Millisecond
	exchangePatience = time.Second
	// lookupsAside and exchangesAside bound the slow jobs per worker. A look-up costs little
	// but time, an exchange also a connection.
	lookupsAside   = 8
	exchangesAside = 4
	// slowBytes bounds the memory of the bodies of slow exchanges.
	slowBytes = 256 << 20
	// leastStay is how long a slow exchange may go on even if others wait for its place.
	leastStay = 3 * time.Second
	// askAgain is when a job that found no place asks again.
	askAgain = 250 * time.Millisecond
)

// A room holds the slow jobs of one kind, which no longer occupy a worker. It is safe for
// concurrent use.
type room struct {
	patience time.Duration
	places   int
	endable  bool // its jobs can be ended
	now      func() time.Time

	mu      sync.Mutex // guards the rest
	taken   map[*timedJob]stay
	asked   map[*timedJob]struct{} // those of taken that were told to end
	waiting map[*timedJob]struct{} // found no place yet
}

// stay is when a job got its place, and how many bytes it had received then.
type stay struct {
	since time.Time
	wire  int64 // bytes
}

func newRoom(patience time.Duration, places int, endable bool, now func() time.Time) *room {
	return &room{patience: patience, places: places, endable: endable, now: now, taken: map[*timedJob]stay{}, asked: map[*timedJob]struct{}{}, waiting: map[*timedJob]struct{}{}}
}

// enter gives e a place. If there is none, the slowest job in the room is told to end, one per
// waiting job.
func (r *room) enter(e *timedJob) bool {
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

// leave removes a job that is over.
func (r *room) leave(e *timedJob) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.taken, e)
	delete(r.asked, e)
	delete(r.waiting, e)
}

// tidy ends the exchange that holds the most memory if all together hold too much, because
// they grow after they have entered.
func (r *room) tidy() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held() <= slowBytes {
		return
	}
	var most *timedJob
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

// slowest returns the exchange with the lowest rate since it has its place, nil if all are
// new; mu is held.
func (r *room) slowest() (slowest *timedJob) {
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
func (r *room) end(e *timedJob) {
	if e != nil {
		r.asked[e] = struct{}{}
		e.cancel(fetch.ErrPlaceWanted)
	}
}

// A timedJob is a job under way, which may exceed the patience of its worker.
type timedJob struct {
	Pace fetch.Pace // of the exchange

	room   *room
	goesOn func()                  // called when the job gives its worker up
	cancel context.CancelCauseFunc // ends the exchange; nil for a look-up
	told   chan struct{}           // closed after goesOn

	mu    sync.Mutex // guards the rest
	timer *time.Timer
	over  bool
	asked bool // asked for a place
	aside bool // has a place
}

// begin begins a job under the returned context. Once it has exceeded the patience and has a
// place in the room, goesOn is called from another goroutine.
func (r *room) begin(ctx context.Context, goesOn func()) (*timedJob, context.Context) {
	e := &timedJob{room: r, goesOn: goesOn, told: make(chan struct{})}
	if r.endable {
		ctx, e.cancel = context.WithCancelCause(ctx)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.timer = time.AfterFunc(r.patience, e.late)
	return e, ctx
}

// late gives the worker up, as soon as there is a place.
func (e *timedJob) late() {
	if e.ask() {
		e.goesOn()
		close(e.told)
	}
}

// ask asks for a place, and again later if there is none.
func (e *timedJob) ask() bool {
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

// End ends the job, and reports whether it was late, so that another worker has replaced its
// own.
func (e *timedJob) End() (late bool) {
	e.mu.Lock()
	e.timer.Stop()
	e.over, late = true, e.aside
	asked := e.asked
	e.mu.Unlock()
	if e.cancel != nil {
		e.cancel(nil)
	}
	if late {
		<-e.told // before the result
	}
	if asked {
		e.room.leave(e)
	}
	return late
}

// readNews fetches a sitemap or a feed, on condition that it changed, and looks up its pages.
func (p *pool) readNews(exchange context.Context, o *jobResult, pace *fetch.Pace) {
	r := p.rules.NewReading(o.Host.Name, o.Host.Name)
	req := r.Request(o.Target)
	req.ETag, req.LastModified = o.Source.ETag, o.Source.Modified
	if o.Resp = p.ask(exchange, o.job, req, pace); o.Resp.State == fetch.StateOK {
		o.Listed.Maps = r.Maps
		o.Told, o.Err = p.reader.Told(r.Pages)
	}
	o.Note = r.Note(o.Resp.State)
}

// sitemapPart is how many URLs of a sitemap a worker sends at a time, so that they fit in a
// batch.
const sitemapPart = 250

// readSitemap fetches a sitemap and sends its pages to the owner part by part, before the
// result of the job.
func (p *pool) readSitemap(ctx, exchange context.Context, o *jobResult, pace *fetch.Pace) {
	r := p.rules.NewReading(o.Host.Name, o.Sitemap.Owner.Name)
	o.Resp = p.ask(exchange, o.job, r.Request(o.Target), pace)
	if o.Resp.State == fetch.StateOK {
		o.Listed.Maps = r.Maps
		p.sendSitemap(ctx, o, r)
	}
	o.Note = r.Note(o.Resp.State)
}

// sendSitemap looks the pages up and sends the new ones, up to the limit of the host.
func (p *pool) sendSitemap(ctx context.Context, o *jobResult, r *hosts.SitemapReading) {
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
			case p.outcomes <- &jobResult{job: o.job, Resp: o.Resp, Listed: listed{Links: links, Partial: true}}:
			case <-ctx.Done():
				o.Aborted = true // the rest comes with the next try
			}
		}
		if r.Full && r.Fresh >= o.Sitemap.Room {
			return
		}
	}
}
