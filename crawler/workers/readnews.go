package workers

import (
	"context"

	"fossick/crawler/fetch"
	"fossick/crawler/work"
)

// readNews fetches a sitemap or a feed, on condition that it changed, and looks up what it
// says of stored pages.
func (p *Pool) readNews(exchange context.Context, o *work.Outcome, pace *fetch.Pace) {
	r := p.rules.NewReading(o.Host.Name, o.Host.Name)
	req := r.Request(o.Target)
	req.ETag, req.LastModified = o.Source.ETag, o.Source.Modified
	if o.Resp = p.ask(exchange, o.Job, req, pace); o.Resp.State == fetch.StateOK {
		o.Listed.Maps = r.Maps
		o.Told, o.Err = p.reader.Told(r.Pages)
	}
	o.Note = r.Note(o.Resp.State)
}
