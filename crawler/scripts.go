package crawler

import (
	"context"
	"crypto/sha1"
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
}

// render runs the scripts of a page that has some, and reads what they have left. The page
// stays as it is if that fails.
func (p *pool) render(ctx context.Context, o *jobResult, body []byte) {
	if p.opt.Browser == nil || o.Read.Scripts == 0 || o.Read.NoIndex {
		return
	}
	s := &scripts{pool: p, job: o.job, left: p.opt.RenderRequests, asks: 10 * p.opt.RenderRequests, hosts: map[string]*fetch.Response{}}
	plain, began := o.Read, p.opt.Now()
	result, err := p.opt.Browser.Render(ctx, render.Page{URL: o.Target, Header: o.Resp.Header, Body: body, Ask: s.ask})
	o.Further = s.hosts
	if ctx.Err() != nil {
		o.Aborted = true
		return
	}
	told := &store.Rendering{Millis: p.opt.Now().Sub(began).Milliseconds(), Requests: p.opt.RenderRequests - s.left, Words: wordsOf(plain), Links: len(plain.Links)}
	plain.Rendering = told
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

// ask makes a request of a page's scripts. It returns nil for one that may not be made.
func (s *scripts) ask(ctx context.Context, url string) *fetch.Response {
	if s.asks--; s.left == 0 || s.asks < 0 || ctx.Err() != nil {
		return nil
	}
	addr, ok := s.pool.lend(ctx, s.job, url)
	if !ok {
		return nil
	}
	name := page.Host(url)
	all := s.hosts[name]
	if all == nil {
		all = &fetch.Response{URL: url, State: fetch.StateOK, Start: s.pool.opt.Now()}
		s.hosts[name] = all
	}
	if all.RetryAfter > 0 || all.State != fetch.StateOK {
		return nil // the host has asked for a rest, or is ill
	}
	s.left--
	r := s.pool.opt.Fetcher.Fetch(ctx, fetch.Request{URL: url, Addr: addr, Accept: []string{"*/*"}})
	if r.Wire != nil {
		x := s.resource(r, r.Body)
		x.Headers = packWire(r)
		s.made = append(s.made, x)
	}
	all.Took += r.Took
	all.Further++
	all.RetryAfter = r.RetryAfter
	all.Addr = r.Addr
	if hosts.Transient(r) {
		all.State, all.Err, all.Code = r.State, r.Err, r.Code
	}
	return r
}

func (s *scripts) resource(r *fetch.Response, body []byte) store.Resource {
	return store.Resource{URL: r.URL, Start: r.Start.UnixMilli(), ContentType: r.ContentType, Body: s.pool.opt.Store.Compress(body)}
}

// lend asks the owner whether a job may make a request for its page's scripts, and returns the
// address for it.
func (c *Crawler) lend(ctx context.Context, j *job, url string) (addr netip.Addr, ok bool) {
	err := c.inTurn(ctx, func() (error, error) {
		h, err := c.mayBorrow(j, url)
		if h != nil {
			addr, ok = h.Addr(), true
		}
		return nil, err
	})
	return addr, ok && err == nil
}

// mayBorrow returns the host of a URL if a job may ask it now: the job's own, or one that is
// free and rested and whose rules are known. Such a host is then in use until the job ends.
func (c *Crawler) mayBorrow(j *job, url string) (*hosts.Host, error) {
	if !c.opt.Sites.Mine(c.opt.Sites.Part(url)) || c.opt.Scope.Forgotten.Has(url) {
		return nil, nil
	}
	h := j.Host
	if name := page.Host(url); name != h.Name {
		var err error
		if h, err = c.hosts.Get(name, url); err != nil {
			return nil, err
		}
	}
	switch {
	case !h.Resolved, h.Health.Verdict != "", !c.hosts.RobotsFresh(h), c.reservationsDue(h, url):
		return nil, nil
	case !h.Rules.Allowed(c.opt.Agent, page.Path(url)), refusal(&c.opt, h, url) != "":
		return nil, nil
	}
	if h == j.Host {
		return h, nil
	}
	if _, has := j.Page.Lent[h.Name]; has {
		return h, nil
	}
	if !c.frontier.Take(h.Party, j.Host.Party, c.opt.Now()) {
		return nil, nil
	}
	if j.Page.Lent == nil {
		j.Page.Lent = map[string]*hosts.Host{}
	}
	j.Page.Lent[h.Name] = h
	h.Jobs++
	return h, nil
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
		if backsOff(r) {
			h.Failures++
		}
		c.hosts.Release(h, c.hosts.RestOf(h, r))
		if err := c.hosts.Put(b, h); err != nil {
			return err
		}
	}
	return nil
}
