package crawler

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"fossick/fetch"
	"fossick/page"
)

// When our own network is down, every host seems dead. A crawl that went on would
// try its queue three times and have nothing left. So failures below HTTP are also
// counted over all hosts: when partiesDown different parties in a row gave no
// answer, a host that did answer not long ago is asked for its robots.txt. If that
// brings nothing either, the crawl pauses: what was counted since the last answer
// is taken back, and only such hosts are asked, one at a time and ever more
// seldom, until one answers.

const (
	partiesDown  = 5 // of different sites and nets
	goodKept     = 8 // hosts that answered last, each of another net
	goodLeast    = 2 // fewer cannot tell their own death from that of the network
	probeFirst   = 5 * time.Second
	probeSeldom  = 2 * time.Minute
	maxTakenBack = 10_000 // failures that can be taken back
	// longStop is how long the owner must not have run to tell that the process
	// was stopped or the machine slept; its ticker wakes it twice a second.
	longStop = 10 * time.Second
)

// network is what the crawl knows of its own network. It belongs to the owner.
type network struct {
	good       []contact // the one to be asked next first
	answeredAt time.Time // the last answer of all

	sites, nets map[string]struct{} // that gave no answer since then
	misses      []miss              // and what was counted for it
	since       time.Time           // the first of these

	down      bool
	undo      []miss    // is to be taken back
	probing   bool      // a probe is in flight
	probes    int       // that failed in this outage
	next      time.Time // not before that the next one
	cut       time.Time // failures of exchanges begun before count for nobody
	faults    int       // of our own since the last answer; see faulty
	stoppedTo time.Time // the process was stopped until then, last
	outages   int
	downTime  time.Duration // of those that are over
}

// contact is a host that may be asked whether we have a network.
type contact struct{ host, robots, net string }

// netOf names the part of the network a host is in: its site when a proxy knows
// the address.
func netOf(h *host) string {
	addr, err := netip.ParseAddr(h.Address)
	if err != nil {
		return h.site
	}
	bits := 48
	if addr.Is4() {
		bits = 24
	}
	prefix, err := addr.Prefix(bits)
	if err != nil {
		return h.site
	}
	return prefix.String()
}

// answered takes in that a host gave an answer: the network works.
func (c *Crawler) answered(h *host, url string) {
	c.network.befriend(h, robotsURL(url))
	c.networkUp()
}

// befriend keeps a host as one that answers.
func (n *network) befriend(h *host, robots string) {
	k := contact{h.Name, robots, netOf(h)}
	if i := slices.IndexFunc(n.good, func(old contact) bool { return old.net == k.net }); i >= 0 {
		n.good[i] = k
		return
	}
	if len(n.good) >= goodKept {
		n.good = slices.Delete(n.good, 0, 1)
	}
	n.good = append(n.good, k)
}

// missed takes in that a host gave no answer.
func (n *network) missed(h *host, m miss) {
	if n.sites == nil {
		n.sites, n.nets, n.since = map[string]struct{}{}, map[string]struct{}{}, m.at
	}
	if len(n.sites) < partiesDown {
		n.sites[h.site] = struct{}{}
	}
	if len(n.nets) < partiesDown {
		n.nets[netOf(h)] = struct{}{}
	}
	n.log(m)
}

// log keeps a failure that may have to be taken back.
func (n *network) log(m miss) {
	if len(n.misses) < maxTakenBack && len(n.good) >= goodLeast {
		n.misses = append(n.misses, m)
	}
}

// suspect says whether our network may be down.
func (n *network) suspect() bool {
	return len(n.good) >= goodLeast && len(n.sites) >= partiesDown && len(n.nets) >= partiesDown
}

// excuses says whether a failure counts for nobody: our network is down, or was
// while the exchange went on, or the process was stopped meanwhile, or this machine
// had no more connections to give.
func (n *network) excuses(o *outcome) bool {
	r := o.resp
	return r != nil && !o.aborted && o.task != taskProbe && (broken(r) || r.State == fetch.StateTLSError) &&
		(n.down || r.Start.Before(n.cut) || n.faulty(r))
}

// beat notices that the process did not run for a while: stopped by a signal, or
// with the whole machine. What was in flight may fail by that. It returns the time.
func (c *Crawler) beat() time.Time {
	now := c.opt.Now()
	if last := c.beatAt; !last.IsZero() && stoppedFor(last, now) > longStop {
		c.network.cut, c.network.stoppedTo = now, now
		c.opt.Log.Info("the process was stopped for a while; what was in flight is tried again", "seconds", stoppedFor(last, now).Seconds())
	}
	c.beatAt = now
	return now
}

// hold says whether no URL may be leased now because of our network; the channel
// is as of leaseAll.
func (c *Crawler) hold() (wake <-chan time.Time, hold bool, err error) {
	n, now := &c.network, c.opt.Now()
	switch {
	case !n.down && !n.suspect():
		return nil, false, nil
	case n.probing:
		return nil, true, nil
	case n.down && c.busy == 0 && c.frontier.Len() == 0:
		return nil, true, nil // nothing is left to wait for
	case n.down && now.Before(n.next):
		return time.After(n.next.Sub(now)), true, nil
	}
	j, err := c.probe(now)
	switch {
	case err != nil:
		return nil, true, err
	case j != nil:
		n.probing = true
		c.start(j)
		return nil, true, nil
	case n.down:
		return time.After(time.Second), true, nil
	}
	return nil, false, nil // all who could tell rest: until one may be asked the crawl goes on
}

// probe makes the job that asks a host that answered before for its robots.txt;
// nil when all of them rest. It begins with the one that was not asked longest.
func (c *Crawler) probe(now time.Time) (*job, error) {
	n := &c.network
	for i, k := range n.good {
		h, err := c.host(k.host, k.robots)
		if err != nil {
			return nil, err
		}
		if c.frontier.Claim(h.party, now) {
			n.good = append(slices.Delete(n.good, i, i+1), k)
			return &job{task: taskProbe, host: h, target: k.robots}, nil
		}
	}
	return nil, nil
}

// applyProbe judges our network by the answer to a probe.
func (c *Crawler) applyProbe(o *outcome) {
	c.counts.Requests++
	o.host.Requests++
	o.note = "to see whether we have a network"
	n, now := &c.network, c.opt.Now()
	n.probing = false
	if o.aborted {
		return
	}
	if !silent(o.resp) {
		c.networkUp()
		return
	}
	if !n.down {
		n.down, n.probes, n.undo, n.misses = true, 0, n.misses, nil
		n.outages++
		c.opt.Log.Warn("own network seems down: the crawl pauses until a host answers",
			"since", n.since.UTC().Format(time.DateTime), "err", errorText(o.resp.Err))
	}
	n.next = now.Add(min(probeFirst<<min(n.probes, 16), probeSeldom))
	n.probes++
}

// networkUp ends an outage, or the suspicion of one.
func (c *Crawler) networkUp() {
	n, now := &c.network, c.opt.Now()
	if n.down {
		n.down, n.cut = false, now
		n.downTime += now.Sub(n.since)
		c.opt.Log.Warn("own network is back", "seconds", now.Sub(n.since).Seconds())
	}
	n.answeredAt, n.faults = now, 0
	n.sites, n.nets, n.misses = nil, nil, nil
}

// recall makes a contact of a host that answered in an earlier session.
func (n *network) recall(h *host) {
	if len(n.good) >= goodKept || !h.lived() || h.Silent > 0 {
		return
	}
	scheme := "http://"
	if strings.HasSuffix(h.Name, ":443") {
		scheme = "https://"
	}
	if u, err := page.Normalize(scheme + h.Name + "/robots.txt"); err == nil {
		n.befriend(h, u)
	}
}

// outage returns since when our network is down, the zero time when it is not,
// and how long it was in all.
func (n *network) outage(now time.Time) (since time.Time, total time.Duration) {
	if !n.down {
		return time.Time{}, n.downTime
	}
	return n.since, n.downTime + now.Sub(n.since)
}
