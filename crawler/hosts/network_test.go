package hosts

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"fossick/crawler/fetch"
	"fossick/store"
)

// TestExcuses: what counts for nobody.
func TestExcuses(t *testing.T) {
	cut := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		state fetch.State
		code  int
		start time.Duration // from cut
		down  bool
		want  bool
	}{
		{fetch.StateConnectTimeout, 0, -time.Second, false, true},
		{fetch.StateBodyTimeout, 200, -time.Second, false, true},
		{fetch.StateTLSError, 0, -time.Second, false, true},
		{fetch.StateCode, 503, -time.Second, true, false},
		{fetch.StateOK, 200, -time.Second, true, false},
		{fetch.StateConnectTimeout, 0, time.Second, false, false},
		{fetch.StateConnectTimeout, 0, time.Second, true, true},
	} {
		n := &Network{cut: cut, outage: outage{down: tc.down}}
		if got := n.Excuses(&fetch.Response{State: tc.state, Code: tc.code, Start: cut.Add(tc.start)}); got != tc.want {
			t.Errorf("%s %d, begun %v after the cut, down: %v: excused %v", tc.state, tc.code, tc.start, tc.down, got)
		}
	}
	n := NewNetwork(func() time.Time { return cut }, slog.New(slog.DiscardHandler))
	n.down, n.since = true, cut.Add(-time.Hour)
	if n.up(); n.down || !n.cut.Equal(cut) || n.downTime != time.Hour {
		t.Errorf("after an outage of an hour: %+v", n)
	}
}

// TestClosedHostIsAskedAgain: a day after a host was given up, a new URL of it
// makes one probe.
func TestClosedHostIsAskedAgain(t *testing.T) {
	s := &store.Host{Name: "a.test:80", RobotsCode: 200, Silent: 9, SilentSince: 1, Closed: "connect_error", ClosedUntil: time.Now().UnixMilli()}
	h := newHost(s, "a.test")
	if h.Verdict != "connect_error" || !strings.Contains(h.Why, "9 requests in a row since 1970-01-01") {
		t.Errorf("verdict %q, %q", h.Verdict, h.Why)
	}
	if h.Reconsider(time.Now().Add(-time.Minute)); h.Verdict == "" {
		t.Error("opened before its time")
	}
	if h.Reconsider(time.Now()); h.Verdict != "" || !h.Probed() {
		t.Errorf("verdict %q, probed: %v; want a host that is probed", h.Verdict, h.Probed())
	}
}
