package crawler

import (
	"context"

	"fossick/crawler/fetch"
)

// readNews fetches a sitemap or a feed, on condition that it changed, and looks up what it
// says of stored pages.
func (p *pool) readNews(exchange context.Context, o *outcome, pace *fetch.Pace) {
	r := p.rules.NewReading(o.Host.Name, o.Host.Name)
	req := r.Request(o.Target)
	req.ETag, req.LastModified = o.Source.ETag, o.Source.Modified
	if o.Resp = p.ask(exchange, o.workJob, req, pace); o.Resp.State == fetch.StateOK {
		o.Listed.Maps = r.Maps
		o.Told, o.Err = p.reader.Told(r.Pages)
	}
	o.Note = r.Note(o.Resp.State)
}
