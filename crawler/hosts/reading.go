package hosts

import (
	"fmt"
	"io"

	"fossick/crawler/fetch"
	"fossick/internal/page"
)

// maxKept is how many bytes of URLs of one sitemap a worker keeps.
const maxKept = 8 << 20

// Reading is what a worker has read of one sitemap.
type Reading struct {
	Pages []page.Announced // in normal form
	Maps  []string
	Fresh int  // of the pages, unknown
	Full  bool // there is more than there is room for

	normal      *page.Normalizer
	lies, owner string // name:port of the host where it lies, and of the one whose robots.txt led to it
	bytes       int    // of the pages' URLs
	foreign     int    // entries of other hosts
	url         string // of the sitemap
	err         error  // where the file breaks
}

// NewReading begins to read a sitemap that lies at one host (name:port) and is another's,
// or its own.
func (r *Rules) NewReading(lies, owner string) *Reading {
	return &Reading{normal: r.URLs, lies: lies, owner: owner}
}

// Request asks for the sitemap: any type, cut at what one may have. It is read while it
// comes; none of it is kept.
func (r *Reading) Request(url string) fetch.Request {
	r.url = url
	return fetch.Request{URL: url, Accept: []string{"*/*"}, MaxBodyBytes: page.MaxSitemapBytes, Truncate: true, Stream: r.from}
}

// from reads a body.
func (r *Reading) from(body io.Reader) { r.err = page.ReadSitemap(body, r.url, r.take) }

// take is told of each entry. A sitemap speaks for the host where it lies and for
// the one whose robots.txt names it, for no other.
func (r *Reading) take(e page.SitemapEntry) bool {
	u, err := r.normal.Normalize(e.URL)
	if err != nil {
		return true
	}
	if host := page.Host(u); host != r.lies && host != r.owner {
		r.foreign++
		return true
	}
	if e.Map {
		if len(r.Maps) < maxFiles {
			r.Maps = append(r.Maps, u)
		}
		return true
	}
	if r.bytes += len(u); r.bytes > maxKept {
		r.Full = true
		return false
	}
	r.Pages = append(r.Pages, page.Announced{URL: u, Modified: e.Modified})
	return true
}

// Note says in a few words what came of a sitemap.
func (r *Reading) Note(state fetch.State) string {
	if state != fetch.StateOK {
		return ""
	}
	text := fmt.Sprintf("%d URLs, %d new; %d sitemaps", len(r.Pages), r.Fresh, len(r.Maps))
	if r.foreign > 0 {
		text += fmt.Sprintf("; %d of other hosts ignored", r.foreign)
	}
	if r.Full {
		text += "; the rest exceed the limit"
	}
	if r.err != nil {
		text += "; " + r.err.Error()
	}
	return text
}
