package hosts

import (
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"
	"unsafe"

	"fossick/crawler/fetch"
	"fossick/store"
)

// TestExcuses: failures that count for nobody.
func TestExcuses(t *testing.T) {
	cut := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		state fetch.State
		code  int
		start time.Duration // since cut
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

// TestClosedHostIsAskedAgain: a day after a host was given up, a new URL of it gets one probe.
func TestClosedHostIsAskedAgain(t *testing.T) {
	s := &store.Host{Name: "a.test:80", RobotsCode: 200, Silent: 9, SilentSince: 1, Closed: "connect_error", ClosedUntil: time.Now().UnixMilli()}
	h := newHealth(s, "a.test")
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

var (
	unwell = &fetch.Response{State: fetch.StateCode, Code: 503}
	mute   = &fetch.Response{State: fetch.StateConnectTimeout}
	nobody = &fetch.Response{State: fetch.StateNoIP, Err: fetch.ErrNoSuchHost}
)

// TestRetry: three tries for a URL, more if the host may be to blame, fewer if it always fails.
func TestRetry(t *testing.T) {
	for name, c := range map[string]struct {
		record store.Host
		answer *fetch.Response
		visits int
		again  bool
		why    string
	}{
		"once":               {store.Host{}, unwell, 1, true, ""},
		"twice":              {store.Host{}, unwell, 2, true, ""},
		"three times":        {store.Host{}, unwell, 3, false, ""},
		"a host that died":   {store.Host{RobotsCode: 200, Silent: 3}, mute, 3, true, ""},
		"a host that talks":  {store.Host{RobotsCode: 200, Silent: 3}, unwell, 3, false, ""},
		"a host that is ill": {store.Host{Requests: 20, Retries: 20}, unwell, 1, false, "not retried: 20 of the 20 requests to the host were retries"},
	} {
		h := newHealth(&c.record, "a.test")
		if again, why := h.Retry(c.answer, c.visits); again != c.again || why != c.why {
			t.Errorf("%s: again %v, %q; want %v, %q", name, again, why, c.again, c.why)
		}
	}
}

// TestFirstContact: three failures end a host that never answered, one suffices if it does not
// exist; forgiven failures do not count.
func TestFirstContact(t *testing.T) {
	fail := func(h *health, r *fetch.Response) bool {
		h.CountFirst()
		return h.FailedFirst(r, "not reached")
	}
	h := newHealth(&store.Host{}, "a.test")
	first, second := fail(&h, mute), fail(&h, mute)
	if !first || !second || fail(&h, mute) || h.Verdict != "connect_timeout" || h.Why != "not reached" {
		t.Errorf("after three failures: %q, %q", h.Verdict, h.Why)
	}
	if h.Forgive(Miss{First: true}); h.Verdict != "" || h.Record.Failures != 2 || !h.LastTry() {
		t.Errorf("after one was forgiven: %+v", h)
	}
	h = newHealth(&store.Host{}, "a.test")
	if fail(&h, nobody) || h.Verdict != "no_ip" {
		t.Errorf("no such host: %q", h.Verdict)
	}
}

// TestBreaker: a silent host is given up after six probes, but never if no other host answers.
func TestBreaker(t *testing.T) {
	for _, others := range []bool{true, false} {
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		n := NewNetwork(func() time.Time { return now }, slog.New(slog.DiscardHandler))
		record := &store.Host{Name: "a.test:80", RobotsCode: 200}
		h, other := newHealth(record, "a.test"), newHealth(&store.Host{Name: "b.test:80", RobotsCode: 200}, "b.test")
		probes, back := 0, 0
		for h.Verdict == "" && probes < 20 {
			now = now.Add(time.Minute)
			if others {
				n.Observe(&other, Exchange{Response: &fetch.Response{State: fetch.StateOK, Code: 200}})
			}
			page := !h.Probed()
			n.Observe(&h, Exchange{Response: mute, Miss: Miss{ID: 7, Page: page}})
			if !page {
				probes++
				misses, _ := n.FailedProbe(&h, mute.State)
				back += len(misses)
			}
		}
		if want := map[bool]int{true: maxProbes, false: 20}[others]; probes != want || back != closeAfter {
			t.Errorf("others answer: %v: given up after %d probes, want %d; %d failures taken back, want %d", others, probes, want, back, closeAfter)
		}
		if most := h.pause(); !others && most != probeLast {
			t.Errorf("a host beside which nobody answers is probed after %v, want %v", most, probeLast)
		}
	}
}

// TestNewcomers: newcomers leave a quarter of the workers, and have one exchange per network.
func TestNewcomers(t *testing.T) {
	n := NewNewcomers(8)
	in := netip.MustParseAddr("2001:db8::1")
	var tickets []Ticket
	for n.Free() {
		tickets = append(tickets, n.Begin(in))
	}
	if len(tickets) != 6 || !n.NetBusy(netip.MustParseAddr("2001:db8::ffff:1")) || n.NetBusy(netip.MustParseAddr("2001:db8:1::1")) {
		t.Errorf("%d places of 8 for newcomers, want 6; or the net is not theirs", len(tickets))
	}
	n.Aside(&tickets[0])
	if !n.Free() || !n.NetBusy(in) {
		t.Error("an exchange beside the workers keeps its place, or frees its net")
	}
	for i := range tickets {
		n.End(&tickets[i])
	}
	if n.taken != 0 || n.NetBusy(in) {
		t.Errorf("%d places taken when all is over", n.taken)
	}
	for workers, want := range map[int]int{0: 0, 1: 1, 2: 1, 3: 2, 4: 3, 32: 24} {
		if n.Among(workers); n.places != want {
			t.Errorf("%d places of %d, want %d", n.places, workers, want)
		}
	}
}

// TestClockSetBack: a record of a clock that was ahead binds no longer than a correct one.
func TestClockSetBack(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(d time.Duration) int64 { return now.Add(d).UnixMilli() }
	const year = 365 * 24 * time.Hour
	for _, test := range []struct {
		name   string
		record store.Host // of a host whose robots.txt was requested, and which then rested
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
		h := newHealth(&test.record, "a.test")
		if got := RestLeft(&test.record, now); got != test.rest {
			t.Errorf("%s: rests %v, want %v", test.name, got, test.rest)
		}
		if h.Reconsider(now); (test.record.Closed != "") != test.closed {
			t.Errorf("%s: closed: %v", test.name, test.record.Closed != "")
		}
	}
}

// TestStoppedFor: what clocks show after a sleep and after a change of the wall clock.
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

// clocks returns a time with separate advances of the monotonic and the wall clock.
func clocks(from time.Time, measured, wall time.Duration) time.Time {
	at := from.Add(wall)
	// time.Time is wall, ext, loc; ext has the monotonic nanoseconds.
	ext := (*int64)(unsafe.Add(unsafe.Pointer(&at), unsafe.Sizeof(uint64(0))))
	*ext += int64(measured - wall)
	return at
}

// TestRestAfterStop: a stopped process does not make its host rest for days.
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

// TestAfter: by hand. Without a fixed delay a host rests ten times its exchange, at least two
// seconds, its address at most twenty (paper E2 has other numbers).
func TestAfter(t *testing.T) {
	const ms, second, minute = time.Millisecond, time.Second, time.Minute
	paper := Delay{Fixed: true, Rest: 30 * second, Fold: 10}
	for _, c := range []struct {
		name                  string
		delay                 Delay
		failures              int
		took, asks, after     time.Duration
		host, address, wish   time.Duration
		reason                string
		hostMillis, ownMillis int64
	}{
		{"a swift exchange", Delay{}, 0, 100 * ms, 0, 0, 2 * second, 2 * second, 0, "", 2000, 0},
		{"a slow one", Delay{}, 0, 3 * second, 0, 0, 30 * second, 20 * second, 0, "", 30_000, 10_000},
		{"paper E, swift", paper, 0, second, 0, 0, 30 * second, 30 * second, 0, "", 30_000, 0},
		{"paper E, slow", paper, 0, 4 * second, 0, 0, 40 * second, 30 * second, 0, "", 40_000, 10_000},
		{"fixed", Delay{Fixed: true, Rest: second}, 0, minute, 0, 0, second, second, 0, "", 1000, 0},
		{"robots.txt asks for more", Delay{}, 0, 0, 5 * second, 0, 5 * second, 2 * second, 5 * second, store.RestForCrawlDelay, 5000, 3000},
		{"robots.txt asks for as much", Delay{}, 0, 0, 2 * second, 0, 2 * second, 2 * second, 0, "", 2000, 0},
		{"the answer asks for most", Delay{}, 3, 0, 5 * second, minute, minute, 2 * second, minute, store.RestForRetryAfter, 60_000, 58_000},
		{"the first failure", Delay{Fixed: true}, 1, 0, 0, 0, second, 0, second, store.RestForFailures, 1000, 1000},
		{"the fourth doubles it three times", Delay{}, 4, 0, 0, 0, 8 * second, 2 * second, 8 * second, store.RestForFailures, 8000, 6000},
		{"the tenth", Delay{}, 10, 0, 0, 0, 512 * second, 2 * second, 512 * second, store.RestForFailures, 512_000, 510_000},
		{"the eleventh", Delay{}, 11, 0, 0, 0, 10 * minute, 2 * second, 10 * minute, store.RestForFailures, 600_000, 598_000},
		{"the web is in memory", Delay{Off: true, Rest: second}, 3, second, second, second, 0, 0, 0, "", 0, 0},
	} {
		got := c.delay.After(c.failures, c.took, c.asks, c.after)
		if want := (Rest{c.host, c.address, c.reason, c.wish}); got != want {
			t.Errorf("%s: %+v, want %+v", c.name, got, want)
		}
		if host, own := got.Millis(); host != c.hostMillis || own != c.ownMillis {
			t.Errorf("%s: %d ms, %d of its own; want %d, %d", c.name, host, own, c.hostMillis, c.ownMillis)
		}
	}
}

// TestRobotsFresh: rules hold for a day, also those of a clock that was ahead.
func TestRobotsFresh(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	table := New(Options{Now: func() time.Time { return now }}, nil, nil, nil, nil)
	for age, want := range map[time.Duration]bool{
		time.Hour: true, 25 * time.Hour: false, -time.Second: true, -24 * time.Hour: false, -87600 * time.Hour: false,
	} {
		h := &Host{Host: &store.Host{RobotsAt: now.Add(-age).UnixMilli()}, Rules: fetch.AllowAll("")}
		if got := table.RobotsFresh(h); got != want {
			t.Errorf("rules %v old are fresh: %v", age, got)
		}
	}
}
