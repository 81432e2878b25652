package hosts

import (
	"log/slog"
	"testing"
	"time"
	"unsafe"

	"fossick/crawler/fetch"
	"fossick/store"
)

// A record of a clock that was ahead does not hold for longer than a right one.
func TestClockSetBack(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(d time.Duration) int64 { return now.Add(d).UnixMilli() }
	const year = 365 * 24 * time.Hour
	for _, test := range []struct {
		name   string
		record store.Host // of a host that was asked for robots.txt, and then rested
		closed bool
		rest   time.Duration
	}{
		{"right", store.Host{RobotsAt: at(-time.Hour), Next: at(5 * time.Second), ClosedUntil: at(time.Hour)}, true, 5 * time.Second},
		{"old", store.Host{RobotsAt: at(-25 * time.Hour), Next: at(-time.Hour), ClosedUntil: at(-time.Hour)}, false, -time.Hour},
		{"a second ahead", store.Host{RobotsAt: at(time.Second), Next: at(3 * time.Second), ClosedUntil: at(closedFor + time.Second)}, true, 3 * time.Second},
		{"a day ahead", store.Host{RobotsAt: at(24 * time.Hour), Next: at(26 * time.Hour), ClosedUntil: at(2 * closedFor)}, false, 2 * time.Hour},
		{"ten years ahead", store.Host{RobotsAt: at(10 * year), Next: at(10*year + time.Minute), ClosedUntil: at(10 * year)}, false, time.Minute},
		{"told to wait for a year", store.Host{RobotsAt: at(-time.Hour), Next: at(year)}, false, year},
	} {
		test.record.Closed = "no_ip"
		h := newHost(&test.record, "a.test")
		if got := RestLeft(&test.record, now); got != test.rest {
			t.Errorf("%s: rests %v, want %v", test.name, got, test.rest)
		}
		if h.Reconsider(now); (test.record.Closed != "") != test.closed {
			t.Errorf("%s: closed: %v", test.name, test.record.Closed != "")
		}
	}
}

// A machine that sleeps, and one whose clock is set, as the clocks show it.
func TestStoppedFor(t *testing.T) {
	last := time.Now()
	for name, c := range map[string]struct {
		measured, wall, want time.Duration
	}{
		"half a second":  {time.Second / 2, time.Second / 2, time.Second / 2},
		"stopped":        {time.Hour, time.Hour, time.Hour},
		"asleep":         {time.Second, 8 * time.Hour, 8 * time.Hour},
		"clock set back": {time.Second, -time.Hour, time.Second},
	} {
		if got := stoppedFor(last, clocks(last, c.measured, c.wall)).Round(time.Millisecond); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// clocks returns the time at which Go's measuring clock and the one on the wall have
// gone on so far; Go itself only moves both.
func clocks(from time.Time, measured, wall time.Duration) time.Time {
	at := from.Add(wall)
	// time.Time is wall, ext, loc; ext is the measuring clock's nanoseconds.
	ext := (*int64)(unsafe.Add(unsafe.Pointer(&at), unsafe.Sizeof(uint64(0))))
	*ext += int64(measured - wall)
	return at
}

// TestRestAfterStop: an exchange during which the process was stopped for hours does
// not make its host rest for days.
func TestRestAfterStop(t *testing.T) {
	now := time.Now()
	auto := Delay{}
	n := NewNetwork(time.Now, slog.New(slog.DiscardHandler))
	r := &fetch.Response{Start: now.Add(-8 * time.Hour), Took: 8 * time.Hour}
	if got := auto.of(0, r, n.took(r), 0); got.Host != 80*time.Hour || got.Address != addressRestMost {
		t.Errorf("a host that took 8 hours rests %v, want 80 hours, and its address less", got)
	}
	n.stoppedTo = now
	if got := auto.of(0, r, n.took(r), 0); got.Host != minAutoRest {
		t.Errorf("a host rests %v when it was we who took 8 hours, want %v", got, minAutoRest)
	}
}
