package crawler

import (
	"context"

	"fossick/crawler/fetch"
	"fossick/crawler/hosts"
)

// sitemapPart is how many URLs of a sitemap a worker hands at a time to the owner: they
// fit into a batch with others.
const sitemapPart = 250

// readSitemap fetches a sitemap and sends what it names to the owner, part by
// part. The outcome itself, which ends the job, comes last.
func (p *pool) readSitemap(ctx, exchange context.Context, o *outcome, pace *fetch.Pace) {
	r := p.rules.NewReading(o.Host.Name, o.Sitemap.Owner.Name)
	o.Resp = p.ask(exchange, o.workJob, r.Request(o.Target), pace)
	if o.Resp.State == fetch.StateOK {
		o.Listed.Maps = r.Maps
		p.sendSitemap(ctx, o, r)
	}
	o.Note = r.Note(o.Resp.State)
}

// sendSitemap looks the pages up and sends those that are new, as long as the
// host has room for them.
func (p *pool) sendSitemap(ctx context.Context, o *outcome, r *hosts.Reading) {
	for at := 0; at < len(r.Pages) && o.Err == nil && !o.Aborted; at += sitemapPart {
		part := r.Pages[at:min(at+sitemapPart, len(r.Pages))]
		var links []link
		if links, o.Err = p.reader.unknown(part); o.Err != nil {
			return
		}
		if room := o.Sitemap.Room - r.Fresh; len(links) > room {
			links, r.Full = links[:room], true
		}
		r.Fresh += len(links)
		if len(links) > 0 {
			p.reader.rateUnlinked(links, o.Sitemap.Parent)
			select {
			case p.outcomes <- &outcome{workJob: o.workJob, Resp: o.Resp, Listed: listed{Links: links, Partial: true}}:
			case <-ctx.Done():
				o.Aborted = true // what was sent stays, the rest comes with the next try
			}
		}
		if r.Full && r.Fresh >= o.Sitemap.Room {
			return
		}
	}
}
