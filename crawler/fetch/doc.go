// Package fetch makes one polite HTTP exchange and says what happened.
//
// In: a URL, what is already known of the page (ETag, Last-Modified), limits.
// Out: a Response, always: body and headers, or the network state in which the
// exchange ended (paper E, E3) and why. The header is judged first, and a body
// is read only where status and type deserve it (paper D, the loader).
//
// What a caller sees:
//
//	f, err := fetch.New(fetch.Options{UserAgent: fetch.UserAgent("fossick", "1.0", "https://example.org/bot")})
//	defer f.Close()
//	resp := f.Fetch(ctx, fetch.Request{URL: "https://example.com/"})
//	if resp.State == fetch.StateOK { … resp.Body … }
//
// Others decide when a host may be asked (frontier) and whether its robots.txt allows a
// URL (crawler asks Robots). Others retry, follow redirects, and know character sets
// (page). Redirects are handed back: each hop is under its own host's rules. It runs no
// scripts, and keeps cookies only where Options say so.
//
// The egress guard is here because an address must be judged when it is dialled. So
// neither DNS rebinding nor a redirect reaches a private net.
//
// Files, in the order of an exchange:
//
//	fetcher.go   New, Fetch, Close
//	options.go   limits and their defaults
//	colly.go     Colly, which makes the exchange: request out, header judged, body in
//	exchange.go  the life of one exchange, and its request
//	clock.go     its phases and limits of time
//	pace.go      how fast a body comes, and ending the slowest
//	verdict.go   the state that its end means
//	transport.go below Colly: the last gate before net/http and the first after it
//	resolve.go   Resolve: which address of a name takes connections
//	dial.go      names to addresses to connections
//	guard.go     which addresses may be dialled
//	names.go     which names no public server has
//	nets.go      lists of nets that a crawl keeps to
//	dns.go       the cache in front of the resolver
//	meter.go     bytes that a server may send in each phase
//	hangup.go    the connection in use; connections that a server misuses
//	tap.go       who listens to a connection
//	mend.go      headers that browsers read and net/http does not
//	wire.go      both headers, for archives
//	cookies.go   a jar a site, where cookies are wanted
//	media.go     the answer: is this type wanted; sniffing
//	body.go      the body that Colly reads: decompression and limits
//	retryafter.go, hosts.go   small parsers
//	robots.go, robotsmatch.go, robotspolicy.go   RFC 9309
//	tdmrep.go    tdmrep.json
//
// docs/fetch.md has the tables of limits and states.
package fetch
