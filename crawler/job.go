package crawler

import (
	"net/netip"

	"fossick/crawler/health"
	"fossick/crawler/hosts"
	"fossick/crawler/reading"
	"fossick/fetch"
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

// job is what is asked, of whom, and for the sake of which URL.
type job struct {
	task
	leased
	host   *hosts.Host
	target string        // URL of the exchange
	addr   netip.Addr    // that the exchange connects to; see hosts.Host.Addr
	ticket health.Ticket // what it takes of the places for newcomers

	page    pageTask     // of taskPage
	robots  *robotsTask  // of taskRobots alone
	sitemap *sitemapTask // of taskSitemap alone
}

// leased is a URL that was taken off the queue. A job that no URL waits for has none.
type leased struct {
	id       store.ID
	birth    store.Birth
	queued   store.Queued
	priority float64     // that it was leased with: of a scorer that learns, not the journalled one
	old      *store.Copy // of a page that is asked for again, nil otherwise; then id is 0
}

// pageTask is what is to be known of a page.
type pageTask struct {
	watched bool    // it is compared with those of its site's other hosts
	promise float64 // what the scorer expected of it when it was leased, 0 where it does not say
}

// robotsTask asks for a robots.txt, or the next hop of its redirects.
type robotsTask struct {
	request fetch.Request
	other   *hosts.Host // that is asked: robots.txt redirected there; nil where that is the host itself
}

// sitemapTask asks for a sitemap.
type sitemapTask struct {
	owner    *hosts.Host // whose it is, which is not leased where it lies at another one
	room     int         // URLs that it may add
	parent   float64     // score of the URL for whose sake the owner was asked
	exchange uint64      // number of it in the journal, once written
}

// order is what the job's page is asked for as.
func (j *job) order() reading.Order {
	return reading.Order{URL: j.target, Depth: j.birth.Depth, Parent: j.queued.Score, Watched: j.page.watched, Again: j.old != nil}
}

// other is the second host that a job's exchange uses, nil where there is none.
func (j *job) other() *hosts.Host {
	if j.robots != nil {
		return j.robots.other
	}
	return nil
}

// owner is the host whose sitemap a job asks for, nil where it asks for none.
func (j *job) owner() *hosts.Host {
	if j.sitemap != nil {
		return j.sitemap.owner
	}
	return nil
}

// hold counts a job for the hosts that it uses.
func (j *job) hold(n int) {
	j.host.Jobs += n
	if other := j.other(); other != nil {
		other.Jobs += n
	}
	if owner := j.owner(); owner != nil {
		owner.Jobs += n
	}
}

// outcome is a job and what came of it.
type outcome struct {
	*job
	resp *fetch.Response // nil where an address was found
	err  error           // of the store: ends the crawl

	found  netip.Addr    // of taskAddress
	read   *reading.Page // of taskPage, when the answer is a page
	listed listed        // of taskSitemap
	note   string        // for the journal

	slow    bool // the job goes on beside the workers; the outcome itself follows
	late    bool // the outcome of such a one
	excused bool // it failed, but that counts for nobody
	aborted bool // broken off by us: as if it had not been
}

// listed is what a sitemap names.
type listed struct {
	links   []reading.Link
	maps    []string // further sitemaps
	partial bool     // the rest follows, and the outcome itself
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
