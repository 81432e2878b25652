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
// A lease is one exchange with one host: its robots.txt when that is unknown or
// a day old, its sitemap when these are asked for, else the page. So every request is followed by the host's rest.
//
// The crawler knows no classifier: see Scorer. It makes no request itself: see
// package fetch. Start with New, then Run. Files: options.go settings; scorer.go
// the door to relevance; crawler.go the owner's loop; lease.go what to do with
// the next URL; newcomer.go hosts that never answered; work.go the workers;
// errand.go what takes them too long; reading.go what a page may cost; commit.go
// what follows from an exchange;
// discover.go links to queue; scope.go and lang.go which links and pages; host.go,
// robots.go, robotscache.go, rest.go and address.go rules, rests and whom they bind; exchange.go the journal of
// exchanges for no URL; sitemap.go, guest.go (one that lies at another host),
// readsitemap.go and leftsitemaps.go sitemaps, by the owner, by a worker, and at
// the end; hostcache.go and place.go what is kept in memory of hosts and of queued
// URLs; restore.go what a resumed crawl starts from; rescore.go what the queue hears
// of a scorer that learns; turns.go how long the owner is busy at a time; retry.go
// tries of a URL; refresh.go stored pages asked for again;
// breaker.go silent hosts; network.go outages of our own network; takeback.go what
// they excuse; wait.go long rests; revisit.go next visits; near.go content stored
// once; trap.go and farm.go URLs and hosts without end, budget.go sites that are worth nothing, looks.go what pages are told apart by there; virtual.go crawls of a web in
// memory; report.go progress and result; mark.go what people say of pages; replay.go
// what a scorer is shown at a resume;
// marginal.go what the next pages are worth.
package crawler
