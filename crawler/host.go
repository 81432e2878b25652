package crawler

import (
	"fossick/crawler/health"
	"fossick/crawler/sitemaps"
	"fossick/crawler/traps"
	"fossick/fetch"
	"fossick/frontier"
	"fossick/store"
)

// host is what the owner knows of one host.
type host struct {
	*store.Host
	party    frontier.Host
	known    bool // to the store
	jobs     int  // in flight that use it
	site     string
	health   health.Host
	trap     traps.Host    // Cuts, News and Start of the record are here; see putHost
	sitemaps sitemaps.Host // and its Sitemaps
	resolved bool          // its address is known, or a proxy knows it
	robots   *fetch.Robots // nil until fetched in this session or read from the store
	hop      string        // robots.txt was redirected to this URL
	hops     int
}
