package crawler

import (
	"net/netip"
	"time"

	"fossick/frontier"
)

// A newcomer is a host that has answered nothing yet, or answers no more. Anybody can have
// as many as there are names, so all of them together never take the last places among the
// workers: those that answer go on. An IPv6 net of 64 bits, which is what one customer gets, counts as
// one address until its hosts have answered: one exchange at a time.

const (
	// newcomerShare is the share of the workers that newcomers leave free: one in so many.
	newcomerShare = 4
	// siteBits is the length of the IPv6 nets that customers get (RFC 6177).
	siteBits = 64
	// newcomersWaiting is how many wait for the next places, for each worker.
	newcomersWaiting = 4
	// putOffFor is how long a newcomer is left aside that finds no place to wait in.
	putOffFor = 2 * time.Second
	// maxPutOff bounds how many are put off before the owner does something else.
	maxPutOff = 64
)

// newcomers is what the owner knows of their exchanges.
type newcomers struct {
	places int                  // among the workers
	taken  int                  // of these
	nets   map[netip.Prefix]int // exchanges, those beside the workers included
	waits  []waitingNewcomer    // leased, for the next places, the first first
	putOff int                  // since the owner looked for work
}

type waitingNewcomer struct {
	item frontier.Item
	job  *job
}

func newNewcomers(workers int) newcomers {
	return newcomers{places: workers - workers/newcomerShare, nets: map[netip.Prefix]int{}}
}

// siteOf returns the net that counts as one address with a host's own; none for IPv4, where
// those at one address are one party, and where a proxy knows the address.
func siteOf(h *host) netip.Prefix {
	addr := h.address()
	if !addr.Is6() {
		return netip.Prefix{}
	}
	net, err := addr.WithZone("").Prefix(siteBits)
	if err != nil {
		return netip.Prefix{}
	}
	return net
}

func (h *host) newcomer() bool { return !h.lived() || h.Silent > 0 }

// admits says whether an exchange with h may begin.
func (n *newcomers) admits(h *host) bool {
	return !h.newcomer() || n.taken < n.places && n.nets[siteOf(h)] == 0
}

// begin counts a job, if it is with a newcomer.
func (n *newcomers) begin(j *job) {
	if j.task == taskAddress || !j.host.newcomer() {
		return
	}
	j.newcomer = true
	n.taken++
	if j.site = siteOf(j.host); j.site.IsValid() {
		n.nets[j.site]++
	}
}

// aside takes note that a job goes on beside the workers.
func (n *newcomers) aside(j *job) {
	if j.newcomer {
		j.newcomer = false
		n.taken--
	}
}

// end takes back what begin counted.
func (n *newcomers) end(j *job) {
	n.aside(j)
	if !j.site.IsValid() {
		return
	}
	if n.nets[j.site]--; n.nets[j.site] == 0 {
		delete(n.nets, j.site)
	}
	j.site = netip.Prefix{}
}

// nextItem returns the URL to be looked at next: of a newcomer for which there is a place
// now, else the best of the queue.
func (c *Crawler) nextItem() (frontier.Item, bool) {
	n := &c.newcomers
	if len(n.waits) > 0 && n.taken < n.places {
		w := n.waits[0]
		n.waits = n.waits[1:]
		w.job.hold(-1)
		return w.item, true
	}
	return c.frontier.Next(c.opt.Now())
}

// await has a newcomer wait that is not admitted. It is leased until there is a place; but
// where too many wait, or its net is busy, for which nobody knows how long, it is asked
// for a little later.
func (c *Crawler) await(it frontier.Item, j *job) {
	n := &c.newcomers
	if len(n.waits) < newcomersWaiting*c.opt.Workers && n.nets[siteOf(j.host)] == 0 {
		n.waits = append(n.waits, waitingNewcomer{it, j})
		j.hold(1)
		return
	}
	n.putOff++
	c.requeue(j)
	c.frontier.Rest(j.host.party, c.opt.Now().Add(putOffFor))
	c.frontier.Done(j.host.party, time.Time{})
}

// sendHome puts back into the queue what still waits at the end.
func (c *Crawler) sendHome() {
	for _, w := range c.newcomers.waits {
		c.requeue(w.job)
		c.frontier.Done(w.job.host.party, time.Time{})
		w.job.hold(-1)
	}
	c.newcomers.waits = nil
}
