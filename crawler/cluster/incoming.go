package cluster

import (
	"time"

	"fossick/internal/wire"
)

// mostTaking bounds the deliveries that an engine has and has not committed; what comes
// beyond is sent again.
const mostTaking = 256

// mostOfSender bounds them for one sender where there are few.
const mostOfSender = 64

// share is how many deliveries of one of so many agents an engine takes at a time: one that
// sends without end leaves room for the others. A sender has no more than that on their way.
func (o Options) share(agents int) int {
	return max(1, min(o.ofSender, mostTaking/max(1, agents)))
}

// incoming is the receiver's side of the links across.
type incoming struct {
	streams map[Stream]*inflow
	taking  int             // deliveries that the engine has
	of      map[AgentID]int // of them, by sender
}

// inflow is parcels of one agent to one partition.
type inflow struct {
	cursor uint64 // committed, and all before
	handed uint64 // given to the engine
}

func newIncoming(cursors map[Stream]uint64) incoming {
	in := incoming{streams: map[Stream]*inflow{}, of: map[AgentID]int{}}
	for s, cursor := range cursors {
		in.streams[s] = &inflow{cursor, cursor}
	}
	return in
}

// begin forgets what the engine may have dropped when a partition went.
func (in *incoming) begin(p Partition) {
	for s, f := range in.streams {
		if s.Partition == p {
			f.handed = f.cursor
		}
	}
}

// receive takes in parcels: those that follow what it has, once.
func (n *node) receive(now time.Duration, m message) {
	version := n.hand.version()
	_, epoch := n.hand.owner(m.Partition)
	h, held := n.hand.held[m.Partition]
	// What the last owner knows may come while the partition is let go: that waits for it.
	ours := held && n.leased(now) && (!h.releasing || m.From != n.opt.ID)
	if n.opt.plant == noEpoch {
		ours, m.Epoch = true, epoch
	}
	switch {
	case m.Epoch > epoch:
		n.sight.next = now // there is a newer table
		return
	case m.Epoch < epoch:
		n.do(sendMessage{m.From, wire.Encode(message{
			Version: wireVersion, Kind: kindRefusal, From: n.opt.ID, Partition: m.Partition, Epoch: epoch, After: version,
		})})
		return
	case !ours:
		return
	}
	key := Stream{m.From, m.Partition}
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
	if m.After > f.handed || len(fresh) == 0 || n.in.taking >= mostTaking || n.in.of[m.From] >= n.opt.share(len(n.hand.members())) {
		n.acknowledge(now, m.From, m.Partition, epoch, f.cursor)
		return
	}
	d := Delivery{From: m.From, Partition: m.Partition, Epoch: epoch, Last: fresh[len(fresh)-1].Number, Parcels: fresh}
	f.handed = d.Last
	n.in.taking++
	n.in.of[m.From]++
	n.do(takeParcels{d})
	if n.opt.plant == ackOnReceipt {
		n.acknowledge(now, m.From, m.Partition, epoch, d.Last)
	}
}

// acknowledge says what is committed, if the next owner is bound to go on from a state that has
// it: the agent still owns the partition, and others know that it has the state before.
func (n *node) acknowledge(now time.Duration, to AgentID, p Partition, epoch, cursor uint64) {
	h, held := n.hand.held[p]
	sure := held && h.epoch == epoch && n.leased(now) && n.lease.heard >= epoch
	if cursor == 0 || n.opt.plant != noEpoch && !sure {
		return
	}
	n.do(sendMessage{to, wire.Encode(message{
		Version: wireVersion, Kind: kindAck, From: n.opt.ID, Partition: p, Epoch: epoch, After: cursor,
	})})
}

// taken takes in that the engine has committed a delivery.
func (n *node) taken(now time.Duration, ev takenEvent) {
	d := ev.delivery
	n.in.taking--
	if n.in.of[d.From]--; n.in.of[d.From] == 0 {
		delete(n.in.of, d.From)
	}
	f := n.in.streams[Stream{d.From, d.Partition}]
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
