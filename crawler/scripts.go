package crawler

import (
	"cmp"
	"context"
	"crypto/sha1"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"fossick/crawler/fetch"
	"fossick/crawler/hosts"
	"fossick/crawler/journal"
	"fossick/crawler/render"
	"fossick/internal/page"
	"fossick/store"
)

// Browser runs the scripts of pages; render.Browser is one. It is safe for concurrent use.
type Browser interface {
	Render(ctx context.Context, p render.Page) (*render.Result, error)
}

// madeBytes bounds the answers to a page's scripts that are kept for archives, packed, so that the
// page fits in one batch.
const madeBytes = 8 << 20

// defaultRenderRequests is the default of Options.RenderRequests.
const defaultRenderRequests = 20

// scripts are the requests of a page's scripts. It belongs to the page's worker.
type scripts struct {
	pool *pool
	job  *job
	left int // requests that it may still make
	asks int // that it may still ask for, also those that are refused

	hosts map[string]*fetch.Response // all requests to a host so far, by its name
	made  []store.Resource           // the answers, for archives
	bytes int                        // of their bodies, packed
	asked []robotsAnswer             // of hosts that were unknown
}

// robotsAnswer is the answer of a host for its robots.txt.
type robotsAnswer struct {
	host string
	resp *fetch.Response
}

// render runs the scripts of a page that has some, and reads what they have left. The page
// stays as it is if that fails.
func (p *pool) render(ctx context.Context, o *jobResult, body []byte) {
	if p.opt.Browser == nil || o.Read.Scripts == 0 || o.Read.NoIndex {
		return
	}
	plain := o.Read
	told := &store.Rendering{Words: wordsOf(plain), Links: len(plain.Links), Thin: plain.class() == classThin}
	plain.Rendering = told
	if p.opt.RenderPriced && (o.Old == nil || !o.Old.Page.Rendering.Done()) { // what was rendered stays so
		var err error
		if told.Quote, err = p.quote(ctx, o); err != nil {
			o.Aborted = true
			return
		}
		if told.Quote.Declined {
			return
		}
	}
	s := &scripts{pool: p, job: o.job, left: p.opt.RenderRequests, asks: 10 * p.opt.RenderRequests, hosts: map[string]*fetch.Response{}}
	began := p.opt.Now()
	result, err := p.opt.Browser.Render(ctx, render.Page{URL: o.Target, Header: o.Resp.Header, Body: body, Ask: s.ask})
	o.Further, o.Rules = s.hosts, s.asked
	if ctx.Err() != nil {
		o.Aborted = true
		return
	}
	told.Millis, told.Requests = p.opt.Now().Sub(began).Milliseconds(), p.opt.RenderRequests-s.left
	if result != nil && result.Took > 0 { // without the wait for a tab
		told.Millis = result.Took.Milliseconds()
	}
	if errors.Is(err, render.ErrNoBrowser) {
		told.Quote = nil // it says nothing of the page
		p.noBrowser.Do(func() { p.opt.Log.Error("no page is rendered until a browser runs", "err", err) })
	}
	if err != nil {
		told.Failed = err.Error()
		p.opt.Log.Info("page not rendered", "url", o.Target, "err", err)
		return
	}
	told.Late = result.Late
	again := *o.Resp
	again.Body, again.ContentType = result.HTML, "text/html; charset=utf-8"
	read, err := p.reader.Read(ctx, o.order(), &again)
	switch {
	case err != nil && ctx.Err() != nil:
		o.Aborted = true
	case err != nil:
		o.Err = err
	case read == nil:
		told.Failed = again.ErrorText()
	case result.Late && wordsOf(read) < told.Words: // a script that never ended kept the rest of the page back
		told.Failed = "the scripts did not end in time and left fewer words"
	default:
		told.NowWords, told.NowLinks = wordsOf(read), len(read.Links)
		told.Turned, read.won = read.onTopic() && !plain.onTopic(), wonLinks(plain, read)
		told.Won = len(read.won)
		if read.Body != nil {
			read.Digest = sha1.Sum(body)
			read.Made = append([]store.Resource{s.resource(o.Resp, body)}, s.made...)
		}
		read.Rendering, o.Read, o.Resp.ContentType = told, read, again.ContentType
	}
}

// unrendered reports a revisit whose scripts could not run, of a page that was stored with what they
// had made. The shell is no substitute for that.
func (o *jobResult) unrendered() bool {
	return o.Old.Page.Rendering.Done() && o.Read != nil && o.Read.Scripts > 0 && !o.Read.Rendering.Done()
}

func wordsOf(p *parsedPage) int { return len(strings.Fields(p.Text)) }

// ask makes a request of a page's scripts, or answers it from the cache. It returns nil for one that
// may not be made.
func (s *scripts) ask(ctx context.Context, url string) *fetch.Response {
	if s.asks--; s.asks < 0 || ctx.Err() != nil {
		return nil
	}
	if r := s.pool.scripts.get(url, s.pool.opt.Now()); r != nil {
		return r
	}
	if s.left == 0 {
		return nil
	}
	addr, ok := s.borrow(ctx, url)
	if !ok {
		return nil
	}
	r := s.fetch(ctx, fetch.Request{URL: url, Addr: addr, Accept: []string{"*/*"}})
	if r == nil {
		return nil
	}
	if r.Wire != nil {
		x := s.resource(r, r.Body)
		x.Headers = packWire(r)
		if s.bytes += len(x.Body); s.bytes <= madeBytes {
			s.made = append(s.made, x)
		}
	}
	s.pool.scripts.put(r, s.pool.opt.Now())
	return r
}

// fetch makes a request and counts it. It returns nil if the page has made all that it may, or if
// the host has asked for a rest or is ill.
func (s *scripts) fetch(ctx context.Context, req fetch.Request) *fetch.Response {
	name := page.Host(req.URL)
	all := s.hosts[name]
	if all == nil {
		all = &fetch.Response{URL: req.URL, State: fetch.StateOK, Start: s.pool.opt.Now()}
		s.hosts[name] = all
	}
	if s.left == 0 || all.RetryAfter > 0 || all.State != fetch.StateOK {
		return nil
	}
	s.left--
	r := s.pool.opt.Fetcher.Fetch(ctx, req)
	all.Took += r.Took
	all.Further++
	all.RetryAfter = r.RetryAfter
	all.Addr = r.Addr
	if r.State == fetch.StateNone || outOfReach(r) {
		all.State, all.Err, all.Code = r.State, r.Err, r.Code
	}
	return r
}

// outOfReach reports an answer after which the scripts of pages leave a host alone for longer and
// longer.
func outOfReach(r *fetch.Response) bool {
	return backsOff(r) || r.State == fetch.StateTLSError || r.State == fetch.StateGuardDenied
}

const (
	// robotsPatience bounds how long a page waits until a host has rested after its robots.txt.
	// The scripts of a later page can ask a host that rests longer.
	robotsPatience = 3 * time.Second
	// lendPatience bounds the look-up of a host for the scripts of a page.
	lendPatience = 5 * time.Second
	// borrowSteps are a look-up, a robots.txt and the request.
	borrowSteps = 3
)

// borrow asks the owner whether the job may make a request, and returns the address for it. An
// unknown host is looked up first; then its robots.txt is fetched and the host rests.
func (s *scripts) borrow(ctx context.Context, url string) (addr netip.Addr, ok bool) {
	name := page.Host(url)
	var f *finding
	for range borrowSteps {
		l := s.pool.lend(ctx, s.job, url, f)
		f = &finding{}
		switch {
		case l.host == nil:
			return addr, false
		case l.first == taskPage:
			return l.addr, l.rest <= robotsPatience && pause(ctx, l.rest)
		case l.first == taskAddress:
			if f.addr, f.unknown = s.lookUp(ctx, name); ctx.Err() != nil {
				return addr, false
			}
		default:
			req := fetch.RobotsRequest(l.robots)
			req.Addr = l.addr
			if f.robots = s.fetch(ctx, req); f.robots == nil {
				return addr, false
			}
			s.asked = append(s.asked, robotsAnswer{name, f.robots})
		}
	}
	return addr, false
}

// pause waits; it returns false when ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *scripts) lookUp(ctx context.Context, name string) (netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, lendPatience)
	defer cancel()
	return s.pool.opt.Fetcher.Resolve(ctx, name)
}

// resource is an answer for archives.
func (s *scripts) resource(r *fetch.Response, body []byte) store.Resource {
	return store.Resource{URL: r.URL, Start: r.Start.UnixMilli(), ContentType: r.ContentType, Body: s.pool.opt.Store.Compress(body)}
}

// loan is the owner's answer to a request of a page's scripts.
type loan struct {
	host  *hosts.Host   // nil: the request may not be made
	addr  netip.Addr    // for the next exchange
	first task          // what the worker has to do first; taskPage: the request
	rest  time.Duration // … but not before

	robots string // URL of taskRobots: of robots.txt, or where it redirected to
}

// finding is what a worker has found out about a host since it asked for it last.
type finding struct {
	addr    netip.Addr
	unknown error           // why there is no address
	robots  *fetch.Response // unless nil, this
}

// lend asks the owner whether a job may make a request for its page's scripts. f may be nil.
func (c *Crawler) lend(ctx context.Context, j *job, url string, f *finding) (l loan) {
	err := c.inTurn(ctx, func() (refused, broken error) {
		l, broken = c.mayBorrow(j, url, f)
		return nil, broken
	})
	if err != nil {
		return loan{}
	}
	return l
}

// mayBorrow returns the host of a URL if a job may ask it now: the job's own, or one that is free
// and rested. Such a host is then in use until the job ends.
func (c *Crawler) mayBorrow(j *job, url string, f *finding) (l loan, err error) {
	if !c.opt.Sites.Mine(c.opt.Sites.Part(url)) || c.opt.Scope.Forgotten.Has(url) || c.opt.Scope.excluded(url) != "" {
		return l, nil
	}
	h := j.Host
	if name := page.Host(url); name != h.Name {
		if h, err = c.hosts.Get(name, url); err != nil {
			return l, err
		}
	}
	_, lent := j.Page.Lent[h.Name]
	now := c.opt.Now()
	busy := h != j.Host && !lent && (h.Jobs > 0 || c.frontier.Until(h.Party).After(now))
	switch {
	case h.Health.Verdict != "", !h.Resolved && (busy || c.opt.OneSitePerAddress):
		return l, nil
	case !h.Resolved && f == nil:
		return loan{host: h, first: taskAddress}, nil
	case !h.Resolved && f.unknown != nil: // the next pages leave it alone
		h.Failures++
		c.frontier.RestInDoubt(h.Party, now.Add(c.opt.Delay.After(h.Failures, 0, 0, 0).Host))
		return l, nil
	case !h.Resolved:
		c.hosts.SettleAddress(h, f.addr)
	}
	if f != nil && f.robots != nil {
		if err = c.ruled(j, h, f.robots); err != nil {
			return l, err
		}
	}
	known := c.hosts.RobotsFresh(h)
	elsewhere := h.Hop != "" && page.Host(h.Hop) != h.Name // left to the turn of the host's own URLs
	if !known && (h == j.Host || lent || elsewhere) || known && !c.allows(h, url) {
		return l, nil
	}
	if h != j.Host && !lent && !c.borrow(j, h) {
		return l, nil
	}
	l = loan{host: h, addr: h.Addr(), first: taskPage, rest: max(0, j.Page.Rested[h.Name].Sub(now))}
	if !known {
		l.first, l.robots = taskRobots, cmp.Or(h.Hop, page.RobotsURL(url))
	}
	return l, nil
}

// allows reports whether the known rules of a host allow a request of a page's scripts.
func (c *Crawler) allows(h *hosts.Host, url string) bool {
	return h.Rules.Allowed(c.opt.Agent, page.Path(url)) && !c.reservationsDue(h, url) && refusal(&c.opt, h, url) == ""
}

// borrow takes a host into use for a job, if it is free and rested.
func (c *Crawler) borrow(j *job, h *hosts.Host) bool {
	if !c.frontier.Take(h.Party, j.Host.Party, c.opt.Now()) {
		return false
	}
	if j.Page.Lent == nil {
		j.Page.Lent, j.Page.Rested = map[string]*hosts.Host{}, map[string]time.Time{}
	}
	j.Page.Lent[h.Name] = h
	h.Jobs++
	return true
}

// ruled keeps the robots.txt of a host that a page has borrowed; the host then rests. A page makes one
// hop of a redirected file, the next page another. After a failure the host backs off.
func (c *Crawler) ruled(j *job, h *hosts.Host, r *fetch.Response) error {
	rules, _ := fetch.RobotsFrom(r)
	switch {
	case r.State == fetch.StateRedirect:
		rules = c.hop(h, r)
	case rules == nil || outOfReach(r):
		rules, h.Hop, h.Hops = nil, "", 0
	}
	if rules == nil {
		return nil
	}
	err := c.keepRules(h, r, rules, r.URL == page.RobotsURL(r.URL))
	j.Page.Rested[h.Name] = c.opt.Now().Add(c.hosts.RestOf(h, r).Host)
	return err
}

// countFurther adds the requests of a page's scripts to those of their hosts: the page's host
// rests for all of its own, and the borrowed ones are given back.
func (c *Crawler) countFurther(b journal.Batch, o *jobResult) error {
	if own := o.Further[o.Host.Name]; own != nil {
		o.Resp.Took += own.Took
		o.Resp.Further = own.Further
		o.Resp.RetryAfter = max(o.Resp.RetryAfter, own.RetryAfter)
		c.totals.further(o.Host.Host, own.Further)
	}
	for name, h := range o.Page.Lent {
		h.Jobs--
		r := o.Further[name]
		if r == nil { // broken off before the request
			c.frontier.Done(h.Party, time.Time{})
			continue
		}
		c.totals.further(h.Host, r.Further)
		r.Further-- // beside the first
		switch {
		case outOfReach(r):
			h.Failures++
		case r.State == fetch.StateOK: // not broken off
			h.Failures = 0
		}
		due := c.hosts.RestOf(h, r)
		c.hosts.Release(h, due)
		for _, a := range o.Rules {
			if a.host == name {
				h.Exchanges++
				if err := b.PutExchange(name, h.Exchanges, exchangeOf(store.ForRobots, a.resp, due)); err != nil {
					return err
				}
			}
		}
		if err := errors.Join(c.addressFound(b, h), c.hosts.Put(b, h)); err != nil {
			return err
		}
	}
	return nil
}

// refusedScripts reports that the page's host has asked to be left alone by its answers to the
// page's scripts: it backs off, though it gave the page.
func (o *jobResult) refusedScripts() bool {
	own := o.Further[o.Host.Name]
	return own != nil && (own.State == fetch.StateChallenge || own.Code == http.StatusTooManyRequests || own.Code == http.StatusServiceUnavailable)
}
