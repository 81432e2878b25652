package crawler

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"math"
	"time"

	"fossick/frontier"
	"fossick/page"
	"fossick/store"
)

// Answer is what a web in memory says to a URL: a page, or where it moved to, or
// neither of them, which is a page that is not there.
type Answer struct {
	Page     *page.Page // parsed; shared by all crawls, so nobody may change it
	Looks    *Looks     // of Page, by one Looker for all pages; nil when it is to be found out
	Moved    string     // target of a redirect
	DeadHost bool       // no host of that name answers
}

// Looks is what pages of a trap are told by.
type Looks struct{ looks }

// Looker finds out how pages look, for webs whose pages come up in many crawls. Only
// what one Looker says can be compared. Safe for concurrent use.
type Looker struct{ seed maphash.Seed }

// NewLooker returns a Looker.
func NewLooker() *Looker { return &Looker{maphash.MakeSeed()} }

// Look returns how a page looks.
func (l *Looker) Look(p *page.Page) *Looks { return &Looks{looksOf(p, l.seed)} }

// VirtualPage is one page that a virtual crawl has kept.
type VirtualPage struct {
	Page  *page.Page
	Score Score
	Depth int // links from a start page
}

// VirtualResult is what came of a virtual crawl.
type VirtualResult struct {
	Pages      []VirtualPage // in the order of the crawl
	Duplicates int           // answers with the content of a page before
	Near       int           // near-duplicates of a page before
	Missing    int           // URLs that the web does not have
	Farmed     int           // URLs left aside since their hosts are a farm's
	Waiting    int           // URLs in the queue at the end
	Stopped    Stop
}

// Virtual crawls a web in memory as Run does with one worker and no delay, but
// without network, clock and disk. Which links are followed and in what order, what
// counts as a duplicate or a trap, when the scorer is asked again: all of it is the same
// code. Where Run writes a journal it is the same decision. So it visits the same pages in
// the same order, some thousand a second; a test holds the two together.
//
// Of opt it uses Scorer, Ordering, Seeds, Scope, Threshold, MaxPages, MaxPerHost,
// MaxPerSite, FollowTraps and KeepNear. web must be safe for what else calls it. Robots.txt
// is not asked: all is allowed.
func Virtual(ctx context.Context, opt Options, web func(url string) Answer) (VirtualResult, error) {
	if opt.Scorer == nil || opt.Ordering == nil {
		return VirtualResult{}, errors.New("crawler: a virtual crawl needs a scorer and an ordering")
	}
	opt.Log = slog.New(slog.DiscardHandler)
	v := &virtual{web: web, seen: map[store.Hash]*vURL{}, contents: map[page.Checksum]struct{}{}}
	v.opt, v.seed, v.sites = opt, maphash.MakeSeed(), map[string]uint64{}
	v.rescored.atOnce = rescoreAtOnce
	v.kinds = newLinkKinds(opt.Ordering, opt.Seeds)
	v.hosts = newHostCache(math.MaxInt) // there is no store to ask again
	var err error
	if v.frontier, err = frontier.New(frontier.Options{}); err != nil {
		return VirtualResult{}, err
	}
	v.urls = append(v.urls, nil) // numbers begin with 1
	for _, seed := range opt.Seeds {
		if why := opt.Scope.Excludes(seed); why != "" {
			return VirtualResult{}, fmt.Errorf("start page %s: %s", seed, why)
		}
		v.discover(found{url: seed, hash: store.HashURL(seed), score: 1}, frontier.Link{Score: 1}, 0, 0)
	}
	return v.result, errors.Join(v.run(ctx), v.frontier.Close())
}

// virtual is a crawl without its outside. What it has of Crawler decides; the
// store, the jobs and the outcomes of it are not there.
type virtual struct {
	Crawler
	web      func(url string) Answer
	seen     map[store.Hash]*vURL
	urls     []*vURL // by number
	contents map[page.Checksum]struct{}
	nears    store.NearIndex
	finder   string // site of the page that is being visited
	result   VirtualResult
}

// vURL is what the journal would say of a URL.
type vURL struct {
	id       frontier.ID
	url      string
	by       string // site of the page that named it first; "" for a start page
	skipped  bool
	score    float64 // of the best link to it
	priority float64
	depth    int
	hops     int
}

func (v *virtual) run(ctx context.Context) error {
	for v.opt.MaxPages == 0 || v.counts.Pages < v.opt.MaxPages {
		if err := ctx.Err(); err != nil {
			v.result.Stopped = StopInterrupted
			return err
		}
		it, ok := v.frontier.Next(time.Time{})
		if !ok {
			v.result.Stopped = StopEmpty
			return v.frontier.Err()
		}
		v.visit(v.urls[it.ID], it.Priority)
		v.frontier.Done(it.Host, time.Time{})
		if err := v.learned(); err != nil {
			return err
		}
	}
	v.result.Stopped = StopMaxPages
	v.result.Waiting = v.frontier.Len()
	return nil
}

// visit is prepare, read and applyPage for one URL, which left the queue with a priority.
func (v *virtual) visit(u *vURL, priority float64) {
	h := v.host(u.url)
	v.finder = h.site
	switch {
	case u.by != "" && v.farmed(h, u.by) != "":
		v.result.Farmed++
		return
	case v.trapped(h, u.url) != "",
		v.overBudget(h, u.depth) != "",
		v.opt.MaxPerHost > 0 && h.Pages >= v.opt.MaxPerHost,
		v.opt.MaxPerSite > 0 && v.sites[h.site] >= v.opt.MaxPerSite:
		return
	}
	answer := v.web(u.url)
	if !answer.DeadHost {
		v.budgets.add(h.site, 1, 0)
	}
	switch {
	case answer.Moved != "":
		v.redirect(u, answer.Moved, v.handedOn(u.score, priority))
		return
	case answer.Page == nil:
		v.result.Missing++
		if !answer.DeadHost {
			v.observe(h, u.url, nil)
		}
		return
	}
	p := answer.Page
	o := &outcome{job: &job{birth: store.Birth{URL: u.url, Depth: u.depth}}, page: p, foreign: v.opt.Scope.foreign(p)}
	o.score = v.opt.Scorer.ScorePage(p, u.score)
	o.links = v.links(o)
	if _, again := v.contents[p.Checksum]; again {
		v.result.Duplicates++
		v.observe(h, u.url, nil)
		v.observeFarm(h, nil)
		return
	}
	v.observePage(h, u.url, p, answer.Looks)
	_, unwanted := o.unwanted()
	near := v.near(p)
	switch {
	case near:
		v.result.Near++
	case !unwanted:
		v.counts.Pages++
	}
	for _, f := range o.links {
		v.discover(f, v.linkFrom(u.url, f), u.depth+1, 0)
	}
	if !near && !unwanted {
		v.keep(u, h, o)
	}
}

// observePage takes note of how a page looks, for traps.
func (v *virtual) observePage(h *host, url string, p *page.Page, l *Looks) {
	if l == nil {
		l = &Looks{looksOf(p, v.seed)}
	}
	if v.watched(h) {
		look := farmLook(p, v.seed)
		v.observeFarm(h, &look)
	}
	v.observe(h, url, &l.looks)
}

// near says whether a page is a near-duplicate of one that was kept; see findKin.
func (v *virtual) near(p *page.Page) bool {
	if v.opt.KeepNear || p.NoIndex || p.Signature.IsZero() {
		return false
	}
	var candidates []store.Candidate
	for _, n := range v.nears.Sharing(p.Signature[:]) {
		q := v.result.Pages[n-1].Page
		candidates = append(candidates, store.Candidate{
			Number: n, URL: q.URL, Checksum: q.Checksum[:], Title: q.Title, Signature: signatureOf(q),
		})
	}
	for _, candidate := range promising(p, candidates) {
		if _, near := page.Near(p, v.result.Pages[candidate.Number-1].Page); near {
			return true
		}
	}
	return false
}

// keep counts a page.
func (v *virtual) keep(u *vURL, h *host, o *outcome) {
	v.contents[o.page.Checksum] = struct{}{}
	h.Pages++
	v.countSite(h, 1)
	if o.score.Relevant {
		v.budgets.add(h.site, 0, 1)
	}
	v.result.Pages = append(v.result.Pages, VirtualPage{Page: o.page, Score: o.score, Depth: u.depth})
	v.nears.Add(v.counts.Pages, signatureOf(o.page))
}

func (v *virtual) redirect(u *vURL, to string, score float64) {
	target, err := page.Normalize(to)
	if err != nil || u.hops+1 > maxHops {
		return
	}
	f := found{url: target, hash: store.HashURL(target), score: score, skip: v.opt.Scope.Excludes(target)}
	v.discover(f, frontier.Link{Score: score, Step: v.counts.Pages}, u.depth, u.hops+1)
}

// discover is Crawler.discover without a journal.
func (v *virtual) discover(f found, link frontier.Link, depth, hops int) {
	if f.skip == "" {
		f.skip = v.trapped(v.hosts.get(page.Host(f.url)), f.url)
	}
	u := v.seen[f.hash]
	switch {
	case u == nil:
		u = &vURL{id: frontier.ID(len(v.urls)), url: f.url, by: v.finder, skipped: f.skip != "", depth: depth, hops: hops}
		v.urls = append(v.urls, u)
		v.seen[f.hash] = u
		if !u.skipped {
			v.enqueue(u, f, link)
		}
	case f.skip != "":
	case u.skipped:
		u.skipped = false
		v.enqueue(u, f, link)
	case v.frontier.Queued(u.id):
		link.Queued, link.Old = true, u.priority
		v.discoverAgain(u, f, v.opt.Ordering.Priority(link))
	}
}

func (v *virtual) enqueue(u *vURL, f found, link frontier.Link) {
	u.priority, u.score = v.opt.Ordering.Priority(link), f.score
	v.frontier.Push(v.place(u))
}

func (v *virtual) discoverAgain(u *vURL, f found, priority float64) {
	old := u.priority
	if priority != old {
		u.priority, u.score = priority, f.score
	}
	_, rescores := v.rescorer()
	switch {
	case rescores, priority < old:
		v.frontier.Push(v.place(u))
	case priority > old:
		v.frontier.Raise(v.place(u))
	}
}

func (v *virtual) place(u *vURL) frontier.Item {
	return v.item(store.ID(u.id), v.frontier.Host(page.Host(u.url)), u.url, u.priority)
}

// host returns what is known of a URL's host.
func (v *virtual) host(url string) *host {
	name := page.Host(url)
	h := v.hosts.get(name)
	if h == nil {
		h = &host{Host: &store.Host{Name: name}, party: v.frontier.Host(name), site: page.Site(url)}
		v.hosts.put(h)
	}
	return h
}
