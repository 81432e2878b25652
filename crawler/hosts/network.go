package hosts

import (
	"log/slog"
	"slices"
	"time"

	"fossick/crawler/fetch"
)

// When our own network is down, every host seems dead. A crawl that went on
// would try its queue three times and have nothing left. So failures below HTTP
// are also counted over all hosts. When partiesDown different parties in a row
// gave no answer, a host that did answer not long ago is asked for its
// robots.txt. If that brings nothing either, the crawl pauses. What was counted
// since the last answer is taken back. Only such hosts are asked, one at a time
// and ever more seldom, until one answers.

const (
	partiesDown  = 5 // of different sites and nets
	probeFirst   = 5 * time.Second
	probeSeldom  = 2 * time.Minute
	maxTakenBack = 10_000 // failures that can be taken back
	// longStop is how long the owner must not have run to tell that the process
	// was stopped or the machine slept.
	longStop = 10 * time.Second
	// maxOwnFaults is how many faults of this machine in a row, without an
	// answer of anybody, are excused. Where there are more it is no shortage
	// that passes, and the crawl must end.
	maxOwnFaults = 1000
)

// Network is what the crawl knows of its own network, and of hosts that were given up. It
// belongs to one goroutine.
type Network struct {
	now func() time.Time
	log *slog.Logger

	contacts   contacts
	answeredAt time.Time            // the last answer of all
	dead       map[string]time.Time // addresses with port at which a host was given up → until when that is remembered

	suspicion
	outage
	cut       time.Time // failures of exchanges begun before count for nobody
	faults    int       // of our own since the last answer
	stoppedTo time.Time // the process was stopped until then, last
	beatAt    time.Time // the owner ran last
}

// suspicion is what speaks for an outage: parties that gave no answer since the last one.
type suspicion struct {
	sites, nets map[string]struct{}
	misses      []Miss    // and what was counted for it
	since       time.Time // the first of these
}

// outage is the one that goes on, and the sum of all.
type outage struct {
	down     bool
	undo     []Miss    // is to be taken back
	probing  bool      // a probe is in flight
	probes   int       // that failed in this outage
	next     time.Time // not before that the next one
	count    int
	downTime time.Duration // of those that are over
}

// NewNetwork returns a network of which nothing is known.
func NewNetwork(now func() time.Time, log *slog.Logger) *Network {
	return &Network{now: now, log: log, dead: map[string]time.Time{}}
}

// missed takes in that a host gave no answer.
func (n *Network) missed(h *host, m Miss) {
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

// keep remembers a failure that may have to be taken back.
func (n *Network) keep(m Miss) {
	if len(n.misses) < maxTakenBack && len(n.contacts) >= contactsLeast {
		n.misses = append(n.misses, m)
	}
}

// Ended remembers that a URL ended by the verdict on its host, while nobody answers.
func (n *Network) Ended(m Miss) {
	if len(n.sites) > 0 {
		m.Ended = true
		n.keep(m)
	}
}

// suspect says whether our network may be down.
func (n *Network) suspect() bool {
	return len(n.contacts) >= contactsLeast && len(n.sites) >= partiesDown && len(n.nets) >= partiesDown
}

// Excuses says whether a failure counts for nobody. Our network is down, or was
// while the exchange went on, or the process was stopped meanwhile, or this
// machine had no more connections to give.
func (n *Network) Excuses(r *fetch.Response) bool {
	return (broken(r) || r.State == fetch.StateTLSError) && (n.down || r.Start.Before(n.cut) || n.excusesOwn(r))
}

// excusesOwn says whether an exchange failed by a fault of ours that is to be excused.
func (n *Network) excusesOwn(r *fetch.Response) bool {
	if !ownFault(r) {
		return false
	}
	n.faults++
	return n.faults <= maxOwnFaults
}

// Tick is told twice a second that the process runs; without it nobody can tell that it
// was stopped. It returns the time.
func (n *Network) Tick() time.Time {
	if n.beatAt.IsZero() {
		n.beatAt = n.now()
	}
	return n.Beat()
}

// Beat notices that the process did not run for a while: stopped by a signal, or
// with the whole machine. What was in flight may fail by that. It returns the time.
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

// took is how long a host took for an exchange. While the process was stopped the time
// is not the host's: by that a rest of ten times the exchange would be hours.
func (n *Network) took(r *fetch.Response) time.Duration {
	if r.Start.Before(n.stoppedTo) {
		return 0
	}
	return r.Took
}

// step is what the crawl may do now, as far as our network goes.
type step int

// The steps.
const (
	Go    step = iota
	Hold       // ask nobody, until something happens
	Until      // ask nobody until a time
	probe      // ask one of Contacts, if one may be asked
)

// Step says what the crawl may do; idle says that it has nothing left to do.
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

// Contacts are the hosts that can tell, the one that was not asked longest first.
func (n *Network) Contacts() []contact { return n.contacts }

// Probes says that a contact is asked.
func (n *Network) Probes(k contact) {
	n.contacts = append(slices.DeleteFunc(n.contacts, func(other contact) bool { return other == k }), k)
	n.probing = true
}

// Down says whether our network is taken to be down.
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

// up ends an outage, or the suspicion of one.
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

// TakeBack returns what was counted while an outage built up, once.
func (n *Network) TakeBack() []Miss {
	back := n.undo
	n.undo = nil
	return back
}

// Recalls says whether a host that answered in an earlier session is wanted as a contact,
// Recall makes it one.
func (n *Network) Recalls(h *host) bool {
	return len(n.contacts) < contactsKept && h.Lived() && h.Record.Silent == 0
}

// Recall makes a contact of a host.
func (n *Network) Recall(h *host, robots string) { n.contacts.add(h, robots) }

// Outages returns how often our network was down, since when it is, the zero time when it
// is not, and how long it was in all.
func (n *Network) Outages() (count int, since time.Time, total time.Duration) {
	if !n.down {
		return n.count, time.Time{}, n.downTime
	}
	return n.count, n.since, n.downTime + n.now().Sub(n.since)
}
