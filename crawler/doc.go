// Package crawler is the engine: it turns seeds into a store of pages.
//
// In: seeds, a Scorer, an ordering, limits. Out: stored pages and the journal of
// every URL's life; see package store.
//
//	owner:   lease the best URL of a free host → jobs → workers
//	worker:  one exchange → parse → score → look up links → results → owner
//	owner:   one batch: page, outcome, new URLs, better priorities, host → commit
//	         → frontier → the host rests → lease again
//
// One goroutine, the owner, holds the frontier, the hosts and the journal. Workers share two
// channels with it and nothing else. No URL is done in memory before it is done on disk, so
// a kill costs at most the exchanges under way.
//
// A lease is one exchange with one host: its robots.txt if that is unknown or a day old, its
// sitemap if that is due, else the page. So the host rests after every request.
//
// The crawler knows no classifier: see Scorer. It makes no request itself: see package
// fetch. Package hosts decides on rests, failures, traps and sitemaps, package frontier on
// the next URL. Start with New, then Run.
//
// Files, in the order of a page's way: crawler.go the owner's loop. queue.go, discover.go,
// rescore.go waiting URLs and their priorities. lease.go, choice.go, patience.go the next
// exchange. job.go, workers.go, reader.go, scripts.go, scope.go, near.go the workers. exchange.go, page.go,
// duplicates.go the consequences of an exchange. robots.go, sitemap.go, outages.go exchanges
// for no page. refresh.go, rounds.go, news.go revisits of stored pages. marks.go labels given
// by people. change.go changes of a running crawl. across.go, parcel.go, handover.go, addresses.go, labels.go several agents.
// virtual.go a crawl of a web in memory. totals.go, report.go, harvest.go counts.
package crawler
