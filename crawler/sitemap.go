package crawler

import (
	"fmt"
	"net/url"
	"slices"
	"time"

	"fossick/fetch"
	"fossick/page"
	"fossick/store"
)

// Limits of what one host's sitemaps may cost; MaxSitemapURLs is the other.
const (
	maxSitemapFiles = 50 // named and asked for, a host
	maxSitemapDepth = 3  // of indexes in indexes; the protocol has one level
	maxSitemapTries = 2  // exchanges for one sitemap
	// sitemapsFirst is how many exchanges for sitemaps come before a host's first
	// page; after them sitemaps and pages take turns, or fifty files at a host that
	// rests for a minute would keep its pages waiting for an hour.
	sitemapsFirst = 3
	// maxGuestWaits bounds how often a host looks whether another one, where its
	// sitemap lies, has become free: half a minute for each sitemap.
	maxGuestWaits = 120
	maxGuests     = 1000 // hosts that wait for their sitemaps at another one
	// defaultSitemapURLs is how many URLs the sitemaps of one host may add.
	defaultSitemapURLs = 10_000
)

// SitemapScorer is a Scorer that has an opinion of a URL that no fetched page
// links to. Without it such a URL is worth what the URL is for whose sake the
// host was asked.
type SitemapScorer interface {
	Scorer
	// ScoreUnlinked returns the score of a URL, in [0,1]. parent is the score of
	// the URL for whose sake the host was asked.
	ScoreUnlinked(url string, parent float64) float64
}

// sitemapsWait says whether a sitemap of the host comes before the next of its
// pages. It may be asked once the host's robots.txt is known, which names them.
func (c *Crawler) sitemapsWait(j *job) bool {
	h := j.host
	if !c.opt.Sitemaps {
		return false
	}
	if h.Sitemaps == nil {
		h.Sitemaps = &store.Sitemaps{Score: j.queued.Score}
		base, err := url.Parse(j.birth.URL)
		for _, line := range h.robots.Sitemaps() {
			// The protocol wants a whole URL; paths occur, and there is no doubt.
			if u, lineErr := url.Parse(line); err == nil && lineErr == nil {
				c.nameSitemap(h.Sitemaps, base.ResolveReference(u).String(), 0)
			}
		}
	}
	own := len(h.Sitemaps.Pending) > 0 && !h.sitemapBusy && h.waits <= maxGuestWaits
	return own && (h.Sitemaps.Files < sitemapsFirst || h.sitemapTurn) || len(h.guests) > 0 && h.sitemapTurn
}

// nameSitemap takes a sitemap in, unless it is known or there are enough.
func (c *Crawler) nameSitemap(s *store.Sitemaps, raw string, depth int) {
	u, err := c.opt.URLs.Normalize(raw)
	if err != nil || len(s.Known) >= maxSitemapFiles || slices.Contains(s.Known, page.Key(u)) {
		return
	}
	s.Known = append(s.Known, page.Key(u))
	s.Pending = append(s.Pending, store.SitemapFile{URL: u, Depth: depth})
}

// prepareSitemap makes a sitemap's job, of a host that was leased for a page; the
// URL goes back to its place. A sitemap may lie at another host, when robots.txt
// names it there (sitemaps.org, cross submission); then that one must be free and
// rested, and its robots.txt holds. Others' sitemaps at this host come first.
func (c *Crawler) prepareSitemap(j *job) (*job, error) {
	h := j.host
	for len(h.guests) > 0 {
		name := h.guests[0]
		h.guests = h.guests[1:]
		owner, err := c.host(name, "http://"+name+"/")
		if err != nil {
			return nil, err
		}
		if s := owner.Sitemaps; s == nil || len(s.Pending) == 0 || owner.sitemapBusy || page.Host(s.Pending[0].URL) != h.Name {
			continue // it had its turn already
		}
		if why := c.sitemapDenied(h, owner.Sitemaps.Pending[0].URL); why != "" {
			c.dropSitemap(owner, why)
			continue
		}
		c.requeue(j)
		return c.sitemapJob(&job{}, h, owner), nil
	}
	for c.sitemapsWait(j) {
		target := h.Sitemaps.Pending[0].URL
		at, err := c.host(page.Host(target), target)
		if err != nil {
			return nil, err
		}
		switch why := c.sitemapDenied(at, target); {
		case why != "":
			c.dropSitemap(h, why)
		case at == h:
			return c.sitemapJob(j, h, h), nil
		default:
			return c.prepareGuest(j, at, target)
		}
	}
	return c.preparePage(j)
}

// sitemapDenied says why a sitemap cannot be had from the host where it lies, ""
// when it can, or nobody knows yet.
func (c *Crawler) sitemapDenied(at *host, target string) string {
	switch {
	case at.verdict != "":
		return at.why
	case at.resolved && c.robotsFresh(at) && !at.robots.Allowed(c.opt.Agent, pathOf(target)):
		return denial(at.robots)
	}
	return ""
}

func (c *Crawler) dropSitemap(owner *host, why string) {
	c.opt.Log.Info("sitemap left out", "url", owner.Sitemaps.Pending[0].URL, "host", owner.Name, "reason", why)
	owner.Sitemaps.Drop()
}

// sitemapJob makes the job for the first pending sitemap of owner, which lies at
// a host that is leased; j has what else the job has to know.
func (c *Crawler) sitemapJob(j *job, at, owner *host) *job {
	j.task, j.host, j.owner = taskSitemap, at, owner
	j.target = owner.Sitemaps.Pending[0].URL
	j.room = c.opt.MaxSitemapURLs - owner.Sitemaps.URLs
	j.parent = owner.Sitemaps.Score
	owner.sitemapBusy, owner.waits = true, 0
	return j
}

// enterSitemap journals a part of what a sitemap names. A kill between two parts
// leaves the sitemap pending: it is fetched again, and what is known by then is
// passed over.
func (c *Crawler) enterSitemap(b *store.Batch, o *outcome) error {
	if o.exchange == 0 {
		if err := c.journal(b, o, c.restOf(o.host, o.resp)); err != nil {
			return err
		}
	}
	birth := store.Birth{Via: store.ViaSitemap, Depth: 1, Exchange: o.exchange, AtHost: o.host.Name}
	before := c.counts.URLs
	for _, f := range o.links {
		birth.Modified = f.modified
		if _, err := c.discover(b, birth, f, c.linkOf(f)); err != nil {
			return err
		}
	}
	o.owner.Sitemaps.URLs += int(c.counts.URLs - before)
	if err := c.putHost(b, o.owner); err != nil || o.owner == o.host {
		return err
	}
	return c.putHost(b, o.host)
}

// applySitemap takes in how the exchange for a sitemap ended. The URL for which
// the host was leased goes back to its place.
func (c *Crawler) applySitemap(b *store.Batch, o *outcome) error {
	h, r, s := o.host, o.resp, o.owner.Sitemaps
	o.owner.sitemapBusy, h.sitemapTurn = false, false
	c.counts.Requests++
	h.Requests++
	s.Files++
	file := s.Pending[0]
	s.Drop()
	if transient(r) {
		h.Failures++
		if file.Tries++; file.Tries < maxSitemapTries {
			s.Pending = slices.Insert(s.Pending, 0, file)
		}
	} else {
		h.Failures = 0
	}
	switch r.State {
	case fetch.StateRedirect:
		target, err := c.targetOf(r)
		if err == nil && file.Hops < fetch.MaxRobotsRedirects && !slices.Contains(s.Known, page.Key(target)) {
			s.Known = append(s.Known, page.Key(target))
			s.Pending = slices.Insert(s.Pending, 0, store.SitemapFile{URL: target, Depth: file.Depth, Hops: file.Hops + 1})
		}
	case fetch.StateOK:
		for _, u := range o.maps {
			if file.Depth < maxSitemapDepth {
				c.nameSitemap(s, u, file.Depth+1)
			}
		}
	}
	if s.Files >= maxSitemapFiles || s.URLs >= c.opt.MaxSitemapURLs {
		s.Pending = nil
	}
	if len(s.Pending) == 0 {
		s.Known = nil // nothing is left that could name a sitemap
	}
	c.requeue(o.job)
	if o.owner == h {
		return nil // apply writes it
	}
	return c.putHost(b, o.owner)
}

// note says in a few words what came of a sitemap.
func (r *sitemapReading) note(state fetch.State) string {
	if state != fetch.StateOK {
		return ""
	}
	text := fmt.Sprintf("%d URLs, %d new; %d sitemaps", r.urls, r.fresh, len(r.maps))
	if r.foreign > 0 {
		text += fmt.Sprintf("; %d of other hosts left out", r.foreign)
	}
	if r.full {
		text += "; more than there is room for"
	}
	if r.err != nil {
		text += "; " + r.err.Error()
	}
	return text
}

func modifiedOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}
