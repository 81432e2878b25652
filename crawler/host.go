package crawler

import (
	"time"

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
	resolved bool          // its address is known, or a proxy knows it
	robots   *fetch.Robots // nil until fetched in this session or read from the store
	hop      string        // robots.txt was redirected to this URL
	hops     int
	tries    int                 // of robots.txt, failed
	patterns map[string]*pattern // what came back, by patternOf
	answers  int                 // pages that were compared with those of its site's other hosts
	verdict  string              // state that ends every URL of it, "" while it may answer
	why      string              // and the reason

	sitemapTurn bool     // a page was fetched since the last sitemap
	sitemapBusy bool     // one of its sitemaps is in flight
	guests      []string // hosts that have sitemaps here
	waits       int      // for another host, where the next sitemap lies
	passed      int      // sitemaps that were put off after such waits

	misses   []miss    // failures of pages since it last answered
	probedAt time.Time // when the last probe failed
}
