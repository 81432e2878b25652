package crawler

import (
	"testing"
	"time"

	"fossick/fetch"
	"fossick/store"
)

// A record of a clock that was ahead does not hold for longer than a right one.
func TestClockSetBack(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c := &Crawler{opt: Options{Now: func() time.Time { return now }}}
	at := func(d time.Duration) int64 { return now.Add(d).UnixMilli() }
	const year = 365 * 24 * time.Hour
	for _, test := range []struct {
		name   string
		record store.Host // of a host that was asked for robots.txt, and then rested
		fresh  bool
		closed bool
		rest   time.Duration
	}{
		{"right", store.Host{RobotsAt: at(-time.Hour), Next: at(5 * time.Second), ClosedUntil: at(time.Hour)}, true, true, 5 * time.Second},
		{"old", store.Host{RobotsAt: at(-25 * time.Hour), Next: at(-time.Hour), ClosedUntil: at(-time.Hour)}, false, false, -time.Hour},
		{"a second ahead", store.Host{RobotsAt: at(time.Second), Next: at(3 * time.Second), ClosedUntil: at(closedFor + time.Second)}, true, true, 3 * time.Second},
		{"a day ahead", store.Host{RobotsAt: at(24 * time.Hour), Next: at(26 * time.Hour), ClosedUntil: at(2 * closedFor)}, false, false, 2 * time.Hour},
		{"ten years ahead", store.Host{RobotsAt: at(10 * year), Next: at(10*year + time.Minute), ClosedUntil: at(10 * year)}, false, false, time.Minute},
		{"told to wait for a year", store.Host{RobotsAt: at(-time.Hour), Next: at(year)}, true, false, year},
	} {
		h := &host{Host: &test.record, robots: fetch.AllowAll("")}
		h.Closed = "no_ip"
		if got := c.robotsFresh(h); got != test.fresh {
			t.Errorf("%s: robots.txt is fresh: %v", test.name, got)
		}
		if got := restLeft(&test.record, now); got != test.rest {
			t.Errorf("%s: rests %v, want %v", test.name, got, test.rest)
		}
		if c.reconsider(h); (h.Closed != "") != test.closed {
			t.Errorf("%s: closed: %v", test.name, h.Closed != "")
		}
	}
}
