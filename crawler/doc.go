// Package crawler is the engine: it turns seeds into a store of pages.
//
// In: seeds, a Scorer, an ordering, limits. Out: stored pages and the journal of
// every URL's life; see package store.
//
//	owner:   lease the best URL of a free host → jobs → workers
//	worker:  one exchange → parse → score → look links up → outcomes → owner
//	owner:   one batch: page, state, new URLs, better priorities, host → commit
//	         → frontier → the host rests → lease again
//
// One goroutine, the owner, has the frontier, the hosts and the journal; the
// workers share nothing but the two channels. A URL is never done in memory and
// not on disk, and a kill costs at most the exchanges in flight.
//
// A lease is one exchange with one host: its robots.txt when that is unknown or a day
// old, its sitemap when it is that one's turn, else the page. So every request is followed
// by the host's rest.
//
// What a worker makes of a page is in package reading. What is to be done is
// mostly decided below, in rooms that own their state and see neither frontier
// nor journal. traps decides what is worth no request, health what failures mean
// and rests, sitemaps which is next. refresh decides what became of a stored
// page, rescore when the queue hears of what the scorer learned. The engine tells
// them what happened and applies what they decide. docs/architecture.md lists
// them.
//
// The crawler knows no classifier: see Scorer. It makes no request itself: see
// package fetch. Start with New, then Run.
//
// Files, in the order of a page's way: crawler.go wires the types that the
// owner's state is divided among, and is its loop. lease.go what to do with the
// next URL; flight.go and newcomer.go jobs under way, and hosts that wait for a
// place. executor.go who carries jobs out: package workers, by package work;
// virtual.go a crawl of a web in memory. exchange.go and commit.go what follows
// from an exchange. page.go a page on its way to its end; what that means for its
// URL and for those that it links to, package queue says. Of exchanges that are
// for no page: robots.go, sitemap.go, leftsitemaps.go, outages.go. Of what comes
// again: restore.go, refresh.go, renewal.go. Of other agents: across.go, handover.go,
// lost.go, duplicates.go,
// addresses.go, claims.go. Of what users say and see: options.go,
// mark.go, report.go; what is counted in packages totals and turns.
package crawler
