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
// The frontier decides when a host may be asked, and the crawler whether its robots.txt
// allows a URL. The crawler also retries and follows redirects: each hop is under its own
// host's rules. Package page decodes character sets. The fetcher runs no scripts, and keeps
// cookies only where Options say so.
//
// The egress guard is here because it must judge an address at the moment of dialling; so
// neither DNS rebinding nor a redirect reaches a private net.
//
// Files, in the order of an exchange:
//
//	fetcher.go    New, Fetch, Close, options, states
//	exchange.go   one exchange through Colly, its clock, and its state at the end
//	transport.go  net/http below Colly; headers for archives; headers that need mending
//	dial.go       names to addresses to connections; the DNS cache
//	guard.go      which addresses, names and ports may be reached
//	conn.go       limits on a connection's bytes; taps on its headers
//	media.go      the answer: is this type wanted; sniffing; Retry-After
//	challenge.go  challenges and block pages; price.go what a 402 asks for
//	body.go       decompression and limits of size
//	cookies.go    a cookie jar for each site
//	botauth.go    signed requests, directories of keys (Web Bot Auth, RFC 9421)
//	robots.go, robotsmatch.go  robots.txt (RFC 9309)
//	tdmrep.go     tdmrep.json
//
// docs/fetch.md has the tables of limits and states.
package fetch
