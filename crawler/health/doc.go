// Package health decides what failures mean: is it the URL, its host, or our own network,
// and when is whom to be asked again.
//
// In: how each exchange ended, the clock, what each host's record kept. Out:
// whether a failure is excused, whether a URL is tried again, when a host is
// asked only for its robots.txt or given up. Also whether the crawl pauses, how
// long a host rests, and what was counted wrongly and is to be taken back. What
// is known of a host stands in Host; the engine journals its record. This room
// makes no request and sees no queue.
//
// Files: failure.go kinds of failures; host.go what is known of a host, and
// tries of a URL; breaker.go silent hosts. network.go outages of our own
// network; miss.go what they excuse; rest.go rests and back-off; newcomers.go
// hosts that never answered. clock.go times that a record keeps. docs/health.md
// has the reasons.
package health
