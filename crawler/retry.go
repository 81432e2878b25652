package crawler

import (
	"net/http"
	"time"

	"fossick/fetch"
)

const (
	maxVisits   = 3 // exchanges for one URL
	backOffBase = time.Second
	backOffMax  = 10 * time.Minute
)

// backOff returns the least rest of a host after so many failures in a row: it
// doubles each time.
func backOff(failures int) time.Duration {
	if failures == 0 {
		return 0
	}
	if failures > 10 {
		return backOffMax
	}
	return min(backOffBase<<(failures-1), backOffMax)
}

// transient says whether another try may bring another answer.
func transient(r *fetch.Response) bool {
	switch r.State {
	case fetch.StateConnectError, fetch.StateConnectTimeout, fetch.StateHeaderError, fetch.StateHeaderTimeout,
		fetch.StateBodyError, fetch.StateBodyTimeout, fetch.StateNoIP:
		return true
	case fetch.StateCode:
		switch r.Code {
		case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
			http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return true
		}
	}
	return false
}
