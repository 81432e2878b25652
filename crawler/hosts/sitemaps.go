package hosts

import (
	"fmt"
	"io"
	"net/url"
	"slices"

	"fossick/crawler/fetch"
	"fossick/internal/page"
	"fossick/store"
)

// Limits on the cost of one host's sitemaps; SitemapRules.MaxURLs limits the URLs.
const (
	maxFiles = 50 // named and requested, per host
	maxDepth = 3  // of nested indexes; the protocol has one level
	maxTries = 2  // exchanges for one sitemap
	// first is the number of sitemap exchanges before a host's first page. After them sitemaps
	// and pages alternate, so that fifty files at a slow host do not delay its pages for an
	// hour.
	first = 3
	// maxWaits bounds how often a host checks whether the host of its next sitemap is free:
	// half a minute for each sitemap.
	maxWaits   = 120
	maxOwners  = 1000 // hosts that wait for their sitemaps at one host
	defaultMax = 10_000
)

// SitemapRules hold for all hosts of a crawl.
type SitemapRules struct {
	On      bool // sitemaps are read
	MaxURLs int  // URLs that the sitemaps of one host may add [10000]
	URLs    *page.Normalizer
}

func NewSitemapRules(on bool, maxURLs int, urls *page.Normalizer) SitemapRules {
	if maxURLs <= 0 {
		maxURLs = defaultMax
	}
	return SitemapRules{On: on, MaxURLs: maxURLs, URLs: urls}
}

// sitemapState is the state of one host's sitemaps; the zero value is ready.
type sitemapState struct {
	Record *store.Sitemaps // nil until the sitemaps are known

	turn   bool     // a page was fetched since the last sitemap
	busy   bool     // one of its sitemaps is in flight
	owners []string // hosts with sitemaps here
	waits  int      // for the host of the next sitemap
	passed int      // sitemaps postponed after such waits
}

// Named records the sitemaps in a host's robots.txt, paths or whole URLs, found for a URL with
// a score.
func (r *SitemapRules) Named(h *sitemapState, lines []string, of string, score float64) {
	h.Record = &store.Sitemaps{Score: score}
	base, err := url.Parse(of)
	for _, line := range lines {
		// The protocol demands a whole URL, but paths occur and are unambiguous.
		if u, lineErr := url.Parse(line); err == nil && lineErr == nil {
			r.name(h.Record, base.ResolveReference(u).String(), 0)
		}
	}
}

// name adds a sitemap, unless it is known or there are enough.
func (r *SitemapRules) name(s *store.Sitemaps, raw string, depth int) {
	u, err := r.URLs.Normalize(raw)
	if err != nil || len(s.Known) >= maxFiles || slices.Contains(s.Known, page.Key(u)) {
		return
	}
	s.Known = append(s.Known, page.Key(u))
	s.Pending = append(s.Pending, store.SitemapFile{URL: u, Depth: depth})
}

// Renamed forgets the sitemaps that an earlier robots.txt named if none was read: that file
// may have come from a failing server.
func (h *sitemapState) Renamed() {
	if h.Record != nil && h.Record.Files == 0 && !h.busy {
		h.Record = nil
	}
}

// Due reports whether a sitemap comes before the host's next page.
func (h *sitemapState) Due() bool {
	own := h.Record != nil && len(h.Record.Pending) > 0 && !h.busy && h.waits <= maxWaits
	return own && (h.Record.Files < first || h.turn) || len(h.owners) > 0 && h.turn
}

// Next returns the host's next sitemap; false when there is none or one is in flight.
func (h *sitemapState) Next() (url string, ok bool) {
	if h.Record == nil || len(h.Record.Pending) == 0 || h.busy {
		return "", false
	}
	return h.Record.Pending[0].URL, true
}

// Pending reports whether the host has sitemaps to read, including one in flight.
func (h *sitemapState) Pending() bool { return h.Record != nil && len(h.Record.Pending) > 0 }

// PageAsked records a page request: the next turn is a sitemap's.
func (h *sitemapState) PageAsked() { h.turn = true }

// Begin starts the exchange for a host's next sitemap and returns how many URLs it may add.
func (r *SitemapRules) Begin(h *sitemapState) (room int) {
	h.busy, h.waits = true, 0
	return r.MaxURLs - h.Record.URLs
}

// BrokenOff ends an exchange without an outcome: the sitemap stays pending.
func (h *sitemapState) BrokenOff() { h.busy = false }

// Entered counts URLs that a sitemap added.
func (h *sitemapState) Entered(urls int) { h.Record.URLs += urls }

// SitemapEnd is the outcome of an exchange for a sitemap.
type SitemapEnd struct {
	State   fetch.State
	Passing bool     // it failed, and another try may succeed
	Target  string   // of a redirect, in normal form; "" if unusable
	Maps    []string // named in the sitemap
}

// End records the outcome of the exchange for owner's next sitemap at a host.
func (r *SitemapRules) End(owner, at *sitemapState, e SitemapEnd) {
	owner.busy, at.turn = false, false
	s := owner.Record
	s.Files++
	file := s.Pending[0]
	s.Drop()
	if e.Passing {
		if file.Tries++; file.Tries < maxTries {
			s.Pending = slices.Insert(s.Pending, 0, file)
		}
	}
	switch e.State {
	case fetch.StateRedirect:
		if e.Target != "" && file.Hops < fetch.MaxRobotsRedirects && !slices.Contains(s.Known, page.Key(e.Target)) {
			s.Known = append(s.Known, page.Key(e.Target))
			s.Pending = slices.Insert(s.Pending, 0, store.SitemapFile{URL: e.Target, Depth: file.Depth, Hops: file.Hops + 1})
		}
	case fetch.StateOK:
		for _, u := range e.Maps {
			if file.Depth < maxDepth {
				r.name(s, u, file.Depth+1)
			}
		}
	}
	if s.Files >= maxFiles || s.URLs >= r.MaxURLs {
		s.Pending = nil
	}
	if len(s.Pending) == 0 {
		s.Known = nil // no sitemap is left that could name others
	}
}

// Wait counts a check for the host of the next sitemap. After maxWaits another sitemap comes
// next; when none is available, the host's pages go on.
func (h *sitemapState) Wait() {
	pending := h.Record.Pending
	if h.waits++; h.waits <= maxWaits || h.passed+1 >= len(pending) {
		return
	}
	h.passed++
	h.waits = 0
	h.Record.Pending = append(pending[1:], pending[0])
}

// Await records that owner has a sitemap at this host.
func (h *sitemapState) Await(owner string) {
	if len(h.owners) < maxOwners && !slices.Contains(h.owners, owner) {
		h.owners = append(h.owners, owner)
	}
}

// NextOwner removes and returns the first host that waits for its sitemap here.
func (h *sitemapState) NextOwner() (name string, ok bool) {
	if len(h.owners) == 0 {
		return "", false
	}
	name, h.owners = h.owners[0], h.owners[1:]
	return name, true
}

// maxKept bounds the bytes of URLs that a worker keeps of one sitemap.
const maxKept = 8 << 20

// SitemapReading is what a worker has read of one sitemap.
type SitemapReading struct {
	Pages []page.Announced // in normal form
	Maps  []string
	Fresh int  // of these, unknown
	Full  bool // the limit cut the sitemap

	normal      *page.Normalizer
	lies, owner string // name:port of the sitemap's host, and of the host whose robots.txt named it
	bytes       int    // of the pages' URLs
	foreign     int    // entries of other hosts
	url         string // of the sitemap
	err         error  // where the file breaks
}

// NewReading begins to read a sitemap at one host (name:port) on behalf of its owner.
func (r *SitemapRules) NewReading(lies, owner string) *SitemapReading {
	return &SitemapReading{normal: r.URLs, lies: lies, owner: owner}
}

// Request asks for the sitemap: any type, cut at the limit, and streamed.
func (r *SitemapReading) Request(url string) fetch.Request {
	r.url = url
	return fetch.Request{URL: url, Accept: []string{"*/*"}, MaxBodyBytes: page.MaxSitemapBytes, Truncate: true, Stream: r.from}
}

func (r *SitemapReading) from(body io.Reader) { r.err = page.ReadSitemap(body, r.url, r.take) }

// take receives each entry. A sitemap may list only URLs of its own host and of the host whose
// robots.txt names it.
func (r *SitemapReading) take(e page.SitemapEntry) bool {
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

// Note summarises the result of a sitemap.
func (r *SitemapReading) Note(state fetch.State) string {
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
