// Package work says what a crawl's owner asks of those who carry out its jobs, and what
// comes back: an exchange with a host, for the sake of one URL.

package crawler

import (
	"net/netip"

	"fossick/crawler/fetch"
	"fossick/crawler/hosts"
	"fossick/store"
)

// task says what a job is to do.
type task int

const (
	address     task = iota // look the host's address up
	robots                  // fetch robots.txt
	tdmRep                  // fetch tdmrep.json
	workSitemap             // fetch a sitemap of the host
	workPage                // fetch the page
	news                    // fetch a sitemap or a feed again, for what it says of stored pages
	probe                   // ask a host for its robots.txt, to test the network of this machine
)

// workJob is what is asked, of whom, and for the sake of which URL.
type workJob struct {
	task
	leased
	Host   *hosts.Host
	Target string       // URL of the exchange
	Addr   netip.Addr   // that the exchange connects to; see hosts.Host.Addr
	Ticket hosts.Ticket // what it takes of the places for newcomers

	Page    pageTask     // of taskPage
	Robots  *robotsTask  // of taskRobots alone
	Sitemap *sitemapTask // of taskSitemap alone
	Source  store.Source // of taskNews alone
}

// leased is a URL that was taken off the queue. A job that no URL waits for has none.
type leased struct {
	ID       store.ID
	Birth    store.Birth
	Queued   store.Queued
	Priority float64     // that it was leased with: of a scorer that learns, not the journalled one
	Old      *store.Copy // of a page that is asked for again, nil otherwise; then id is 0
}

// pageTask is what is to be known of a page.
type pageTask struct {
	Watched bool        // it is compared with those of its site's other hosts
	Promise float64     // what the scorer expected of it when it was leased, 0 where it does not say
	Wait    *store.Wait // for better links, that its URL had part in; nil for none
}

// robotsTask asks for a robots.txt, or the next hop of its redirects.
type robotsTask struct {
	Request fetch.Request
	Other   *hosts.Host // that is asked: robots.txt redirected there; nil where that is the host itself
}

// sitemapTask asks for a sitemap.
type sitemapTask struct {
	Owner    *hosts.Host // whose it is, which is not leased where it lies at another one
	Room     int         // URLs that it may add
	Parent   float64     // score of the URL for whose sake the owner was asked
	Exchange uint64      // number of it in the journal, once written
}

// order is what the job's page is asked for as.
func (j *workJob) order() order {
	o := order{URL: j.Target, Depth: j.Birth.Depth, Parent: j.Queued.Score, Watched: j.Page.Watched}
	if j.Old != nil {
		o.Old = j.Old.Page
	}
	return o
}

// other is the second host that a job's exchange uses, nil where there is none.
func (j *workJob) other() *hosts.Host {
	if j.Robots != nil {
		return j.Robots.Other
	}
	return nil
}

// owner is the host whose sitemap a job asks for, nil where it asks for none.
func (j *workJob) owner() *hosts.Host {
	if j.Sitemap != nil {
		return j.Sitemap.Owner
	}
	return nil
}

// hold counts a job for the hosts that it uses.
func (j *workJob) hold(n int) {
	j.Host.Jobs += n
	if other := j.other(); other != nil {
		other.Jobs += n
	}
	if owner := j.owner(); owner != nil {
		owner.Jobs += n
	}
}

// outcome is a job and what came of it.
type outcome struct {
	*workJob
	Resp *fetch.Response // nil where an address was found
	Err  error           // of the store: ends the crawl

	Found  netip.Addr       // of taskAddress
	Read   *readingPage     // of taskPage, when the answer is a page
	Wire   store.WireRecord // of taskPage: headers, kept once it has a kind
	Listed listed           // of taskSitemap
	Told   []told           // of taskNews: what is said of URLs
	Note   string           // for the journal

	Slow    bool // the job goes on beside the workers; the outcome itself follows
	Late    bool // the outcome of such a one
	Excused bool // it failed, but that counts for nobody
	Aborted bool // broken off by us: as if it had not been
}

// listed is what a sitemap names.
type listed struct {
	Links   []link
	Maps    []string // further sitemaps
	Partial bool     // the rest follows, and the outcome itself
}

// pageRequest asks for a page, on condition that it changed where it is stored.
func (j *workJob) pageRequest() fetch.Request {
	r := fetch.Request{URL: j.Target}
	if j.Old != nil {
		r.ETag, r.LastModified = j.Old.Page.ETag, j.Old.Page.Modified
	}
	return r
}

// urlid is the number of the job's URL, also where no queue knows it.
func (j *workJob) urlid() store.ID {
	if j.Old != nil {
		return j.Old.ID
	}
	return j.ID
}

// asked returns the host that an exchange is made with: for a robots.txt that was
// redirected to another host, that other one.
func (j *workJob) asked() *hosts.Host {
	if other := j.other(); other != nil {
		return other
	}
	return j.Host
}

// purpose says what a task that is for no URL is for; false for the others.
func (t task) purpose() (store.Purpose, bool) {
	switch t {
	case address:
		return store.ForAddress, true
	case robots, probe:
		return store.ForRobots, true
	case tdmRep:
		return store.ForTDMRep, true
	case workSitemap, news:
		return store.ForSitemap, true
	}
	return "", false
}

// event is something that happens to a crawl.
type event struct {
	What    kind
	Outcome *outcome // of jobEnded
	Request request  // of ownerAsked
}

type kind int

const (
	jobEnded    kind = iota
	ownerAsked       // somebody wants something of the owner
	timeToLease      // the wake time is there
	tick             // twice a second
	deadline         // Options.MaxTime is over
	interrupt        // the context of Run has ended
)
