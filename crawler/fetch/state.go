package fetch

// State is the network state in which an exchange, and so a URL, ended
// (paper E, E3). The names are those of the journal and of by_state.
type State string

// The states of a URL. Fetch itself never returns duplicate, script_only, robots_denied
// or trap: the crawler gives these to URLs for reasons that one exchange can't see.
const (
	StateOK             State = "ok"              // 200, a wanted type, the whole body
	StateNotModified    State = "not_modified"    // 304 to a conditional request
	StateRedirect       State = "redirect"        // 301, 302, 303, 307 or 308 with a Location
	StateDuplicate      State = "duplicate"       // same content as another page (crawler)
	StateScriptOnly     State = "script_only"     // 200, but scripts make the page, which are not run (crawler)
	StateCode           State = "code"            // any other status
	StateNoIP           State = "no_ip"           // the name has no address
	StateConnectError   State = "connect_error"   // refused, unreachable, reset while connecting
	StateConnectTimeout State = "connect_timeout" // no connection, TLS included, in time
	StateTLSError       State = "tls_error"       // bad certificate, handshake broken off
	StateHeaderError    State = "header_error"    // not HTTP, too long, cut off
	StateHeaderTimeout  State = "header_timeout"  // connected, but no whole header in time
	StateBodyError      State = "body_error"      // cut short, broken coding
	StateBodyTimeout    State = "body_timeout"    // too slow: in all, or below the least rate
	StateTooLarge       State = "too_large"       // over the limit, a decompression bomb, or too long to read (crawler)
	StateWrongType      State = "wrong_type"      // 200, but not a type that was asked for
	StateRobotsDenied   State = "robots_denied"   // forbidden by robots.txt (crawler)
	StateGuardDenied    State = "guard_denied"    // the egress guard refused the address
	StateTrap           State = "trap"            // cut off as a crawler trap (crawler)
	StateNone           State = "none"            // no exchange yet, or broken off by the caller
)
