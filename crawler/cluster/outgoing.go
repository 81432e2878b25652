package cluster

import (
	"maps"
	"math"
	"slices"
	"time"

	"fossick/internal/wire"
)

// Bounds of what is on its way.
const (
	mostSent       = 4                      // messages to a partition that are not acknowledged
	mostSentAll    = 64                     // to all
	sendBytes      = mostMessageBytes / 2   // of a message's parcels; one of them may exceed it
	parcelOverhead = 16                     // bytes of a message
	linger         = 200 * time.Millisecond // for more to come that go in the same message
	mostBackoffs   = 4                      // doublings of the pause while nobody answers
)

// outgoing is the sender's side of the links across, go-back-N: what is not acknowledged in time
// is sent again from the first that is not.
type outgoing struct {
	streams map[Partition]*outflow
	sent    int             // messages not acknowledged, or about to be sent
	to      map[AgentID]int // of them, by receiver
	share   int             // most of them to one receiver
	turn    Partition       // first of those that may send, when not all can
	waiting bool            // some could not
}

// outflow is parcels to a partition.
type outflow struct {
	base    uint64 // committed by an owner, and all before
	next    uint64 // sent
	top     uint64 // in the outbox
	sent    []uint64
	reading bool
	readFor AgentID       // the owner then
	due     time.Duration // when to send, or to send again
	tries   int           // without an answer
	owner   AgentID
	epoch   uint64
}

func newOutgoing(outbox map[Partition]Span, share int) outgoing {
	o := outgoing{streams: map[Partition]*outflow{}, to: map[AgentID]int{}, share: share}
	for p, s := range outbox {
		o.streams[p] = &outflow{base: s.First - 1, next: s.First - 1, top: s.Last}
	}
	return o
}

// full says whether no more may be on its way to a receiver.
func (o *outgoing) full(to AgentID) bool { return o.sent >= mostSentAll || o.to[to] >= o.share }

// way counts messages that are on their way to a receiver, or are no more.
func (o *outgoing) way(to AgentID, n int) {
	o.sent += n
	if o.to[to] += n; o.to[to] == 0 {
		delete(o.to, to)
	}
}

// queued takes in that the outbox reaches further.
func (o *outgoing) queued(now time.Duration, p Partition, number uint64) {
	s := o.streams[p]
	if s == nil {
		s = &outflow{}
		o.streams[p] = s
	}
	if s.next >= s.top {
		s.due = now + linger
	}
	s.top = max(s.top, number)
}

// route sends again at once what was on its way to an owner that is none any more.
func (o *outgoing) route(now time.Duration, t *table) {
	for p, s := range o.streams {
		if e := t.entries[p]; e.owner != s.owner || e.epoch != s.epoch {
			o.back(s)
			s.owner, s.epoch = e.owner, e.epoch
			s.tries, s.due = 0, now
		}
	}
}

// back forgets what was sent and not acknowledged.
func (o *outgoing) back(s *outflow) {
	o.way(s.owner, -len(s.sent))
	s.sent, s.next = nil, s.base
}

// due returns when something is to be sent.
func (o *outgoing) due() time.Duration {
	due := time.Duration(math.MaxInt64)
	for _, s := range o.streams {
		waits := len(s.sent) == 0 && o.full(s.owner) // for an acknowledgement
		if s.base < s.top && !s.reading && !waits {
			due = min(due, s.due)
		}
	}
	return due
}

// sendDue reads from the outbox what is to be sent now.
func (n *node) sendDue(now time.Duration) {
	if n.out.due() > now {
		return
	}
	n.out.waiting = false
	parts := slices.Sorted(maps.Keys(n.out.streams))
	first, _ := slices.BinarySearch(parts, n.out.turn)
	for _, p := range slices.Concat(parts[first:], parts[:first]) {
		s := n.out.streams[p]
		if s.base >= s.top || s.reading || now < s.due {
			continue
		}
		if len(s.sent) > 0 {
			n.out.back(s)
			s.tries = min(s.tries+1, mostBackoffs)
		}
		if s.owner, s.epoch = n.hand.owner(p); s.owner == "" {
			s.due = now + n.opt.Resend
			continue
		}
		n.read(now, p, s)
	}
}

// read asks for the next parcels, if there is room on the way.
func (n *node) read(now time.Duration, p Partition, s *outflow) {
	s.due = now + n.opt.Resend<<s.tries
	if s.next >= s.top || s.reading || len(s.sent) >= mostSent {
		return
	}
	if n.out.full(s.owner) {
		if n.out.waiting = true; len(s.sent) == 0 {
			s.due = now
		}
		return
	}
	s.reading, s.readFor, n.out.turn = true, s.owner, p+1
	n.out.way(s.owner, 1)
	n.do(readOutbox{p, s.next, sendBytes})
}

// sendParcels sends what was read.
func (n *node) sendParcels(now time.Duration, ev outgoingEvent) {
	s := n.out.streams[ev.partition]
	if s == nil || !s.reading {
		return
	}
	s.reading = false
	n.out.way(s.readFor, -1)
	if ev.after != s.next || len(ev.parcels) == 0 {
		s.due = min(s.due, now+n.opt.Resend) // trimmed, or sent to another, meanwhile
		return
	}
	size := 0
	for i, parcel := range ev.parcels {
		if size += len(parcel.Bytes) + parcelOverhead; i > 0 && size > sendBytes {
			ev.parcels = ev.parcels[:i]
			break
		}
	}
	m := message{
		Version: wireVersion, Kind: kindLinks, From: n.opt.ID, Partition: ev.partition, Epoch: s.epoch,
		Base: s.base, After: s.next, Parcels: ev.parcels,
	}
	s.next = ev.parcels[len(ev.parcels)-1].Number
	s.sent = append(s.sent, s.next)
	n.out.way(s.owner, 1)
	n.do(sendMessage{s.owner, wire.Encode(m)})
	if n.opt.plant == trimOnSend {
		n.advance(now, ev.partition, s, s.next)
		return
	}
	n.read(now, ev.partition, s)
}

// acknowledged takes in that the owner has committed parcels. Who is not the owner any more may
// have committed them too late for the next one to know.
func (n *node) acknowledged(now time.Duration, m message) {
	s := n.out.streams[m.Partition]
	owner, epoch := n.hand.owner(m.Partition)
	if s == nil || n.opt.plant != noEpoch && (m.From != owner || m.Epoch != epoch) {
		return
	}
	if m.After > s.base && m.After <= s.top {
		n.advance(now, m.Partition, s, m.After)
	}
}

// advance trims the outbox, and goes on.
func (n *node) advance(now time.Duration, p Partition, s *outflow, upto uint64) {
	s.base, s.next, s.tries = upto, max(s.next, upto), 0
	before := len(s.sent)
	s.sent = slices.DeleteFunc(s.sent, func(last uint64) bool { return last <= upto })
	n.out.way(s.owner, len(s.sent)-before)
	n.do(trimOutbox{p, upto})
	if n.out.waiting && s.next < s.top { // others, for this place
		if len(s.sent) == 0 {
			s.due = now
		}
		return
	}
	n.read(now, p, s)
}
