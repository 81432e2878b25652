package crawler

import (
	"errors"
	"net/http"
	"time"

	"fossick/crawler/fetch"
)

// When a visit to a URL may bring news is estimated from the state it ended in
// (paper E, E3), and kept with its fate. The figures are paper E's where it has
// some. Its nine crawls were two days apart, and a failure was followed by a
// failure in three of four cases (FF = 0.74). So failures of the network are
// worth another visit after two days. Pages change every 7.66 days at depth 0
// down to 3.77 days at depth 9. The rest is by what the answer means.
const (
	Day          = 24 * time.Hour
	afterFailure = 2 * Day
	afterRefusal = 30 * Day // of what seldom changes: a missing page, its type, its size
	deepest      = 9        // of paper E's depths
)

// interval returns how often a page so deep changes, by paper E's table:
// linear between its two ends.
func interval(depth int) time.Duration {
	const top, bottom = 7.66, 3.77 // days
	share := float64(min(max(depth, 0), deepest)) / deepest
	return time.Duration((top - (top-bottom)*share) * float64(Day))
}

// refreshAfter returns how long after its end in a state a URL may have news; 0 is
// never.
func refreshAfter(state fetch.State, depth int) time.Duration {
	switch state {
	case fetch.StateOK, fetch.StateNotModified, fetch.StateDuplicate, fetch.StateRedirect, fetch.StateScriptOnly:
		return interval(depth)
	case fetch.StateNoIP, fetch.StateConnectError, fetch.StateConnectTimeout, fetch.StateHeaderError,
		fetch.StateHeaderTimeout, fetch.StateBodyError, fetch.StateBodyTimeout:
		return afterFailure
	case fetch.StateTLSError:
		return 7 * Day // certificates are renewed
	case fetch.StateRobotsDenied:
		return fetch.RobotsTTL
	case fetch.StateCode, fetch.StateTooLarge, fetch.StateWrongType:
		return afterRefusal
	}
	return 0 // trap, guard_denied, none: decided here, not by the server
}

// afterAnswer is After for an exchange, whose answer tells more.
func afterAnswer(r *fetch.Response, depth int) time.Duration {
	switch {
	case r.State == fetch.StateRedirect && (r.Code == http.StatusMovedPermanently || r.Code == http.StatusPermanentRedirect),
		r.State == fetch.StateNoIP && errors.Is(r.Err, fetch.ErrNoSuchHost):
		return afterRefusal
	case r.State != fetch.StateCode:
		return refreshAfter(r.State, depth)
	case r.Code == http.StatusGone:
		return 0
	case r.Code == http.StatusTooManyRequests || r.Code >= 500:
		return max(Day, r.RetryAfter)
	}
	return afterRefusal
}
