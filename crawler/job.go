package crawler

import (
	"net/netip"
	"time"

	"fossick/crawler/fetch"
	"fossick/crawler/hosts"
	"fossick/store"
)

// task is the kind of a job.
type task int

const (
	taskAddress task = iota // look the host's address up
	taskRobots              // fetch robots.txt
	taskTDMRep              // fetch tdmrep.json
	taskSitemap             // fetch a sitemap of the host
	taskPage                // fetch the page
	taskNews                // fetch a sitemap or a feed for news of stored pages
	taskProbe               // fetch robots.txt to test this machine's network
)

// job is one exchange with a host, on behalf of one URL.
type job struct {
	task
	leased
	Host   *hosts.Host
	Target string       // URL of the exchange
	Addr   netip.Addr   // address to connect to; see hosts.Host.Addr
	Ticket hosts.Ticket // its place among the newcomers

	Page    pageTask     // of taskPage
	Robots  *robotsTask  // of taskRobots
	Sitemap *sitemapTask // of taskSitemap
	Source  store.Source // of taskNews
}

// leased is a URL that was taken off the queue; a job without a URL has none.
type leased struct {
	ID        store.ID
	Discovery store.Discovery
	Queued    store.Queued
	Priority  float64     // at the lease, which may differ from the journalled one
	Old       *store.Copy // the stored page of a revisit, whose ID is 0; else nil
}

// pageTask is the part of a job for a page.
type pageTask struct {
	Watched bool             // compare it with pages of the site's other hosts
	Renders bool             // its scripts are worth their seconds; for the owner alone, as is Spare
	Spare   bool             // workers waited for hosts
	Promise float64          // the scorer's expectation at the lease, 0 if unknown
	Wait    *store.Wait      // the URL's part in waits for better links; nil for none
	File    *store.FilePrice // what lowered the URL's priority; nil for none

	// Lent are the hosts that its scripts ask, beside its own, and Rested until when they rest after
	// their robots.txt; by name, for the owner alone.
	Lent   map[string]*hosts.Host
	Rested map[string]time.Time
}

// robotsTask is the part of a job for robots.txt, or for the next hop of its redirects.
type robotsTask struct {
	Request fetch.Request
	Other   *hosts.Host // host that robots.txt redirected to; nil for the host itself
}

// sitemapTask is the part of a job for a sitemap.
type sitemapTask struct {
	Owner    *hosts.Host // host whose robots.txt names it; not leased if the sitemap is on another host
	Room     int         // URLs that it may add
	Parent   float64     // score of the URL for which the owner was asked
	Exchange uint64      // its number in the journal, once written
}

func (j *job) order() order {
	o := order{URL: j.Target, Depth: j.Discovery.Depth, Parent: j.Queued.Score, Watched: j.Page.Watched}
	if j.Old != nil {
		o.Old = j.Old.Page
	}
	return o
}

// other is the second host that an exchange uses, or nil.
func (j *job) other() *hosts.Host {
	if j.Robots != nil {
		return j.Robots.Other
	}
	return nil
}

// owner is the host whose sitemap is fetched, or nil.
func (j *job) owner() *hosts.Host {
	if j.Sitemap != nil {
		return j.Sitemap.Owner
	}
	return nil
}

// hold adds n to the jobs of the hosts that a job uses.
func (j *job) hold(n int) {
	j.Host.Jobs += n
	if other := j.other(); other != nil {
		other.Jobs += n
	}
	if owner := j.owner(); owner != nil {
		owner.Jobs += n
	}
}

// jobResult is a job and its result.
type jobResult struct {
	*job
	Resp *fetch.Response // nil if an address was found
	Err  error           // of the store; ends the crawl

	Found netip.Addr       // of taskAddress
	Read  *parsedPage      // of taskPage, if the answer is a page
	Wire  store.WireRecord // of taskPage; kept if it has a kind
	// Further are the requests of a page's scripts, all to a host as one answer, by its name.
	Further map[string]*fetch.Response
	Rules   []robotsAnswer // that its scripts waited for
	Listed  listed         // of taskSitemap
	Told    []told         // of taskNews
	Note    string         // for the journal

	Slow    bool // the job no longer occupies a worker; its result follows
	Late    bool // the result of a slow job
	Excused bool // the failure does not count
	Repeats bool // of taskPage: the page repeats a stored one
	Aborted bool // broken off by the crawler, as if it had not begun
}

// listed is the content of a sitemap.
type listed struct {
	Links   []link
	Maps    []string // further sitemaps
	Partial bool     // more parts and the result follow
}

// pageRequest asks for a page, on condition that it changed if it is stored.
func (j *job) pageRequest() fetch.Request {
	r := fetch.Request{URL: j.Target}
	if j.Old != nil && !j.Old.Page.Rendering.Done() { // a shell stays the same while what it shows changes
		r.ETag, r.LastModified = j.Old.Page.ETag, j.Old.Page.Modified
	}
	return r
}

// urlid is the number of the job's URL, also for a revisit.
func (j *job) urlid() store.ID {
	if j.Old != nil {
		return j.Old.ID
	}
	return j.ID
}

// asked returns the host that is asked, which differs from Host for a redirected robots.txt.
func (j *job) asked() *hosts.Host {
	if other := j.other(); other != nil {
		return other
	}
	return j.Host
}

// purpose is the journal's purpose of an exchange that is for no page; false for the others.
func (t task) purpose() (store.Purpose, bool) {
	switch t {
	case taskAddress:
		return store.ForAddress, true
	case taskRobots, taskProbe:
		return store.ForRobots, true
	case taskTDMRep:
		return store.ForTDMRep, true
	case taskSitemap, taskNews:
		return store.ForSitemap, true
	}
	return "", false
}
