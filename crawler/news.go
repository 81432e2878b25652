package crawler

import (
	"net/url"

	"fossick/crawler/fetch"
	"fossick/crawler/frontier"
	"fossick/crawler/hosts"
	"fossick/internal/page"
	"fossick/store"
)

// siteNews asks hosts' sitemaps and feeds again which of their stored pages have changed. The
// chooser says when; a host that was leased for a page takes its source first. What they
// name that is not known is counted, and neither asked for nor journalled.
type siteNews struct {
	opt      *Options
	frontier *frontier.Frontier
	totals   *running
	hosts    *hosts.Table
	queue    *queue

	claims  sitenewsClaims
	session NewsCounts
}

// ahead is the priority of a page that is said to have changed; others have less.
const ahead = 2 * beforeNew

// prepare makes of a stored page's job, whose host is leased, one for a source of the host;
// false where none is due. The page goes back to its place when that has ended.
func (n *siteNews) prepare(j *workJob) bool {
	h := j.Host
	if !n.opt.News {
		return false
	}
	if h.Announced == nil {
		h.Announced = &store.Announced{}
	}
	n.named(h, j.Target)
	for {
		i := n.opt.Revisits.Source(h.Announced, n.opt.Now())
		if i < 0 {
			return false
		}
		s := &h.Announced.Sources[i]
		if h.Rules.Allowed(n.opt.Agent, page.Path(s.URL)) {
			j.task, j.Target, j.Source = news, s.URL, *s
			return true
		}
		s.At = n.opt.Now().UnixMilli() // its next turn is as if it had been asked
	}
}

// named takes in what robots.txt names, for the sake of a URL of the host.
func (n *siteNews) named(h *hosts.Host, of string) {
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
		if norm, err := n.opt.URLs.Normalize(base.ResolveReference(u).String()); err == nil {
			add(h.Announced, h.Name, norm)
		}
	}
}

// apply takes in what a source said.
func (n *siteNews) apply(o *outcome) {
	h, r := o.Host, o.Resp
	n.totals.asked(h.Host)
	n.session.Asked++
	if h.Failures = 0; hosts.Transient(r) {
		h.Failures++
	}
	n.queue.Requeue(o.workJob)
	s := find(h.Announced, o.Source.URL)
	if s == nil {
		return // the host was read anew from an older record
	}
	s.At = r.Start.UnixMilli()
	switch r.State {
	case fetch.StateOK:
		s.ETag, s.Modified = r.Header.Get("ETag"), r.Header.Get("Last-Modified")
		add(h.Announced, h.Name, o.Listed.Maps...)
		n.take(h, o, n.claims.Asked(s.URL, s.At))
	case fetch.StateNotModified:
		n.session.NotModified++
		n.claims.Asked(s.URL, s.At)
	case fetch.StateRedirect:
		if target, err := redirectTarget(n.opt.URLs, r); err == nil && page.Host(target) == h.Name && find(h.Announced, target) == nil {
			s.URL = target // it is asked there the next time
		}
	default:
		n.session.Failed++
	}
}

// take has the pages that are said to have changed come first.
func (n *siteNews) take(h *hosts.Host, o *outcome, source int32) {
	for _, t := range o.Told {
		if t.ID == 0 {
			if !n.opt.Scope.Forgotten.Has(t.URL) {
				n.session.fresh(t.URL)
			}
			continue
		}
		if t.Modified == 0 || !n.claims.Take(source, t.ID, t.Modified, t.Seen) {
			continue
		}
		n.session.Changed++
		if Doubted(h.Announced) {
			continue
		}
		if n.frontier.Queued(frontier.ID(t.ID)) {
			n.queue.pushStored(t.ID, t.URL, ahead)
		}
		if Believed(h.Announced) {
			n.opt.Revisits.Announced(t.ID, n.opt.Now())
		}
	}
}

// visited holds what a source said of a page, which was seen before, against a visit.
func (n *siteNews) visited(h *hosts.Host, old *store.Copy, v *store.Visit) {
	if n.opt.News && h.Announced != nil {
		n.claims.visited(h.Announced, old.ID, old.Page.Seen(), v)
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
