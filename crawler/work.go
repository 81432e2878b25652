package crawler

import (
	"context"
	"fmt"
	"net/netip"

	"fossick/fetch"
	"fossick/page"
	"fossick/store"
)

// outcome is a job and what came of it.
type outcome struct {
	*job
	addr    netip.Addr      // of taskAddress
	resp    *fetch.Response // of the others
	page    *page.Page      // when the response is a page
	score   Score
	foreign string // why it is not kept for its language, "" when it is
	body    []byte // compressed
	size    int64  // of the body before that, in bytes
	links   []found
	looks   looks
	kin     kin
	err     error // of the store: ends the crawl

	farmLook looks // only when the job is watched

	maps    []string // further sitemaps that a sitemap names
	note    string   // for the journal
	partial bool     // a part of what a sitemap names; the outcome itself follows

	slow bool // the job goes on beside the workers; the outcome itself follows
	late bool // the outcome of such a one

	excused bool // it failed, but that counts for nobody
	aborted bool // broken off by us: as if it had not been
}

// found is a link as the owner needs it.
type found struct {
	url   string
	hash  store.Hash
	score float64
	skip  string     // why it is not followed, "" when it is
	trap  bool       // that is because it leads into a trap
	seen  store.Seen // at the time of the look-up

	modified int64 // as a sitemap says, Unix seconds; 0 when nobody does
}

// maxLinkBytes bounds the URLs that one page may add, so that what follows from
// a page always fits into one batch.
const maxLinkBytes = 1 << 20

// work does jobs until the owner has no more, or one of them has taken so long that
// another worker has its place.
func (c *Crawler) work(ctx context.Context) {
	for j := range c.jobs {
		o := &outcome{job: j}
		e, exchange := c.setOut(ctx, j)
		c.do(ctx, exchange, o, &e.pace)
		o.late = e.end()
		c.report(ctx, o)
		if o.late {
			return
		}
	}
}

// ask makes a job's exchange, with the address that the job's party is leased for.
func (c *Crawler) ask(ctx context.Context, j *job, req fetch.Request, pace *fetch.Pace) *fetch.Response {
	req.Addr, req.Pace = j.addr, pace
	return c.opt.Fetcher.Fetch(ctx, req)
}

// do does a job: its exchange under a context of its own, the rest under ctx.
func (c *Crawler) do(ctx, exchange context.Context, o *outcome, pace *fetch.Pace) {
	var req fetch.Request
	switch o.task {
	case taskAddress:
		c.resolve(ctx, o)
		return
	case taskSitemap:
		c.readSitemap(ctx, exchange, o, pace)
		return
	case taskRobots:
		req = o.request
	case taskProbe:
		req = fetch.RobotsRequest(o.target)
	case taskPage:
		req = o.pageRequest()
	}
	o.resp = c.ask(exchange, o.job, req, pace)
	if o.task == taskPage && o.resp.State == fetch.StateOK {
		c.readInTurn(ctx, o)
	}
}

// resolve looks an address up; a failure is a response, as of any exchange.
func (c *Crawler) resolve(ctx context.Context, o *outcome) {
	start := c.opt.Now()
	addr, err := c.opt.Fetcher.Resolve(ctx, o.host.Name)
	if err != nil {
		o.resp = &fetch.Response{URL: o.target, State: fetch.StateOf(err), Err: err, Start: start, Took: c.opt.Now().Sub(start)}
		return
	}
	o.addr = addr
}

// report sends the owner what came of a job.
func (c *Crawler) report(ctx context.Context, o *outcome) {
	o.aborted = o.aborted || o.resp != nil && o.resp.State == fetch.StateNone && ctx.Err() != nil
	c.outcomes <- o
}

// read parses and scores a fetched page and looks up its links and its likes, as long
// as it is not spent.
func (c *Crawler) read(o *outcome, spent func() error) error {
	p, err := page.Parse(o.resp.Body, page.ParseOptions{
		URL:         o.target,
		ContentType: o.resp.ContentType,
		RobotsTag:   robotsTag(o.resp.Header),
		Normalizer:  c.opt.URLs,
		Stop:        spent,
	})
	if over := spent(); over != nil {
		return over
	}
	if err != nil {
		o.resp.State, o.resp.Err = fetch.StateWrongType, err
		return nil
	}
	o.page = p
	o.foreign = c.opt.Scope.foreign(p)
	o.score = c.opt.Scorer.ScorePage(p, o.queued.Score)
	if err := spent(); err != nil {
		return err
	}
	o.links = c.links(o)
	o.looks = looksOf(p, c.seed)
	if o.watched {
		o.farmLook = farmLook(p, c.seed)
	}
	o.size = int64(len(o.resp.Body))
	if _, unwanted := o.unwanted(); !unwanted {
		o.body = c.store.Compress(o.resp.Body)
	}
	o.resp.Body = nil // the owner has no use for it
	if err := spent(); err != nil {
		return err
	}

	hashes := make([]store.Hash, len(o.links))
	for i := range o.links {
		hashes[i] = o.links[i].hash
	}
	seen, err := c.store.LookupAll(hashes)
	if err != nil {
		return err
	}
	for i := range seen {
		o.links[i].seen = seen[i]
	}
	return c.findKin(o, spent)
}

// belowThreshold says that a link is not followed for its score, "" when it is.
func (c *Crawler) belowThreshold(score float64) string {
	if score >= c.opt.Threshold {
		return ""
	}
	return fmt.Sprintf("score %.4g is below the threshold %.4g", score, c.opt.Threshold)
}

// links returns the page's links, each target once with its best score, in the
// order of the page.
func (c *Crawler) links(o *outcome) []found {
	p := o.page
	scores := c.opt.Scorer.ScoreLinks(make([]float64, 0, len(p.Links)), p, o.score)
	c.translated(o, scores)
	at := make(map[string]int, len(p.Links))
	links := make([]found, 0, len(p.Links))
	size := 0
	for i := range p.Links {
		l := &p.Links[i]
		f := found{url: l.URL, score: scores[i], skip: c.opt.Scope.skipLink(p, l, o.birth.Depth+1)}
		if f.skip == "" {
			f.skip = c.belowThreshold(f.score)
		}
		if f.skip == "" && !c.opt.FollowTraps {
			f.skip = circular(l.URL)
			f.trap = f.skip != ""
		}
		if k, repeated := at[l.URL]; repeated {
			if old := &links[k]; old.skip != "" && f.skip == "" || old.skip == "" && f.skip == "" && f.score > old.score {
				f.hash = old.hash
				*old = f
			}
			continue
		}
		if l.URL == p.URL {
			continue
		}
		if size += len(l.URL); size > maxLinkBytes {
			c.opt.Log.Warn("page has too many links; the rest is left out", "url", p.URL, "links", len(links))
			break
		}
		f.hash = store.HashURL(l.URL)
		at[l.URL] = len(links)
		links = append(links, f)
	}
	return links
}
