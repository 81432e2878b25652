package crawler

import (
	"fossick/crawler/fetch"
	"fossick/internal/page"
)

// redirectTarget returns where a redirect leads, in normal form. The field is read as
// a browser reads it, like a link of the page that was asked for. Servers send
// plenty of tabs, broken escapes and backslashes, of which Go's net/url knows
// nothing.
func redirectTarget(urls *page.Normalizer, r *fetch.Response) (string, error) {
	field := r.Header.Get("Location")
	if field == "" {
		return urls.Normalize(r.Location)
	}
	base, err := urls.Base(r.URL)
	if err != nil {
		return "", err
	}
	return urls.Resolve(base, field)
}
