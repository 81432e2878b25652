package crawler

import (
	"net/url"
	"slices"

	"fossick/crawler/fetch"
	"fossick/crawler/frontier"
	"fossick/crawler/hosts"
	"fossick/internal/page"
	"fossick/store"
	"fossick/store/change"
)

// ahead is the priority of a page that is said to have changed; all others have less.
const ahead = 2 * beforeNew

// prepareNews turns the job of a stored page into one that fetches a due sitemap or feed of
// the host; false if none is due. The page goes back to the queue afterwards.
func (c *Crawler) prepareNews(j *job) bool {
	h := j.Host
	if !c.opt.News {
		return false
	}
	if h.Announced == nil {
		h.Announced = &store.Announced{}
	}
	c.newsNamed(h, j.Target)
	for {
		i := c.opt.Revisits.Source(h.Announced, c.opt.Now())
		if i < 0 {
			return false
		}
		s := &h.Announced.Sources[i]
		if h.Rules.Allowed(c.opt.Agent, page.Path(s.URL)) {
			j.task, j.Target, j.Source = taskNews, s.URL, *s
			return true
		}
		s.At = c.opt.Now().UnixMilli() // counts as asked, so that its next turn comes later
	}
}

// newsNamed adds the sitemaps that robots.txt names to the host's sources; of is a URL of the
// host.
func (c *Crawler) newsNamed(h *hosts.Host, of string) {
	lines := h.Rules.Sitemaps()
	if len(lines) == 0 {
		return
	}
	base, err := url.Parse(of)
	for _, line := range lines {
		u, lineErr := url.Parse(line)
		if err != nil || lineErr != nil {
			continue
		}
		if norm, err := c.opt.URLs.Normalize(base.ResolveReference(u).String()); err == nil {
			add(h.Announced, h.Name, norm)
		}
	}
}

// applyNews takes in the answer of a source.
func (c *Crawler) applyNews(o *jobResult) {
	h, r := o.Host, o.Resp
	c.totals.asked(h.Host)
	c.news.Asked++
	if h.Failures++; !backsOff(r) {
		h.Failures = 0
	}
	c.requeue(o.job)
	s := find(h.Announced, o.Source.URL)
	if s == nil {
		return // the host was restored from an older record
	}
	s.At = r.Start.UnixMilli()
	switch r.State {
	case fetch.StateOK:
		s.ETag, s.Modified = r.Header.Get("ETag"), r.Header.Get("Last-Modified")
		add(h.Announced, h.Name, o.Listed.Maps...)
		c.takeNews(h, o, c.newsClaims.Asked(s.URL, s.At))
	case fetch.StateNotModified:
		c.news.NotModified++
		c.newsClaims.Asked(s.URL, s.At)
	case fetch.StateRedirect:
		if target, err := redirectTarget(c.opt.URLs, r); err == nil && page.Host(target) == h.Name && find(h.Announced, target) == nil {
			s.URL = target // the new URL is asked next time
		}
	default:
		c.news.Failed++
	}
}

// takeNews moves the pages to the front that are said to have changed.
func (c *Crawler) takeNews(h *hosts.Host, o *jobResult, source int32) {
	for _, t := range o.Told {
		if t.ID == 0 {
			if !c.opt.Scope.Forgotten.Has(t.URL) {
				c.news.fresh(t.URL)
			}
			continue
		}
		if t.Modified == 0 || !c.newsClaims.Take(source, t.ID, t.Modified, t.Seen) {
			continue
		}
		c.news.Changed++
		if Doubted(h.Announced) {
			continue
		}
		if c.frontier.Queued(frontier.ID(t.ID)) {
			c.pushStored(t.ID, t.URL, ahead)
		}
		if Believed(h.Announced) {
			c.opt.Revisits.Announced(t.ID, c.opt.Now())
		}
	}
}

// newsVisited checks a source's claim about a page against a visit.
func (c *Crawler) newsVisited(h *hosts.Host, old *store.Copy, v *store.Visit) {
	if c.opt.News && h.Announced != nil {
		c.newsClaims.visited(h.Announced, old.ID, old.Page.Seen(), v)
	}
}

// found adds the feeds that a page names to the host's sources.
func found(h *hosts.Host, feeds []string) {
	if len(feeds) == 0 {
		return
	}
	if h.Announced == nil {
		h.Announced = &store.Announced{}
	}
	add(h.Announced, h.Name, feeds...)
}

// newsClaims records what sources claim about pages, some 60 bytes a page. An unchanged source
// repeats its claims. The zero value is empty.
type newsClaims struct {
	of      map[store.ID]claim
	sources map[string]int32 // numbers of sources by URL
	asked   []int64          // when each was asked last, Unix milliseconds
}

// claim is the interval in which a page last changed, one day long if only the day is given;
// Unix milliseconds.
type claim struct {
	first, last int64
	source      int32
}

const day = 24 * 60 * 60

// Asked records that a source answered at a time (Unix milliseconds), and returns its number.
func (c *newsClaims) Asked(url string, at int64) (source int32) {
	source, known := c.sources[url]
	if !known {
		if c.sources == nil {
			c.sources, c.of = map[string]int32{}, map[store.ID]claim{}
		}
		source = int32(len(c.asked))
		c.sources[url], c.asked = source, append(c.asked, 0)
	}
	c.asked[source] = at
	return source
}

// Take records a page's lastmod (Unix seconds) as a source gives it. seen is when the page was
// seen last (Unix milliseconds). changed reports a new claim by which the page may have
// changed since then.
func (c *newsClaims) Take(source int32, id store.ID, modified, seen int64) (changed bool) {
	whole := int64(1)
	if modified%day == 0 { // midnight exactly means a day
		whole = day
	}
	had, known := c.of[id]
	n := claim{modified * 1000, (modified + whole) * 1000, source}
	c.of[id] = n
	return n.last > seen && !(known && had.first == n.first)
}

// A change within one part in unlikelyShare of the time between two visits is unlikely.
const unlikelyShare = 20

// visited checks a claim about a page, which was seen before, against what a visit found of
// its main text.
func (c *newsClaims) visited(a *store.Announced, id store.ID, seen int64, v *store.Visit) {
	n, ok := c.of[id]
	if !ok || v.State != "ok" && v.State != "not_modified" {
		return
	}
	at, told := c.asked[n.source], n.first > seen
	if at <= seen || !told && n.last > seen {
		return // the source was not asked since, or the claim is open
	}
	found := v.Change == change.Text || v.Change == change.Unsure
	if found && !told && later(at, seen, v) {
		return
	}
	if a.Checks++; found != told {
		a.Failed++
	}
}

// later reports whether a change may have come after the source was asked.
func later(at, seen int64, v *store.Visit) bool {
	if v.Modified != 0 {
		return v.Modified*1000+1000 > at
	}
	return (v.Start-at)*unlikelyShare > v.Start-seen
}

// even is the assumed share of truthful hosts before anything is known of a web.
const even = .5

// Believed reports whether a host's claims are trusted, by the same test as Last-Modified in
// package change. An unchecked host is not trusted.
func Believed(a *store.Announced) bool { return checks(a).Believed(even) }

// Doubted reports whether a host's claims are more likely wrong than true.
func Doubted(a *store.Announced) bool { return a.Checks > 0 && checks(a).Truth(even) < .5 }

func checks(a *store.Announced) change.Checks { return change.Checks{Made: a.Checks, Failed: a.Failed} }

const (
	maxSources = 50      // sources per host
	maxFresh   = 100_000 // keys in NewsCounts
	maxNamed   = 1000    // URLs in NewsCounts
)

// add adds URLs to a host's sources if they are on the host and there is room.
func add(a *store.Announced, host string, urls ...string) {
	for _, u := range urls {
		if find(a, u) == nil && len(a.Sources) < maxSources && page.Host(u) == host {
			a.Sources = append(a.Sources, store.Source{URL: u})
		}
	}
}

// find returns the source with a URL, or nil.
func find(a *store.Announced, url string) *store.Source {
	for i := range a.Sources {
		if a.Sources[i].URL == url {
			return &a.Sources[i]
		}
	}
	return nil
}

// NewsCounts is what a session's sources told.
type NewsCounts struct {
	Asked       uint64   // exchanges for sources
	NotModified uint64   // 304
	Failed      uint64   // without a usable answer
	Changed     uint64   // pages that are said to have changed since they were seen
	New         uint64   // URLs that the store does not know, up to some 100,000
	URLs        []string // the first 1000 of these, in order of discovery

	keys map[uint64]struct{}
}

// fresh counts an unknown URL, each once.
func (c *NewsCounts) fresh(url string) {
	key := page.Key(url)
	if _, had := c.keys[key]; had || len(c.keys) >= maxFresh {
		return
	}
	if c.keys == nil {
		c.keys = map[uint64]struct{}{}
	}
	c.keys[key] = struct{}{}
	if c.New++; len(c.URLs) < maxNamed {
		c.URLs = append(c.URLs, url)
	}
}

// plus adds the counts of a later session.
func (c NewsCounts) plus(o NewsCounts) NewsCounts {
	sum := NewsCounts{Asked: c.Asked + o.Asked, NotModified: c.NotModified + o.NotModified, Failed: c.Failed + o.Failed, Changed: c.Changed + o.Changed, New: c.New + o.New}
	sum.URLs = append(slices.Clone(c.URLs), o.URLs...)
	sum.URLs = sum.URLs[:min(len(sum.URLs), maxNamed)]
	return sum
}
