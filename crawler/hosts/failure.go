package hosts

import (
	"errors"
	"net/http"
	"strings"
	"syscall"

	"fossick/crawler/fetch"
)

// Silent says that an exchange brought nothing that is HTTP: no name, no
// connection, no header.
func Silent(r *fetch.Response) bool {
	switch r.State {
	case fetch.StateNoIP, fetch.StateConnectError, fetch.StateConnectTimeout, fetch.StateHeaderTimeout, fetch.StateHeaderError:
		return r.Code == 0
	}
	return false
}

// broken says that an exchange failed on the way, before or after the header.
func broken(r *fetch.Response) bool {
	return Silent(r) || r.State == fetch.StateBodyError || r.State == fetch.StateBodyTimeout
}

// noSuchHost says that the name system knows no such host, which no second try
// changes.
func noSuchHost(r *fetch.Response) bool { return errors.Is(r.Err, fetch.ErrNoSuchHost) }

// Transient says whether another try may bring another answer.
func Transient(r *fetch.Response) bool {
	switch r.State {
	case fetch.StateConnectError, fetch.StateConnectTimeout, fetch.StateHeaderError, fetch.StateHeaderTimeout,
		fetch.StateBodyError, fetch.StateBodyTimeout, fetch.StateNoIP:
		return true
	case fetch.StateCode:
		switch r.Code {
		case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
			http.StatusServiceUnavailable, http.StatusGatewayTimeout,
			520, 521, 522, 523, 524: // of a network in front of a server that it cannot reach, as Cloudflare says it
			return true
		}
	}
	return false
}

// ownFault says whether an exchange failed because this machine, or this process, has
// no more files or memory for connections. That is no host's fault, and passes as other
// connections end. Without this, hosts that were never asked would be given up as dead.
func ownFault(r *fetch.Response) bool {
	if r.Err == nil {
		return false
	}
	for _, lack := range [...]syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM} {
		if errors.Is(r.Err, lack) {
			return true
		}
	}
	// A resolver that could not open its socket tells so in words alone.
	return strings.Contains(r.Err.Error(), syscall.EMFILE.Error()) || strings.Contains(r.Err.Error(), syscall.ENFILE.Error())
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
