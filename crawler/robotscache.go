package crawler

import "fossick/fetch"

// maxValidatorBytes bounds an ETag that is kept with a host; real ones have some
// tens of bytes, and a header may have many thousand.
const maxValidatorBytes = 256

// robotsRequest asks for a host's robots.txt, or for the next hop of a redirect.
// When the rules at hand are a day old and the file's server named their version,
// it asks for the file only if it has changed.
func (c *Crawler) robotsRequest(j *job) fetch.Request {
	req := fetch.RobotsRequest(j.target)
	if j.host.robots != nil && j.host.hop == "" {
		req.ETag, req.LastModified = j.host.RobotsETag, j.host.RobotsModified
	}
	return req
}

// robotsUnchanged takes in the answer that a robots.txt is as it was (304): its
// rules hold for another day. The URL that waited for it goes back to its place.
func (c *Crawler) robotsUnchanged(o *outcome) {
	h := o.host
	h.RobotsAt = c.opt.Now().UnixMilli()
	h.hop, h.hops, h.Failures = "", 0, 0
	h.health.Met()
	c.requeue(o.job)
}

// keepValidators notes the version of the rules that o brought. Behind a redirect
// the file is another's, and asked for anew.
func (c *Crawler) keepValidators(o *outcome) {
	h, header := o.host, o.resp.Header
	h.RobotsAgent = c.opt.Agent
	h.RobotsETag, h.RobotsModified = "", ""
	if o.resp.State != fetch.StateOK || o.target != robotsURL(o.birth.URL) {
		return
	}
	if tag := header.Get("ETag"); len(tag) <= maxValidatorBytes {
		h.RobotsETag = tag
	}
	if modified := header.Get("Last-Modified"); len(modified) <= maxValidatorBytes {
		h.RobotsModified = modified
	}
}
