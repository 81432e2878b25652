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
// One goroutine, the owner, has the frontier, the hosts and the journal. Workers share
// two channels with it and nothing else. A URL is never done in memory and not on disk;
// a kill costs at most the exchanges in flight.
//
// A lease is one exchange with one host: its robots.txt when that is unknown or a day
// old, its sitemap when that is due, else the page. So every request is followed by the
// host's rest.
//
// The crawler knows no classifier: see Scorer. It makes no request itself: see package
// fetch. Package hosts decides rests, failures, traps and sitemaps, package frontier which
// URL is next. Start with New, then Run.
//
// Files, in the order of a page's way: crawler.go the owner's loop. queue.go, discover.go,
// order.go, rescore.go what waits, and with what priority. lease.go, choice.go, patience.go
// what is fetched next. task.go, workers.go, reader.go, scope.go, near.go what a worker
// does. exchange.go, page.go, duplicates.go, endings.go what follows from an exchange.
// robots.go, sitemap.go, outages.go exchanges that are for no page. refresh.go, rounds.go,
// news.go stored pages that are asked for again. marks.go, labels.go what people say of
// pages. across.go, parcel.go, handover.go, addresses.go, claims.go several agents.
// virtual.go a crawl of a web in memory. totals.go, report.go, harvest.go what is counted.
package crawler
