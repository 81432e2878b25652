package hosts

import (
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"time"

	"fossick/crawler/fetch"
	"fossick/store"
)

// When our own network is down, every host seems dead, and a crawl that went on would use up
// its queue. So failures below HTTP are also counted across hosts. When partiesDown different
// parties in a row gave no answer, a host that answered recently is asked for its robots.txt.
// If that fails too, the crawl pauses and takes back the failures since the last answer. It
// asks only such hosts, one at a time and ever less often, until one answers.

const (
	partiesDown  = 5 // of different sites and nets
	probeFirst   = 5 * time.Second
	probeSeldom  = 2 * time.Minute
	maxTakenBack = 10_000 // failures that can be taken back
	// longStop is the gap after which the process counts as stopped or the machine as asleep.
	longStop = 10 * time.Second
	// maxOwnFaults bounds the excused faults of this machine in a row. More of them are no
	// passing shortage, and the crawl must end.
	maxOwnFaults = 1000
)

// Network is the state of the crawl's own network and of hosts that were given up. It belongs
// to one goroutine.
type Network struct {
	now func() time.Time
	log *slog.Logger

	contacts   contacts
	answeredAt time.Time            // the last answer of any host
	dead       map[string]time.Time // address and port of a host given up → how long that is remembered

	suspicion
	outage
	cut       time.Time // failures of exchanges begun earlier are excused
	faults    int       // of this machine since the last answer
	stoppedTo time.Time // end of the last time the process was stopped
	beatAt    time.Time // when the owner ran last
}

// suspicion collects signs of an outage: parties without an answer since the last answer.
type suspicion struct {
	sites, nets map[string]struct{}
	misses      []Miss    // the failures counted meanwhile
	since       time.Time // the first of these
}

// outage is the present outage, and the sum of all.
type outage struct {
	down     bool
	undo     []Miss    // to be taken back
	probing  bool      // a probe is in flight
	probes   int       // failed probes in this outage
	next     time.Time // earliest time of the next probe
	count    int
	downTime time.Duration // of past outages
}

func NewNetwork(now func() time.Time, log *slog.Logger) *Network {
	return &Network{now: now, log: log, dead: map[string]time.Time{}}
}

// missed records that a host gave no answer.
func (n *Network) missed(h *health, m Miss) {
	if n.sites == nil {
		n.sites, n.nets, n.since = map[string]struct{}{}, map[string]struct{}{}, m.at
	}
	if len(n.sites) < partiesDown {
		n.sites[h.Site] = struct{}{}
	}
	if len(n.nets) < partiesDown {
		n.nets[h.net()] = struct{}{}
	}
	n.keep(m)
}

// keep stores a failure that may have to be taken back.
func (n *Network) keep(m Miss) {
	if len(n.misses) < maxTakenBack && len(n.contacts) >= contactsLeast {
		n.misses = append(n.misses, m)
	}
}

// Ended records that a URL ended by its host's verdict during a suspicion.
func (n *Network) Ended(m Miss) {
	if len(n.sites) > 0 {
		m.Ended = true
		n.keep(m)
	}
}

// suspect reports whether our network may be down.
func (n *Network) suspect() bool {
	return len(n.contacts) >= contactsLeast && len(n.sites) >= partiesDown && len(n.nets) >= partiesDown
}

// Excuses reports whether a failure is excused: our network was down, the process was stopped,
// or this machine had no more connections during the exchange.
func (n *Network) Excuses(r *fetch.Response) bool {
	return (broken(r) || r.State == fetch.StateTLSError) && (n.down || r.Start.Before(n.cut) || n.excusesOwn(r))
}

func (n *Network) excusesOwn(r *fetch.Response) bool {
	if !ownFault(r) {
		return false
	}
	n.faults++
	return n.faults <= maxOwnFaults
}

// Tick must be called twice a second, so that a stop of the process is noticed. It returns the
// time.
func (n *Network) Tick() time.Time {
	if n.beatAt.IsZero() {
		n.beatAt = n.now()
	}
	return n.Beat()
}

// Beat notices that the process did not run for a while, stopped by a signal or with the
// machine: exchanges in flight may fail by that. It returns the time.
func (n *Network) Beat() time.Time {
	now, last := n.now(), n.beatAt
	if last.IsZero() {
		return now // nothing ticks yet
	}
	if stoppedFor(last, now) > longStop {
		n.cut, n.stoppedTo = now, now
		n.log.Info("the process was suspended for a while; requests in flight are retried", "seconds", stoppedFor(last, now).Seconds())
	}
	n.beatAt = now
	return now
}

// took returns a host's time for an exchange. Time in which the process was stopped is not the
// host's.
func (n *Network) took(r *fetch.Response) time.Duration {
	if r.Start.Before(n.stoppedTo) {
		return 0
	}
	return r.Took
}

// step is what the state of our network lets the crawl do.
type step int

const (
	Go    step = iota
	Hold       // ask no host until something happens
	Until      // ask no host until a time
	probe      // ask one of Contacts, if one may be asked
)

// Step returns what the crawl may do; idle says that it has nothing left to do.
func (n *Network) Step(idle bool) (step step, until time.Time) {
	switch {
	case !n.down && !n.suspect():
		return Go, until
	case n.probing, n.down && idle:
		return Hold, until
	case n.down && n.now().Before(n.next):
		return Until, n.next
	}
	return probe, until
}

// Contacts returns the hosts to probe, the one asked longest ago first.
func (n *Network) Contacts() []contact { return n.contacts }

// Probes records that a contact is asked.
func (n *Network) Probes(k contact) {
	n.contacts = append(slices.DeleteFunc(n.contacts, func(other contact) bool { return other == k }), k)
	n.probing = true
}

// Down reports whether our network is taken to be down.
func (n *Network) Down() bool { return n.down }

// Probed judges our network by the answer to a probe; nil when it was broken off.
func (n *Network) Probed(r *fetch.Response) {
	n.probing = false
	switch {
	case r == nil:
		return
	case !Silent(r):
		n.up()
		return
	}
	if !n.down {
		n.down, n.probes, n.undo, n.misses = true, 0, n.misses, nil
		n.count++
		n.log.Warn("this machine's network seems down: the crawl pauses until a host answers",
			"since", n.since.UTC().Format(time.DateTime), "err", errorText(r.Err))
	}
	n.next = n.now().Add(min(probeFirst<<min(n.probes, 16), probeSeldom))
	n.probes++
}

// up ends an outage or a suspicion.
func (n *Network) up() {
	now := n.now()
	if n.down {
		n.down, n.cut = false, now
		n.downTime += now.Sub(n.since)
		n.log.Warn("this machine's network is back", "seconds", now.Sub(n.since).Seconds())
	}
	n.answeredAt, n.faults = now, 0
	n.sites, n.nets, n.misses = nil, nil, nil
}

// TakeBack returns the failures counted while an outage built up, once.
func (n *Network) TakeBack() []Miss {
	back := n.undo
	n.undo = nil
	return back
}

// Recalls reports whether a host that answered in an earlier session is wanted as a contact.
func (n *Network) Recalls(h *health) bool {
	return len(n.contacts) < contactsKept && h.Lived() && h.Record.Silent == 0
}

// Recall makes a host a contact.
func (n *Network) Recall(h *health, robots string) { n.contacts.add(h, robots) }

// Outages returns the number of outages, the start of the present one (zero if none), and
// their total time.
func (n *Network) Outages() (count int, since time.Time, total time.Duration) {
	if !n.down {
		return n.count, time.Time{}, n.downTime
	}
	return n.count, n.since, n.downTime + n.now().Sub(n.since)
}

// A host that answered and stops answering is down, for minutes or for good. Its URLs must not
// be used up with three time-outs each. So failures count for the host: after closeAfter in a
// row it is only asked for its robots.txt, at growing intervals (a circuit breaker, half
// open). If that fails too, the failures counted against its URLs are taken back; after
// maxProbes of them the host is closed and its URLs end. For a host that never answered see
// health.FailedFirst.

const (
	closeAfter = maxVisits // exchanges in a row without an answer
	maxProbes  = 6         // reached within half an hour
	// probeBase is the rest after the first failed probe; it doubles with each further one.
	// The first probe comes after the back-off alone.
	probeBase = time.Minute
	probeMost = 15 * time.Minute
	// probeLast is the rest when no host answers, so that this one may not be to blame. It
	// exceeds the default patience of a crawl, which then ends with its URLs in the queue.
	probeLast = time.Hour
	// closedFor is how long the URLs of a closed host end without a request.
	closedFor = 24 * time.Hour
)

// pause returns a host's rest before its next probe.
func (h *health) pause() time.Duration {
	failed := h.Record.Silent - closeAfter
	switch {
	case !h.Lived() || failed <= 0 || h.Record.Closed != "":
		return 0
	case failed >= maxProbes:
		return probeLast
	}
	return min(probeBase<<(failed-1), probeMost)
}

// Observe records whether a host answered, for the host and for our network.
func (n *Network) Observe(h *health, x Exchange) {
	r := x.Response
	switch {
	case x.Probe && broken(r):
	case r.Code != 0:
		h.Record.Silent, h.Record.SilentSince, h.misses = 0, 0, nil
		if len(n.dead) > 0 {
			delete(n.dead, h.socket())
		}
		if broken(r) {
			n.keep(x.miss())
		} else {
			n.contacts.add(h, x.Robots)
			n.up()
		}
	case Silent(r):
		if h.Record.Silent++; h.Record.Silent == 1 {
			h.Record.SilentSince = r.Start.UnixMilli()
		}
		m := x.miss()
		if m.Page {
			h.misses = append(h.misses, m)
		}
		if h.Lived() || !noSuchHost(r) { // a name that does not exist is an answer too
			n.missed(h, m)
		}
	}
}

// FailedProbe counts a failed request for robots.txt, or for the address, at a host that
// answered before. It returns the failures of URLs to take back, and whether the host is
// closed.
func (n *Network) FailedProbe(h *health, state fetch.State) (back []Miss, closed bool) {
	now := n.now()
	if h.Record.Silent == closeAfter+1 { // the host is to blame, not its URLs
		back, h.misses = h.misses, nil
	}
	// Answers of other hosts tell a dead host from a dead network.
	others := n.answeredAt.After(h.probedAt)
	h.probedAt = now
	most := maxProbes
	if until, known := n.dead[h.socket()]; known && now.Before(until) {
		most = 1 // another host at this address already failed its probes
	}
	if h.Record.Silent < closeAfter+most || !others {
		return back, false
	}
	h.Record.Closed, h.Record.ClosedUntil = string(state), now.Add(closedFor).UnixMilli()
	h.Record.Promised = 0
	h.judgeSilence()
	if h.Record.Address != "" && (state == fetch.StateConnectError || state == fetch.StateConnectTimeout) {
		n.dead[h.socket()] = now.Add(closedFor)
	}
	n.log.Info("crawl gives up a host", "host", h.Record.Name, "state", h.Verdict, "reason", h.Why)
	return back, true
}

func (h *health) judgeSilence() {
	if h.Record.Closed == "" {
		return
	}
	h.Verdict = h.Record.Closed
	h.Why = fmt.Sprintf("the host gave no answer to %d requests in a row since %s",
		h.Record.Silent, time.UnixMilli(h.Record.SilentSince).UTC().Format(time.DateTime))
}

// Reconsider opens a host for one probe when it was closed long enough ago.
func (h *health) Reconsider(now time.Time) {
	if left := time.UnixMilli(h.Record.ClosedUntil).Sub(now); h.Record.Closed != "" && (left <= 0 || left > closedFor+clockSlack) {
		h.open()
	}
}

func (h *health) socket() string {
	return h.Record.Address + " " + h.Record.Name[strings.LastIndexByte(h.Record.Name, ':')+1:]
}

const (
	contactsKept  = 8 // the last to answer, each in another net
	contactsLeast = 2 // fewer cannot tell their own death from the network's
)

// contact is a host that is probed to test our network.
type contact struct {
	Host, Robots string // name:port, URL of its robots.txt
	net          string
}

// contacts are the hosts that answered last, the next to probe first.
type contacts []contact

func (cs *contacts) add(h *health, robots string) {
	k := contact{h.Record.Name, robots, h.net()}
	if i := slices.IndexFunc(*cs, func(old contact) bool { return old.net == k.net }); i >= 0 {
		(*cs)[i] = k
		return
	}
	if len(*cs) >= contactsKept {
		*cs = slices.Delete(*cs, 0, 1)
	}
	*cs = append(*cs, k)
}

// net names the host's part of the network: its site when a proxy knows the address.
func (h *health) net() string {
	addr, err := netip.ParseAddr(h.Record.Address)
	if err != nil {
		return h.Site
	}
	bits := 48
	if addr.Is4() {
		bits = 24
	}
	prefix, err := addr.Prefix(bits)
	if err != nil {
		return h.Site
	}
	return prefix.String()
}

// Miss is a counted failure that may have to be taken back.
type Miss struct {
	Host   string   // name:port
	URL    string   // any of the host
	ID     store.ID // the URL it was counted for; 0 when for the host alone
	Queued store.Queued
	Silent bool // counted as an exchange without an answer
	Page   bool // counted as a visit of the URL
	First  bool // counted as a failure of the first contact
	Ended  bool // no failure: the URL ended by the host's verdict

	at time.Time // start of the exchange
}

// Exchange is a finished exchange, for the verdict on its host and our network.
type Exchange struct {
	Response *fetch.Response
	Robots   string // URL of the host's robots.txt
	Probe    bool   // it tested the network of this machine
	Miss     Miss   // its failure, if it failed
}

func (x *Exchange) miss() Miss {
	m := x.Miss
	m.at, m.Silent = x.Response.Start, Silent(x.Response)
	if m.Page && m.ID != 0 {
		m.Queued.Visits++
	}
	return m
}
