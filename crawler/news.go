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

// ahead is the priority of a page that is said to have changed; others have less.
const ahead = 2 * beforeNew

// prepareNews makes of a stored page's job, whose host is leased, one for a source of the host;
// false where none is due. The page goes back to its place when that has ended.
func (c *Crawler) prepareNews(j *workJob) bool {
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
			j.task, j.Target, j.Source = news, s.URL, *s
			return true
		}
		s.At = c.opt.Now().UnixMilli() // its next turn is as if it had been asked
	}
}

// newsNamed takes in what robots.txt names, for the sake of a URL of the host.
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

// applyNews takes in what a source said.
func (c *Crawler) applyNews(o *outcome) {
	h, r := o.Host, o.Resp
	c.totals.asked(h.Host)
	c.news.Asked++
	if h.Failures = 0; hosts.Transient(r) {
		h.Failures++
	}
	c.queue.Requeue(o.workJob)
	s := find(h.Announced, o.Source.URL)
	if s == nil {
		return // the host was read anew from an older record
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
			s.URL = target // it is asked there the next time
		}
	default:
		c.news.Failed++
	}
}

// takeNews has the pages that are said to have changed come first.
func (c *Crawler) takeNews(h *hosts.Host, o *outcome, source int32) {
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
			c.queue.pushStored(t.ID, t.URL, ahead)
		}
		if Believed(h.Announced) {
			c.opt.Revisits.Announced(t.ID, c.opt.Now())
		}
	}
}

// newsVisited holds what a source said of a page, which was seen before, against a visit.
func (c *Crawler) newsVisited(h *hosts.Host, old *store.Copy, v *store.Visit) {
	if c.opt.News && h.Announced != nil {
		c.newsClaims.visited(h.Announced, old.ID, old.Page.Seen(), v)
	}
}

// found takes in the feeds that a page of a host names.
func found(h *hosts.Host, feeds []string) {
	if len(feeds) == 0 {
		return
	}
	if h.Announced == nil {
		h.Announced = &store.Announced{}
	}
	add(h.Announced, h.Name, feeds...)
}

// sitenewsClaims are what sources say of pages. A source that has not changed says the same again. It
// takes some 60 bytes a page. The zero value is empty.
type sitenewsClaims struct {
	of      map[store.ID]claim
	sources map[string]int32 // numbers of sources by their URLs
	asked   []int64          // when each was asked last, Unix milliseconds
}

// claim is that a page changed last between two times, a day apart where only the day is
// told; Unix milliseconds.
type claim struct {
	first, last int64
	source      int32
}

const day = 24 * 60 * 60

// Asked notes that a source answered at a time (Unix milliseconds), and returns its number.
func (c *sitenewsClaims) Asked(url string, at int64) (source int32) {
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

// Take notes that a source has a page's lastmod (Unix seconds), which was seen before (Unix
// milliseconds). changed says that by this it may have changed since, and that nobody said so yet.
func (c *sitenewsClaims) Take(source int32, id store.ID, modified, seen int64) (changed bool) {
	whole := int64(1)
	if modified%day == 0 { // midnight to the second is a day
		whole = day
	}
	had, known := c.of[id]
	n := claim{modified * 1000, (modified + whole) * 1000, source}
	c.of[id] = n
	return n.last > seen && !(known && had.first == n.first)
}

// fewOf is the part of the time between two visits within which a change after the source
// was asked is unlikely enough.
const fewOf = 20

// visited holds what a source said of a page, since it was seen before, against what a visit
// found of its main text.
func (c *sitenewsClaims) visited(a *store.Announced, id store.ID, seen int64, v *store.Visit) {
	n, ok := c.of[id]
	if !ok || v.State != "ok" && v.State != "not_modified" {
		return
	}
	at, told := c.asked[n.source], n.first > seen
	if at <= seen || !told && n.last > seen {
		return // nobody asked since, or it may have been before or after
	}
	found := v.Change == change.Text || v.Change == change.Unsure
	if found && !told && later(at, seen, v) {
		return
	}
	if a.Checks++; found != told {
		a.Failed++
	}
}

// later says whether a change may be one after the source was asked.
func later(at, seen int64, v *store.Visit) bool {
	if v.Modified != 0 {
		return v.Modified*1000+1000 > at
	}
	return (v.Start-at)*fewOf > v.Start-seen
}

// even is the share of true hosts before anything is known of a web.
const even = .5

// Believed says whether what a host says is taken for true, as package rates does with
// Last-Modified. One that was never held against anything is not.
func Believed(a *store.Announced) bool { return checks(a).Believed(even) }

// Doubted says whether it is more likely to be wrong than true.
func Doubted(a *store.Announced) bool { return a.Checks > 0 && checks(a).Truth(even) < .5 }

func checks(a *store.Announced) change.Checks { return change.Checks{Made: a.Checks, Failed: a.Failed} }

// Limits of what is kept.
const (
	maxSources = 50      // of a host
	maxFresh   = 100_000 // URLs that are known to be new, by their keys
	maxNamed   = 1000    // of these, those that are named
)

// add has a host's sources be these too, as far as they are its own and there is room.
func add(a *store.Announced, host string, urls ...string) {
	for _, u := range urls {
		known := slices.ContainsFunc(a.Sources, func(s store.Source) bool { return s.URL == u })
		if !known && len(a.Sources) < maxSources && page.Host(u) == host {
			a.Sources = append(a.Sources, store.Source{URL: u})
		}
	}
}

// find returns the source of a URL, nil for none.
func find(a *store.Announced, url string) *store.Source {
	for i := range a.Sources {
		if a.Sources[i].URL == url {
			return &a.Sources[i]
		}
	}
	return nil
}

// NewsCounts are what a session's sources have told.
type NewsCounts struct {
	Asked       uint64   // exchanges for them
	NotModified uint64   // 304
	Failed      uint64   // no answer that tells
	Changed     uint64   // pages that changed since they were seen, as they say
	New         uint64   // URLs that nobody knew, up to some 100,000
	URLs        []string // the first maxNamed of these, in order of their discovery

	keys map[uint64]struct{}
}

// fresh counts a URL that is not known, each once.
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

// plus adds what another session has brought.
func (c NewsCounts) plus(o NewsCounts) NewsCounts {
	sum := NewsCounts{Asked: c.Asked + o.Asked, NotModified: c.NotModified + o.NotModified, Failed: c.Failed + o.Failed, Changed: c.Changed + o.Changed, New: c.New + o.New}
	sum.URLs = append(slices.Clone(c.URLs), o.URLs...)
	sum.URLs = sum.URLs[:min(len(sum.URLs), maxNamed)]
	return sum
}
