package crawler

import (
	"testing"

	"fossick/crawler/fetch"
)

// TestUnanswered: what a server has said is an answer, be it that there is nothing; what
// failed on the way, at a proxy, or may pass is none.
func TestUnanswered(t *testing.T) {
	for _, c := range []struct {
		state fetch.State
		code  int
		want  bool
	}{
		{fetch.StateOK, 200, false}, {fetch.StateRedirect, 301, false}, {fetch.StateNotModified, 304, false},
		{fetch.StateCode, 404, false}, {fetch.StateCode, 403, false}, {fetch.StateWrongType, 200, false}, {fetch.StateTooLarge, 200, false},
		{fetch.StateNoIP, 0, true}, {fetch.StateConnectError, 0, true}, {fetch.StateConnectTimeout, 0, true},
		{fetch.StateTLSError, 0, true}, {fetch.StateGuardDenied, 0, true}, {fetch.StateHeaderTimeout, 0, true},
		{fetch.StateBodyError, 200, true}, {fetch.StateCode, 407, true}, {fetch.StateCode, 429, true}, {fetch.StateCode, 502, true},
	} {
		if got := unanswered(&fetch.Response{State: c.state, Code: c.code}); got != c.want {
			t.Errorf("%s %d: unanswered %v, want %v", c.state, c.code, got, c.want)
		}
	}
}
