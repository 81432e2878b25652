package cluster

import (
	"maps"
	"math"
	"slices"
	"time"

	"fossick/internal/wire"
)

const (
	mostSent       = 4
	mostSentAll    = 64                     // unacknowledged messages to all
	sendBytes      = mostMessageBytes / 2   // parcels of a message; a single parcel may exceed it
	parcelOverhead = 16                     // bytes of encoding for each parcel
	linger         = 200 * time.Millisecond // wait for more parcels to join a message
	mostBackoffs   = 4                      // doublings of the pause without an answer

	mostTaking   = 256 // uncommitted deliveries at the engine; more are sent again
	mostOfSender = 64  // of these, from one sender
)

// share is how many deliveries an engine takes from one of so many agents at a time, so that one
// busy sender leaves room for the others.
func (o Protocol) share(agents int) int {
	return max(1, min(o.ofSender, mostTaking/max(1, agents)))
}

// outgoing is the sender's side of links, go-back-N: without a timely acknowledgement it sends
// again from the first unacknowledged parcel.
type outgoing struct {
	streams map[partition]*outflow
	sent    int
	to      map[AgentID]int // of these, by receiver
	share   int             // the most to one receiver
	first   partition       // where to begin when not all partitions can send
	waiting bool            // some partitions could not send
}

// outflow is the state of the parcels to one partition.
type outflow struct {
	base    uint64 // an owner has committed all parcels up to it
	next    uint64 // last parcel sent
	top     uint64 // last parcel in the outbox
	sent    []uint64
	reading bool
	readFor AgentID       // owner when the read was requested
	due     time.Duration // when to send, or send again
	tries   int           // successive times without an answer
	owner   AgentID
	epoch   uint64
}

func newOutgoing(outbox map[partition]span, share int) outgoing {
	o := outgoing{streams: map[partition]*outflow{}, to: map[AgentID]int{}, share: share}
	for p, s := range outbox {
		o.streams[p] = &outflow{base: s.First - 1, next: s.First - 1, top: s.Last}
	}
	return o
}

// full reports whether no more messages may be under way to a receiver.
func (o *outgoing) full(to AgentID) bool { return o.sent >= mostSentAll || o.to[to] >= o.share }

// way adds n, which may be negative, to the messages under way to a receiver.
func (o *outgoing) way(to AgentID, n int) {
	o.sent += n
	if o.to[to] += n; o.to[to] == 0 {
		delete(o.to, to)
	}
}

// queued records that the outbox now ends with parcel number.
func (o *outgoing) queued(now time.Duration, p partition, number uint64) {
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

// route makes all messages due again whose partition has a new owner or epoch.
func (o *outgoing) route(now time.Duration, t *table) {
	for p, s := range o.streams {
		if e := t.entries[p]; e.owner != s.owner || e.epoch != s.epoch {
			o.back(s)
			s.owner, s.epoch = e.owner, e.epoch
			s.tries, s.due = 0, now
		}
	}
}

func (o *outgoing) back(s *outflow) {
	o.way(s.owner, -len(s.sent))
	s.sent, s.next = nil, s.base
}

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

func (n *node) sendDue(now time.Duration) {
	if n.out.due() > now {
		return
	}
	n.out.waiting = false
	parts := slices.Sorted(maps.Keys(n.out.streams))
	first, _ := slices.BinarySearch(parts, n.out.first)
	for _, p := range slices.Concat(parts[first:], parts[:first]) {
		s := n.out.streams[p]
		if s.base >= s.top || s.reading || now < s.due {
			continue
		}
		if len(s.sent) > 0 {
			n.out.back(s)
			s.tries = min(s.tries+1, mostBackoffs)
		}
		if s.owner, s.epoch = n.owned.owner(p); s.owner == "" {
			s.due = now + n.opt.Resend
			continue
		}
		n.read(now, p, s)
	}
}

// read requests the next parcels, if more may be under way.
func (n *node) read(now time.Duration, p partition, s *outflow) {
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
	s.reading, s.readFor, n.out.first = true, s.owner, p+1
	n.out.way(s.owner, 1)
	n.do(readOutbox{p, s.next, sendBytes})
}

func (n *node) sendParcels(now time.Duration, ev outgoingEvent) {
	s := n.out.streams[ev.partition]
	if s == nil || !s.reading {
		return
	}
	s.reading = false
	n.out.way(s.readFor, -1)
	if ev.after != s.next || len(ev.parcels) == 0 {
		s.due = min(s.due, now+n.opt.Resend) // trimmed or redirected meanwhile
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
	if n.opt.defect == trimOnSend {
		n.advance(now, ev.partition, s, s.next)
		return
	}
	n.read(now, ev.partition, s)
}

// acknowledged ignores former owners: the next owner may not know of their commits.
func (n *node) acknowledged(now time.Duration, m message) {
	s := n.out.streams[m.Partition]
	owner, epoch := n.owned.owner(m.Partition)
	if s == nil || n.opt.defect != noEpoch && (m.From != owner || m.Epoch != epoch) {
		return
	}
	if m.After > s.base && m.After <= s.top {
		n.advance(now, m.Partition, s, m.After)
	}
}

func (n *node) advance(now time.Duration, p partition, s *outflow, upto uint64) {
	s.base, s.next, s.tries = upto, max(s.next, upto), 0
	before := len(s.sent)
	s.sent = slices.DeleteFunc(s.sent, func(last uint64) bool { return last <= upto })
	n.out.way(s.owner, len(s.sent)-before)
	n.do(trimOutbox{p, upto})
	if n.out.waiting && s.next < s.top { // leave the room to waiting partitions
		if len(s.sent) == 0 {
			s.due = now
		}
		return
	}
	n.read(now, p, s)
}

// incoming is the receiver's side of links from other agents.
type incoming struct {
	streams map[stream]*inflow
	taking  int
	of      map[AgentID]int // of these, by sender
}

// inflow is the state of the parcels of one agent to one partition.
type inflow struct {
	cursor uint64 // all parcels up to it are committed
	handed uint64 // last parcel given to the engine
}

func newIncoming(cursors map[stream]uint64) incoming {
	in := incoming{streams: map[stream]*inflow{}, of: map[AgentID]int{}}
	for s, cursor := range cursors {
		in.streams[s] = &inflow{cursor, cursor}
	}
	return in
}

// begin resets deliveries that the engine may have dropped when it lost a partition.
func (in *incoming) begin(p partition) {
	for s, f := range in.streams {
		if s.Partition == p {
			f.handed = f.cursor
		}
	}
}

// receive gives new parcels to the engine, in order and once.
func (n *node) receive(now time.Duration, m message) {
	_, epoch := n.owned.owner(m.Partition)
	h, owned := n.owned.parts[m.Partition]
	// While a partition is being released, its last owner's state may still arrive.
	ours := owned && n.leased(now) && (!h.releasing || m.From != n.opt.ID)
	if n.opt.defect == noEpoch {
		ours, m.Epoch = true, epoch
	}
	switch {
	case m.Epoch > epoch:
		n.view.next = now // there is a newer table
		return
	case m.Epoch < epoch:
		n.answer(kindRefusal, m.From, m.Partition, epoch, n.owned.version())
		return
	case !ours:
		return
	}
	key := stream{m.From, m.Partition}
	f := n.in.streams[key]
	if f == nil {
		f = &inflow{}
		n.in.streams[key] = f
	}
	f.cursor = max(f.cursor, m.Base) // committed by an owner before
	f.handed = max(f.handed, f.cursor)
	fresh := m.Parcels
	for len(fresh) > 0 && fresh[0].Number <= f.handed {
		fresh = fresh[1:]
	}
	if m.After > f.handed || len(fresh) == 0 || n.in.taking >= mostTaking || n.in.of[m.From] >= n.opt.share(len(n.owned.members())) {
		n.acknowledge(now, m.From, m.Partition, epoch, f.cursor)
		return
	}
	d := delivery{From: m.From, Partition: m.Partition, Epoch: epoch, Last: fresh[len(fresh)-1].Number, Parcels: fresh}
	f.handed = d.Last
	n.in.taking++
	n.in.of[m.From]++
	n.do(takeParcels{d})
	if n.opt.defect == ackOnReceipt {
		n.acknowledge(now, m.From, m.Partition, epoch, d.Last)
	}
}

func (n *node) answer(kind uint64, to AgentID, p partition, epoch, number uint64) {
	n.do(sendMessage{to, wire.Encode(message{Version: wireVersion, Kind: kind, From: n.opt.ID, Partition: p, Epoch: epoch, After: number})})
}

// acknowledge tells the sender what is committed, if the next owner is sure to continue from it:
// the agent still owns the partition, and others know that it has the earlier state.
func (n *node) acknowledge(now time.Duration, to AgentID, p partition, epoch, cursor uint64) {
	h, owned := n.owned.parts[p]
	sure := owned && h.epoch == epoch && n.leased(now) && n.lease.acked >= epoch
	if cursor > 0 && (sure || n.opt.defect == noEpoch) {
		n.answer(kindAck, to, p, epoch, cursor)
	}
}

func (n *node) taken(now time.Duration, ev takenEvent) {
	d := ev.delivery
	n.in.taking--
	if n.in.of[d.From]--; n.in.of[d.From] == 0 {
		delete(n.in.of, d.From)
	}
	f := n.in.streams[stream{d.From, d.Partition}]
	if f == nil {
		return
	}
	if !ev.ok {
		f.handed = f.cursor
		return
	}
	f.cursor = max(f.cursor, d.Last)
	f.handed = max(f.handed, f.cursor)
	n.acknowledge(now, d.From, d.Partition, d.Epoch, f.cursor)
}
