package hosts

import (
	"log/slog"
	"net/netip"
	"testing"
	"time"

	"fossick/crawler/fetch"
	"fossick/store"
)

var (
	unwell = &fetch.Response{State: fetch.StateCode, Code: 503}
	mute   = &fetch.Response{State: fetch.StateConnectTimeout}
	nobody = &fetch.Response{State: fetch.StateNoIP, Err: fetch.ErrNoSuchHost}
)

// TestRetry: three tries for a URL, one more where its host may be to blame, fewer where
// the host fails all the time.
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
		h := newHost(&c.record, "a.test")
		if again, why := h.Retry(c.answer, c.visits); again != c.again || why != c.why {
			t.Errorf("%s: again %v, %q; want %v, %q", name, again, why, c.again, c.why)
		}
	}
}

// TestFirstContact: three failures end a host that never answered, one where there is no
// such host; what is forgiven counts no more.
func TestFirstContact(t *testing.T) {
	fail := func(h *host, r *fetch.Response) bool {
		h.CountFirst()
		return h.FailedFirst(r, "not reached")
	}
	h := newHost(&store.Host{}, "a.test")
	first, second := fail(&h, mute), fail(&h, mute)
	if !first || !second || fail(&h, mute) || h.Verdict != "connect_timeout" || h.Why != "not reached" {
		t.Errorf("after three failures: %q, %q", h.Verdict, h.Why)
	}
	if h.Forgive(Miss{First: true}); h.Verdict != "" || h.Record.Failures != 2 || !h.LastTry() {
		t.Errorf("after one was forgiven: %+v", h)
	}
	h = newHost(&store.Host{}, "a.test")
	if fail(&h, nobody) || h.Verdict != "no_ip" {
		t.Errorf("no such host: %q", h.Verdict)
	}
}

// TestBreaker: a host that falls silent is probed, and its URLs get back what
// they paid. It is given up after six probes while others answer, after none of
// them do never.
func TestBreaker(t *testing.T) {
	for _, others := range []bool{true, false} {
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		n := NewNetwork(func() time.Time { return now }, slog.New(slog.DiscardHandler))
		record := &store.Host{Name: "a.test:80", RobotsCode: 200}
		h, other := newHost(record, "a.test"), newHost(&store.Host{Name: "b.test:80", RobotsCode: 200}, "b.test")
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

// TestNewcomers: they leave a quarter of the workers free, and one customer's net has one
// exchange at a time.
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
