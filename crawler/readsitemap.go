package crawler

import (
	"context"

	"fossick/crawler/reading"
	"fossick/crawler/sitemaps"
	"fossick/fetch"
)

// sitemapPart is how many URLs of a sitemap a worker hands at a time to the owner: they
// fit into a batch with others.
const sitemapPart = 250

// readSitemap fetches a sitemap and sends what it names to the owner, part by
// part. The outcome itself, which ends the job, comes last.
func (p *pool) readSitemap(ctx, exchange context.Context, o *outcome, pace *fetch.Pace) {
	r := p.rules.NewReading(o.host.Name, o.sitemap.owner.Name)
	o.resp = p.ask(exchange, o.job, fetch.SitemapRequest(o.target, r.From), pace)
	if o.resp.State == fetch.StateOK {
		o.listed.maps = r.Maps
		p.sendSitemap(ctx, o, r)
	}
	o.note = r.Note(o.resp.State)
}

// sendSitemap looks the pages up and sends those that are new, as long as the
// host has room for them.
func (p *pool) sendSitemap(ctx context.Context, o *outcome, r *sitemaps.Reading) {
	for at := 0; at < len(r.Pages) && o.err == nil && !o.aborted; at += sitemapPart {
		part := r.Pages[at:min(at+sitemapPart, len(r.Pages))]
		var links []reading.Link
		if links, o.err = p.reader.Unknown(part); o.err != nil {
			return
		}
		if room := o.sitemap.room - r.Fresh; len(links) > room {
			links, r.Full = links[:room], true
		}
		r.Fresh += len(links)
		if len(links) > 0 {
			p.reader.RateUnlinked(links, o.sitemap.parent)
			select {
			case p.outcomes <- &outcome{job: o.job, resp: o.resp, listed: listed{links: links, partial: true}}:
			case <-ctx.Done():
				o.aborted = true // what was sent stays, the rest comes with the next try
			}
		}
		if r.Full && r.Fresh >= o.sitemap.room {
			return
		}
	}
}
