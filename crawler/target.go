package crawler

import "fossick/fetch"

// targetOf returns where a redirect leads, in normal form. The field is read as a
// browser reads it, like a link of the page that was asked for: with tabs, broken
// escapes and backslashes, of which servers send plenty and Go's net/url knows
// nothing.
func (c *Crawler) targetOf(r *fetch.Response) (string, error) {
	field := r.Header.Get("Location")
	if field == "" {
		return c.opt.URLs.Normalize(r.Location)
	}
	base, err := c.opt.URLs.Base(r.URL)
	if err != nil {
		return "", err
	}
	return c.opt.URLs.Resolve(base, field)
}
