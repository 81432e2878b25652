// Package workers carries out a crawl's jobs, and is its time.
//
// In: jobs. Out: events, one after the other: a job has ended, a host has rested, a user asks
// for something, the time is up. Of each job comes one outcome, the last of those that name
// it. Who waits for events is the crawl's owner; workers share nothing with it but these.
//
// Files: pool.go workers of a real crawl, and the clock on the wall; readsitemap.go and readnews.go what
// they make of a sitemap; virtualweb.go a web in memory, and a clock that goes from event to
// event; event.go what may happen; inbox.go what others ask of the owner.
//
// Start with NewPool or NewWeb, then Start and Wait.
package workers
