package hosts

import (
	"net/url"
	"slices"

	"fossick/crawler/fetch"
	"fossick/internal/page"
	"fossick/store"
)

// Limits of what one host's sitemaps may cost; how many URLs they may add is the other.
const (
	maxFiles = 50 // named and asked for, a host
	maxDepth = 3  // of indexes in indexes; the protocol has one level
	maxTries = 2  // exchanges for one sitemap
	// first is how many exchanges for sitemaps come before a host's first page. After them
	// sitemaps and pages take turns: fifty files at a host that rests for a minute would
	// keep its pages waiting for an hour.
	first = 3
	// maxWaits bounds how often a host looks whether another one, where its sitemap lies,
	// has become free: half a minute for each sitemap.
	maxWaits   = 120
	maxOwners  = 1000 // hosts that wait for their sitemaps at another one
	defaultMax = 10_000
)

// Rules are what holds for all hosts of a crawl.
type Rules struct {
	On      bool // sitemaps are read
	MaxURLs int  // that the sitemaps of one host may add [10000]
	URLs    *page.Normalizer
}

// NewRules returns rules with the default limit where there is none.
func NewRules(on bool, maxURLs int, urls *page.Normalizer) Rules {
	if maxURLs <= 0 {
		maxURLs = defaultMax
	}
	return Rules{On: on, MaxURLs: maxURLs, URLs: urls}
}

// sitemapsHost is what is known of one host's sitemaps. The zero value is of a host that nobody
// asked.
type sitemapsHost struct {
	Record *store.Sitemaps // nil as long as nobody asked for them

	turn   bool     // a page was fetched since the last sitemap
	busy   bool     // one of its sitemaps is in flight
	owners []string // hosts that have sitemaps here
	waits  int      // for another host, where the next sitemap lies
	passed int      // sitemaps that were put off after such waits
}

// Named takes in what a host's robots.txt names, as paths of any of its URLs or whole, for
// the sake of a URL with a score.
func (r *Rules) Named(h *sitemapsHost, lines []string, of string, score float64) {
	h.Record = &store.Sitemaps{Score: score}
	base, err := url.Parse(of)
	for _, line := range lines {
		// The protocol wants a whole URL; paths occur, and there is no doubt.
		if u, lineErr := url.Parse(line); err == nil && lineErr == nil {
			r.name(h.Record, base.ResolveReference(u).String(), 0)
		}
	}
}

// name takes a sitemap in, unless it is known or there are enough.
func (r *Rules) name(s *store.Sitemaps, raw string, depth int) {
	u, err := r.URLs.Normalize(raw)
	if err != nil || len(s.Known) >= maxFiles || slices.Contains(s.Known, page.Key(u)) {
		return
	}
	s.Known = append(s.Known, page.Key(u))
	s.Pending = append(s.Pending, store.SitemapFile{URL: u, Depth: depth})
}

// Renamed forgets what an earlier robots.txt named, if nothing of it was read: it may have
// been that of a server that could not answer.
func (h *sitemapsHost) Renamed() {
	if h.Record != nil && h.Record.Files == 0 && !h.busy {
		h.Record = nil
	}
}

// Due says whether a sitemap comes before the next page of the host.
func (h *sitemapsHost) Due() bool {
	own := h.Record != nil && len(h.Record.Pending) > 0 && !h.busy && h.waits <= maxWaits
	return own && (h.Record.Files < first || h.turn) || len(h.owners) > 0 && h.turn
}

// Next returns the next sitemap of a host; false when there is none, or one is in flight.
func (h *sitemapsHost) Next() (url string, ok bool) {
	if h.Record == nil || len(h.Record.Pending) == 0 || h.busy {
		return "", false
	}
	return h.Record.Pending[0].URL, true
}

// Pending says whether a host has sitemaps to be read, those in flight included.
func (h *sitemapsHost) Pending() bool { return h.Record != nil && len(h.Record.Pending) > 0 }

// PageAsked says that a page of the host was asked for: the next turn is a sitemap's.
func (h *sitemapsHost) PageAsked() { h.turn = true }

// Begin says that the exchange for a host's next sitemap begins. It returns how many URLs
// the sitemap may add.
func (r *Rules) Begin(h *sitemapsHost) (room int) {
	h.busy, h.waits = true, 0
	return r.MaxURLs - h.Record.URLs
}

// BrokenOff says that the exchange counts for nobody: the sitemap is still pending.
func (h *sitemapsHost) BrokenOff() { h.busy = false }

// Entered counts URLs that a sitemap of the host has added.
func (h *sitemapsHost) Entered(urls int) { h.Record.URLs += urls }

// Ended is how an exchange for a sitemap ended.
type Ended struct {
	State   fetch.State
	Passing bool     // it failed, and another try may bring another answer
	Target  string   // of a redirect, in normal form; "" where it cannot be used
	Maps    []string // that the sitemap names
}

// End takes in how the exchange for owner's next sitemap ended, which lies at a host.
func (r *Rules) End(owner, at *sitemapsHost, e Ended) {
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
		s.Known = nil // nothing is left that could name a sitemap
	}
}

// Wait counts how often a host looked for the other one where its next sitemap lies.
// After some time another sitemap is the next, and when none can be had, the host's
// pages go on.
func (h *sitemapsHost) Wait() {
	pending := h.Record.Pending
	if h.waits++; h.waits <= maxWaits || h.passed+1 >= len(pending) {
		return
	}
	h.passed++
	h.waits = 0
	h.Record.Pending = append(pending[1:], pending[0])
}

// Await has a host remember that another one, owner, has a sitemap here.
func (h *sitemapsHost) Await(owner string) {
	if len(h.owners) < maxOwners && !slices.Contains(h.owners, owner) {
		h.owners = append(h.owners, owner)
	}
}

// NextOwner returns the first of the hosts that wait for their sitemap here, and forgets
// it; false when there is none.
func (h *sitemapsHost) NextOwner() (name string, ok bool) {
	if len(h.owners) == 0 {
		return "", false
	}
	name, h.owners = h.owners[0], h.owners[1:]
	return name, true
}
