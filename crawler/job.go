package crawler

import (
	"net/netip"

	"fossick/crawler/health"
	"fossick/crawler/traps"
	"fossick/fetch"
	"fossick/page"
	"fossick/store"
)

// task says what a job is to do.
type task int

const (
	taskAddress task = iota // look the host's address up
	taskRobots              // fetch robots.txt
	taskSitemap             // fetch a sitemap of the host
	taskPage                // fetch the page
	taskProbe               // ask a host for its robots.txt, to see whether we have a network
)

// job is a leased URL with what a worker needs to know.
type job struct {
	task
	id      store.ID
	host    *host
	birth   store.Birth
	queued  store.Queued
	target  string        // of the exchange: the page, or robots.txt
	addr    netip.Addr    // that the exchange connects to; see host.address
	request fetch.Request // for robots.txt
	other   *host         // a second host that the exchange uses: robots.txt redirected there
	owner   *host         // of a sitemap, which lies at host; it is not leased
	room    int           // URLs that a sitemap may add
	parent  float64       // score of the URL for whose sake the sitemap's owner was asked

	old     *store.Copy // of a page that is asked for again, nil otherwise; then id is 0
	watched bool        // its page is compared with those of its site's other hosts

	ticket health.Ticket // what it takes of the places for newcomers

	exchange uint64 // number of it in the journal, once written; see journal

	priority float64 // that it was leased with: of a scorer that learns, not the journalled one
	promise  float64 // what the scorer expected of it then, 0 where it does not say
}

// hold counts a job for the hosts that it uses.
func (j *job) hold(n int) {
	j.host.jobs += n
	if j.other != nil {
		j.other.jobs += n
	}
	if j.owner != nil {
		j.owner.jobs += n
	}
}

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
	near    nearPage
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

// pageRequest asks for a page, on condition that it changed where it is stored.
func (j *job) pageRequest() fetch.Request {
	r := fetch.Request{URL: j.target}
	if j.old != nil {
		r.ETag, r.LastModified = j.old.Page.ETag, j.old.Page.Modified
	}
	return r
}

// urlID is the number of the job's URL, also where no queue knows it.
func (j *job) urlID() store.ID {
	if j.old != nil {
		return j.old.ID
	}
	return j.id
}
