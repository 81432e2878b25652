package workers

import (
	"context"

	"fossick/crawler/fetch"
	"fossick/crawler/hosts"
	"fossick/crawler/reading"
	"fossick/crawler/work"
)

// SitemapPart is how many URLs of a sitemap a worker hands at a time to the owner: they
// fit into a batch with others.
const SitemapPart = 250

// readSitemap fetches a sitemap and sends what it names to the owner, part by
// part. The outcome itself, which ends the job, comes last.
func (p *Pool) readSitemap(ctx, exchange context.Context, o *work.Outcome, pace *fetch.Pace) {
	r := p.rules.NewReading(o.Host.Name, o.Sitemap.Owner.Name)
	o.Resp = p.ask(exchange, o.Job, r.Request(o.Target), pace)
	if o.Resp.State == fetch.StateOK {
		o.Listed.Maps = r.Maps
		p.sendSitemap(ctx, o, r)
	}
	o.Note = r.Note(o.Resp.State)
}

// sendSitemap looks the pages up and sends those that are new, as long as the
// host has room for them.
func (p *Pool) sendSitemap(ctx context.Context, o *work.Outcome, r *hosts.Reading) {
	for at := 0; at < len(r.Pages) && o.Err == nil && !o.Aborted; at += SitemapPart {
		part := r.Pages[at:min(at+SitemapPart, len(r.Pages))]
		var links []reading.Link
		if links, o.Err = p.reader.Unknown(part); o.Err != nil {
			return
		}
		if room := o.Sitemap.Room - r.Fresh; len(links) > room {
			links, r.Full = links[:room], true
		}
		r.Fresh += len(links)
		if len(links) > 0 {
			p.reader.RateUnlinked(links, o.Sitemap.Parent)
			select {
			case p.outcomes <- &work.Outcome{Job: o.Job, Resp: o.Resp, Listed: work.Listed{Links: links, Partial: true}}:
			case <-ctx.Done():
				o.Aborted = true // what was sent stays, the rest comes with the next try
			}
		}
		if r.Full && r.Fresh >= o.Sitemap.Room {
			return
		}
	}
}
