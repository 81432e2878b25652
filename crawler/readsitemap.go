package crawler

import (
	"context"
	"time"

	"fossick/crawler/sitemaps"
	"fossick/crawler/traps"
	"fossick/fetch"
	"fossick/store"
)

// sitemapPart is how many URLs of a sitemap a worker hands at a time to the owner: they
// fit into a batch with others.
const sitemapPart = 250

// readSitemap fetches a sitemap and sends what it names to the owner, part by
// part. The outcome itself, which ends the job, comes last.
func (p *pool) readSitemap(ctx, exchange context.Context, o *outcome, pace *fetch.Pace) {
	r := p.sitemaps.NewReading(o.host.Name, o.owner.Name)
	o.resp = p.ask(exchange, o.job, fetch.SitemapRequest(o.target, r.From), pace)
	if o.resp.State == fetch.StateOK {
		o.maps = r.Maps
		p.sendSitemap(ctx, o, r)
	}
	o.note = r.Note(o.resp.State)
}

// sendSitemap looks the pages up and sends those that are new, as long as the
// host has room for them.
func (p *pool) sendSitemap(ctx context.Context, o *outcome, r *sitemaps.Reading) {
	for at := 0; at < len(r.Pages) && o.err == nil && !o.aborted; at += sitemapPart {
		part := r.Pages[at:min(at+sitemapPart, len(r.Pages))]
		var links []found
		if links, o.err = p.unknown(part); o.err != nil {
			return
		}
		if room := o.room - r.Fresh; len(links) > room {
			links, r.Full = links[:room], true
		}
		r.Fresh += len(links)
		if len(links) > 0 {
			p.rateUnlinked(o, links)
			select {
			case p.outcomes <- &outcome{job: o.job, resp: o.resp, links: links, partial: true}:
			case <-ctx.Done():
				o.aborted = true // what was sent stays, the rest comes with the next try
			}
		}
		if r.Full && r.Fresh >= o.room {
			return
		}
	}
}

// unknown returns the pages that the store has never heard of.
func (r *reader) unknown(pages []fetch.SitemapPage) ([]found, error) {
	hashes := make([]store.Hash, len(pages))
	for i, p := range pages {
		hashes[i] = store.HashURL(p.URL)
	}
	seen, err := r.journal.Lookup(hashes)
	if err != nil {
		return nil, err
	}
	links := make([]found, 0, len(pages))
	for i, p := range pages {
		if seen[i].ID == 0 {
			links = append(links, found{url: p.URL, hash: hashes[i], modified: unixSeconds(p.Modified)})
		}
	}
	return links, nil
}

// rateUnlinked scores URLs that only a sitemap names, and says which are not wanted. They
// count as one link away from a start page; --links is of links and does not
// touch them.
func (r *reader) rateUnlinked(o *outcome, links []found) {
	r.cores <- struct{}{}
	defer func() { <-r.cores }()
	scorer, ok := r.opt.Scorer.(SitemapScorer)
	for i := range links {
		f := &links[i]
		f.score = o.parent
		if ok {
			f.score = scorer.ScoreUnlinked(f.url, o.parent)
		}
		f.skip = r.opt.Scope.Excludes(f.url)
		if f.skip == "" {
			f.skip = r.belowThreshold(f.score)
		}
		if f.skip == "" && !r.opt.FollowTraps {
			f.skip = traps.Circular(f.url)
			f.trap = f.skip != ""
		}
	}
}

func unixSeconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}
