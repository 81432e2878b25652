package crawler

import (
	"net/netip"

	"fossick/crawler/traps"
	"fossick/fetch"
	"fossick/page"
	"fossick/store"
)

// outcome is a job and what came of it.
type outcome struct {
	*job
	addr    netip.Addr      // of taskAddress
	resp    *fetch.Response // of the others
	page    *page.Page      // when the response is a page
	score   Score
	foreign string // why it is not kept for its language, "" when it is
	body    []byte // compressed
	size    int64  // of the body before that, in bytes
	links   []found
	print   traps.Fingerprint
	kin     kin
	err     error // of the store: ends the crawl

	across *traps.Fingerprint // among the hosts of its site; only when the job is watched

	maps    []string // further sitemaps that a sitemap names
	note    string   // for the journal
	partial bool     // a part of what a sitemap names; the outcome itself follows

	slow bool // the job goes on beside the workers; the outcome itself follows
	late bool // the outcome of such a one

	excused bool // it failed, but that counts for nobody
	aborted bool // broken off by us: as if it had not been
}

// found is a link as the owner needs it.
type found struct {
	url   string
	hash  store.Hash
	score float64
	skip  string     // why it is not followed, "" when it is
	trap  bool       // that is because it leads into a trap
	seen  store.Seen // at the time of the look-up

	modified int64 // as a sitemap says, Unix seconds; 0 when nobody does
}
