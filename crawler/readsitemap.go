package crawler

import (
	"context"
	"io"

	"fossick/fetch"
	"fossick/page"
	"fossick/store"
)

// sitemapReading is what a worker has read of one sitemap.
type sitemapReading struct {
	normal      *page.Normalizer
	lies, owner string // name:port of the host where it lies, and of the one whose robots.txt led to it
	pages       []fetch.SitemapPage
	maps        []string
	bytes       int // of the pages' URLs
	urls        int // entries that are pages of these hosts
	fresh       int // of these, unknown
	foreign     int // entries of other hosts
	full        bool
	err         error // where the file breaks
}

// A worker keeps so many bytes of URLs of one sitemap. It hands so many at a time to the
// owner, which fit into a batch with others.
const (
	maxSitemapKept = 8 << 20
	sitemapPart    = 250
)

// readSitemap fetches a sitemap and sends what it names to the owner, part by
// part. The outcome itself, which ends the job, comes last.
func (c *Crawler) readSitemap(ctx, exchange context.Context, o *outcome, pace *fetch.Pace) {
	r := &sitemapReading{normal: c.opt.URLs, lies: o.host.Name, owner: o.owner.Name}
	o.resp = c.ask(exchange, o.job, fetch.SitemapRequest(o.target, func(body io.Reader) {
		r.err = fetch.ReadSitemap(body, r.take)
	}), pace)
	if o.resp.State == fetch.StateOK {
		o.maps = r.maps
		c.sendSitemap(ctx, o, r)
	}
	o.note = r.note(o.resp.State)
}

// take is told of each entry. A sitemap speaks for the host where it lies and for
// the one whose robots.txt names it, for no other.
func (r *sitemapReading) take(e fetch.SitemapEntry) bool {
	u, err := r.normal.Normalize(e.URL)
	if err != nil {
		return true
	}
	if host := page.Host(u); host != r.lies && host != r.owner {
		r.foreign++
		return true
	}
	if e.Map {
		if len(r.maps) < maxSitemapFiles {
			r.maps = append(r.maps, u)
		}
		return true
	}
	if r.bytes += len(u); r.bytes > maxSitemapKept {
		r.full = true
		return false
	}
	r.urls++
	r.pages = append(r.pages, fetch.SitemapPage{URL: u, Modified: e.Modified})
	return true
}

// sendSitemap looks the pages up and sends those that are new, as long as the
// host has room for them.
func (c *Crawler) sendSitemap(ctx context.Context, o *outcome, r *sitemapReading) {
	for at := 0; at < len(r.pages) && o.err == nil && !o.aborted; at += sitemapPart {
		part := r.pages[at:min(at+sitemapPart, len(r.pages))]
		var links []found
		if links, o.err = c.unknown(part); o.err != nil {
			return
		}
		if room := o.room - r.fresh; len(links) > room {
			links, r.full = links[:room], true
		}
		r.fresh += len(links)
		if len(links) > 0 {
			c.rate(o, links)
			select {
			case c.outcomes <- &outcome{job: o.job, resp: o.resp, links: links, partial: true}:
			case <-ctx.Done():
				o.aborted = true // what was sent stays, the rest comes with the next try
			}
		}
		if r.full && r.fresh >= o.room {
			return
		}
	}
}

// unknown returns the pages that the store has never heard of.
func (c *Crawler) unknown(pages []fetch.SitemapPage) ([]found, error) {
	hashes := make([]store.Hash, len(pages))
	for i, p := range pages {
		hashes[i] = store.HashURL(p.URL)
	}
	seen, err := c.store.LookupAll(hashes)
	if err != nil {
		return nil, err
	}
	links := make([]found, 0, len(pages))
	for i, p := range pages {
		if seen[i].ID == 0 {
			links = append(links, found{url: p.URL, hash: hashes[i], modified: modifiedOf(p.Modified)})
		}
	}
	return links, nil
}

// rate scores URLs that only a sitemap names, and says which are not wanted. They
// count as one link away from a start page; --links is of links and does not
// touch them.
func (c *Crawler) rate(o *outcome, links []found) {
	c.cores <- struct{}{}
	defer func() { <-c.cores }()
	scorer, ok := c.opt.Scorer.(SitemapScorer)
	for i := range links {
		f := &links[i]
		f.score = o.parent
		if ok {
			f.score = scorer.ScoreUnlinked(f.url, o.parent)
		}
		f.skip = c.opt.Scope.Excludes(f.url)
		if f.skip == "" {
			f.skip = c.belowThreshold(f.score)
		}
		if f.skip == "" && !c.opt.FollowTraps {
			f.skip = circular(f.url)
			f.trap = f.skip != ""
		}
	}
}
